//! The `edit` tool: the path, how many lines came and went, and the diff.
//!
//! Signs carry the meaning; colours repeat it.

use super::{Card, error_body, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::view_state::item::Call;
use crate::tui::wrap::{self, Indent, Row};

/// Hunks of the diff.
const HUNKS: usize = 8;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let summary = sanitize::one_line(call.argument("path").unwrap_or_default()).into_owned();
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let mut facts = Vec::new();
    if let (Some(added), Some(removed)) = (call.number("added"), call.number("removed")) {
        facts.push(format!("+{added} {}{removed}", look.theme.symbols.minus));
    }
    let diff = call.detail("diff").and_then(|v| v.as_str()).unwrap_or_default();
    Card { summary, facts, body: diff_rows(diff, look) }
}

/// A line of a hunk: its number in the file, its sign, its text.
struct DiffLine<'a> {
    number: u64,
    sign: char,
    text: &'a str,
}

fn diff_rows(diff: &str, look: &Look<'_>) -> Vec<Row> {
    let hunks = hunks(diff);
    let limit = if look.is_expanded() { usize::MAX } else { HUNKS };
    let largest = hunks.iter().flatten().map(|line| line.number).max().unwrap_or(0);
    let digits = largest.to_string().len();
    let mut rows = Vec::new();
    for (i, hunk) in hunks.iter().take(limit).enumerate() {
        if i > 0 {
            rows.push(text::line_row(look.theme.symbols.gap, Role::Dim, look));
        }
        rows.extend(hunk.iter().flat_map(|line| line_rows(line, digits, look)));
    }
    if hunks.len() > limit {
        rows.push(text::hidden_row(hunks.len() - limit, "more hunk", look));
    }
    rows
}

fn line_rows(line: &DiffLine<'_>, digits: usize, look: &Look<'_>) -> Vec<Row> {
    let role = match line.sign {
        '+' => Role::DiffAdd,
        '-' => Role::DiffRemove,
        _ => Role::Muted,
    };
    let before = format!("  {:>width$} {} ", line.number, line.sign, width = digits + 2);
    let indent = Indent::mark(before, look.style(role));
    // Three columns a tab: code keeps its shape beside the signs.
    let code = line.text.replace('\t', "   ");
    wrap::wrap_text(&sanitize::text(&code), look.style(role), look.inner_columns(), &indent)
}

/// The hunks of a unified diff. Removed lines have their old number, all others their new one.
fn hunks(diff: &str) -> Vec<Vec<DiffLine<'_>>> {
    let mut hunks: Vec<Vec<DiffLine<'_>>> = Vec::new();
    let (mut old, mut new) = (1, 1);
    for line in diff.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            (old, new) = starts(header).unwrap_or((old, new));
            hunks.push(Vec::new());
            continue;
        }
        // Before the first hunk stand the names of the files.
        let Some(hunk) = hunks.last_mut() else { continue };
        let (sign, text) = match line.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) => (sign, &line[1..]),
            None => (' ', line),
            // `\ No newline at end of file`.
            Some(_) => continue,
        };
        let number = if sign == '-' { old } else { new };
        old += u64::from(sign != '+');
        new += u64::from(sign != '-');
        hunk.push(DiffLine { number, sign, text });
    }
    hunks
}

/// The first line numbers of a hunk, from `-1,4 +1,5 @@`.
fn starts(header: &str) -> Option<(u64, u64)> {
    let mut words = header.split_whitespace();
    let mut number = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        word.split(',').next()?.parse().ok()
    };
    Some((number('-')?, number('+')?))
}
