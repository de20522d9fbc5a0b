//! The `write` tool: the path, and the start of what was written.

use super::{Card, error_body, lines, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::view_state::item::Call;

/// Lines of the file.
const HEAD_ROWS: usize = 6;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let summary = sanitize::one_line(call.argument("path").unwrap_or_default()).into_owned();
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let content = call.argument("content").unwrap_or_default();
    let mut facts = vec![lines(content)];
    match call.detail("created").and_then(serde_json::Value::as_bool) {
        Some(true) => facts.push("new".into()),
        Some(false) => facts.push("overwritten".into()),
        None => {}
    }
    Card { summary, facts, body: text::head(content, HEAD_ROWS, look) }
}
