//! A tool that nothing is known of: its arguments as JSON, and the start of what it answered.

use super::{Card, error_body, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::view_state::item::{Call, Phase};
use crate::tui::width;

/// Columns of the arguments on the header row.
const ARGUMENT_COLUMNS: usize = 120;

/// Lines of the answer.
const HEAD_ROWS: usize = 3;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    // Half an object says nothing; it is shown when it is whole.
    let summary = if call.phase == Phase::Arriving {
        String::new()
    } else {
        let arguments = call.arguments.compact();
        width::fit(&sanitize::one_line(&arguments), ARGUMENT_COLUMNS).into_owned()
    };
    let mut body = Vec::new();
    if look.is_expanded()
        && let Ok(pretty) = serde_json::to_string_pretty(call.arguments.value())
    {
        body.extend(text::wrapped(&pretty, Role::Dim, look));
    }
    body.extend(if call.is_error() {
        error_body(call, look)
    } else {
        text::head(&call.text(), HEAD_ROWS, look)
    });
    Card { summary, facts: Vec::new(), body }
}
