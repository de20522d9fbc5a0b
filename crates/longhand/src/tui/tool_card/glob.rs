//! The `glob` and `ls` tools: a pattern or folder, and the start of the list.

use super::{Card, error_body, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::tokens;
use crate::tui::view_state::item::{Call, Phase};

/// Names of the list.
const HEAD_ROWS: usize = 8;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let path = call.argument("path").unwrap_or(".");
    let summary = sanitize::one_line(path).into_owned();
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let list = call.text();
    let count = call.number("count").unwrap_or_else(|| list.lines().count() as u64);
    let facts = match call.phase {
        Phase::Done => vec![found(count)],
        _ => Vec::new(),
    };
    Card { summary, facts, body: text::head(&list, HEAD_ROWS, look) }
}

fn found(count: u64) -> String {
    if count == 1 { "1 entry".into() } else { format!("{} entries", tokens::grouped(count)) }
}
