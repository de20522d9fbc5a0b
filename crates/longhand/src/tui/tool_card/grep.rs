//! The `grep` tool: a pattern, and the files in which it was found.

use super::{Card, error_body, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::tokens;
use crate::tui::view_state::item::Call;

/// Files of the list.
const FILES: usize = 8;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let mut summary = sanitize::one_line(call.argument("pattern").unwrap_or_default()).into_owned();
    if let Some(path) = call.argument("path") {
        summary = format!("{summary} in {}", sanitize::one_line(path));
    }
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let found = call.text();
    let mut facts = Vec::new();
    if let Some(matches) = call.number("matches") {
        facts.push(if matches == 1 {
            "1 match".into()
        } else {
            format!("{} matches", tokens::grouped(matches))
        });
    }
    if let Some(files) = call.number("files") {
        facts.push(tokens::counted(files, "file"));
    }
    if look.is_expanded() {
        return Card { summary, facts, body: text::wrapped(&found, Role::Muted, look) };
    }
    let files = files(&found);
    if files.is_empty() {
        return Card { summary, facts, body: text::head(&found, FILES, look) };
    }
    let mut body: Vec<_> =
        files.iter().take(FILES).map(|file| text::line_row(file, Role::Muted, look)).collect();
    if files.len() > FILES {
        body.push(text::hidden_row(files.len() - FILES, "more file", look));
    }
    Card { summary, facts, body }
}

/// The files of a result that is grouped as `# folder/`, `## file`, `*line:match`, each with its number of matches.
fn files(found: &str) -> Vec<String> {
    let mut files: Vec<(String, usize)> = Vec::new();
    let mut folder = "";
    for line in found.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            files.push((format!("{folder}{name}"), 0));
        } else if let Some(name) = line.strip_prefix("# ") {
            folder = name;
        } else if line.starts_with('*')
            && let Some((_, matches)) = files.last_mut()
        {
            *matches += 1;
        }
    }
    let described = |(name, matches): (String, usize)| match matches {
        0 => sanitize::one_line(&name).into_owned(),
        _ => format!("{} ({matches})", sanitize::one_line(&name)),
    };
    files.into_iter().map(described).collect()
}
