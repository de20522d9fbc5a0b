//! The `todo` tool: the list, with what is done.

use super::{Card, error_body, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::view_state::item::Call;
use crate::tui::wrap::Row;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let summary = call.argument("op").unwrap_or_default().to_owned();
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let mut body = Vec::new();
    let (mut done, mut all) = (0, 0);
    let phases = call.detail("phases").and_then(|v| v.as_array());
    for phase in phases.into_iter().flatten() {
        if let Some(name) = phase.get("name").and_then(|v| v.as_str()) {
            body.push(text::line_row(&sanitize::one_line(name), Role::Muted, look));
        }
        let tasks = phase.get("tasks").and_then(|v| v.as_array());
        for task in tasks.into_iter().flatten() {
            let status = task.get("status").and_then(|v| v.as_str()).unwrap_or("pending");
            let content = task.get("content").and_then(|v| v.as_str()).unwrap_or_default();
            all += 1;
            done += usize::from(status == "completed");
            body.push(task_row(status, content, look));
        }
    }
    if body.is_empty() {
        body = text::head(&call.text(), usize::MAX, look);
        return Card { summary, facts: Vec::new(), body };
    }
    Card { summary, facts: vec![format!("{done}/{all}")], body }
}

fn task_row(status: &str, content: &str, look: &Look<'_>) -> Row {
    let symbols = &look.theme.symbols;
    let (sign, role) = match status {
        "completed" => (symbols.tasks[1], Role::Success),
        "in_progress" => (symbols.chosen, Role::Accent),
        "blocked" => (symbols.warning, Role::Warning),
        "abandoned" => (symbols.failure, Role::Dim),
        _ => (symbols.tasks[0], Role::Text),
    };
    text::line_row(&format!("{sign} {}", sanitize::one_line(content)), role, look)
}
