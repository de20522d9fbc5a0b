//! Text in the body of a card: its start, its end, or all of it. What is left out is always counted.

use super::{BODY_INDENT, body_indent};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::tokens;
use crate::tui::wrap::{self, Row};

/// The first `limit` lines, or all of them when the card is expanded.
pub(super) fn head(text: &str, limit: usize, look: &Look<'_>) -> Vec<Row> {
    if look.is_expanded() {
        return wrapped(text, Role::Muted, look);
    }
    let lines = lines_of(text);
    let mut rows: Vec<Row> = lines.iter().take(limit).map(|line| cut_line(line, look)).collect();
    if let Some(hidden) = lines.len().checked_sub(limit).filter(|hidden| *hidden > 0) {
        rows.push(hidden_row(hidden, "more line", look));
    }
    rows
}

/// The last `limit` lines, or all of them when the card is expanded.
pub(super) fn tail(text: &str, limit: usize, look: &Look<'_>) -> Vec<Row> {
    if look.is_expanded() {
        return wrapped(text, Role::Muted, look);
    }
    let lines = lines_of(text);
    let hidden = lines.len().saturating_sub(limit);
    let mut rows = Vec::new();
    if hidden > 0 {
        rows.push(hidden_row(hidden, "earlier line", look));
    }
    rows.extend(lines.iter().skip(hidden).map(|line| cut_line(line, look)));
    rows
}

/// All of it, long lines wrapped.
pub(super) fn wrapped(text: &str, role: Role, look: &Look<'_>) -> Vec<Row> {
    let style = look.style(role);
    let lines = lines_of(text);
    let wrap_line = |line: &&str| {
        wrap::wrap_text(&sanitize::text(line), style, look.inner_columns(), &body_indent())
    };
    lines.iter().flat_map(wrap_line).collect()
}

/// `… 56 earlier lines · ctrl+o`.
pub(super) fn hidden_row(hidden: usize, noun: &str, look: &Look<'_>) -> Row {
    let dot = look.theme.symbols.dot;
    let said = tokens::counted(hidden as u64, noun);
    line_row(&format!("… {said} {dot} ctrl+o"), Role::Dim, look)
}

/// One line, cut at the right edge.
pub(super) fn line_row(line: &str, role: Role, look: &Look<'_>) -> Row {
    let before = look.piece(" ".repeat(BODY_INDENT - 1), Role::Text);
    wrap::fit(vec![before, look.piece(line, role)], look.inner_columns())
}

fn cut_line(line: &str, look: &Look<'_>) -> Row {
    line_row(&sanitize::text(line), Role::Muted, look)
}

/// The lines, without empty ones at the end.
fn lines_of(text: &str) -> Vec<&str> {
    let text = text.trim_end();
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}
