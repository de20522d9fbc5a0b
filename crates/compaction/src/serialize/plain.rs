//! Labels in brackets.

use longhand_session::message::ToolCall;

use super::Turn;

pub(super) fn write(turns: &[Turn<'_>]) -> String {
    let mut segments = Vec::new();
    for turn in turns {
        match turn {
            Turn::User(text) if text.is_empty() => {}
            Turn::User(text) => segments.push(format!("[User]: {text}")),
            Turn::Developer(text) if text.is_empty() => {}
            Turn::Developer(text) => segments.push(format!("[Context]: {text}")),
            Turn::Assistant(said) => {
                segments.extend(said.thinking.iter().map(|text| format!("[Think]: {text}")));
                segments.extend(
                    said.texts.iter().map(|texts| format!("[Assistant]: {}", texts.join("\n"))),
                );
                if !said.calls.is_empty() {
                    let calls: Vec<String> = said.calls.iter().copied().map(call).collect();
                    segments.push(format!("[Tool Call]: {}", calls.join("; ")));
                }
            }
            Turn::Results(run) => {
                segments.extend(run.iter().map(|result| format!("[Tool Result]: {}", result.text)));
            }
        }
    }
    segments.join("\n\n")
}

/// `name(key=value, …)` with values as compact JSON.
fn call(call: &ToolCall) -> String {
    let arguments = call.arguments.value().as_object().into_iter().flatten();
    let arguments: Vec<String> = arguments.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{}({})", call.name, arguments.join(", "))
}
