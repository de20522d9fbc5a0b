//! The `bash` tool: the command, how it ended, and the end of its output.

use std::time::Duration;

use super::{Card, lines, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::tokens;
use crate::tui::view_state::item::{Call, Phase};

/// Lines of output once the command has ended.
pub(super) const TAIL_ROWS: usize = 4;

/// Lines of output while it runs.
const RUNNING_ROWS: usize = 10;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let command = call.argument("command").unwrap_or_default();
    let mut facts = Vec::new();
    match call.number("exitCode") {
        _ if call.detail("timedOut").is_some_and(|v| v == true) => facts.push("timed out".into()),
        Some(code) => facts.push(format!("exit {code}")),
        None => {}
    }
    if let Some(millis) = call.number("wallMs") {
        facts.push(tokens::seconds(Duration::from_millis(millis)));
    }
    let output = call.text();
    let output = without_verdict(&output);
    match call.number("lines") {
        Some(count) => facts.push(tokens::counted(count, "line")),
        None if output.is_empty() => {}
        None => facts.push(lines(output)),
    }
    let limit = if call.phase == Phase::Running { RUNNING_ROWS } else { TAIL_ROWS };
    Card { summary: summary(command), facts, body: text::tail(output, limit, look) }
}

/// The first line of the command, and how many there are.
fn summary(command: &str) -> String {
    let mut rest = command.trim().lines();
    let first = sanitize::one_line(rest.next().unwrap_or_default()).into_owned();
    match rest.count() {
        0 => first,
        more => format!("{first} (+{})", tokens::counted(more as u64, "line")),
    }
}

/// The output without the lines that tell the model how the command ended: the header says it.
fn without_verdict(output: &str) -> &str {
    let mut output = output.trim_end();
    loop {
        let start = output.rfind('\n').map_or(0, |at| at + 1);
        let last = &output[start..];
        let is_verdict = ["Wall time: ", "Command exited with code ", "Command timed out after "]
            .iter()
            .any(|verdict| last.starts_with(verdict));
        if !is_verdict {
            return output;
        }
        output = output[..start].trim_end();
    }
}
