//! Reasoning taken out of archive text, for models that must not see it again.

use crate::LINE_END;
use crate::serialize::{SCOPES, Scope};

/// Archive text without its reasoning: every section of it, with all lines up to the next section.
pub fn strip(archive_text: &str) -> String {
    let mut is_reasoning = false;
    let mut kept = Vec::new();
    for segment in archive_text.split(LINE_END) {
        let pieces: Vec<&str> = sections(segment)
            .into_iter()
            .filter(|piece| {
                if let Some(scope) = scope_of(piece) {
                    is_reasoning = scope == Scope::Think;
                }
                !is_reasoning
            })
            .collect();
        let segment = pieces.join("\n\n");
        if !segment.is_empty() {
            kept.push(segment);
        }
    }
    kept.join(&LINE_END.to_string())
}

/// Parts of a text that has line ends of its own: a blank line before a scope marker parts them.
fn sections(text: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut start = 0;
    for (at, blank) in text.match_indices("\n\n") {
        let after = at + blank.len();
        if at >= start && scope_of(&text[after..]).is_some() {
            sections.push(&text[start..at]);
            start = after;
        }
    }
    sections.push(&text[start..]);
    sections
}

fn scope_of(text: &str) -> Option<Scope> {
    SCOPES.into_iter().find(|scope| text.starts_with(scope.marker()))
}
