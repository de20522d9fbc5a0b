//! Tags around calls and results, after the two labels `Human:` and `Assistant:`.

use std::borrow::Cow;
use std::fmt::Write;

use longhand_session::message::ToolCall;

use super::Turn;
use super::turn::{Assistant, ResultText};

/// Which tags stand around calls and results.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tags {
    Generic,
    Claude,
}

pub(super) fn write(turns: &[Turn<'_>], tags: Tags) -> String {
    let mut out = String::new();
    for turn in turns {
        match turn {
            Turn::User(text) => {
                out.push_str("\n\nHuman: ");
                out.push_str(text);
            }
            Turn::Developer(text) => {
                if !out.is_empty() {
                    out.push_str("\n\n");
                }
                out.push_str(text);
            }
            Turn::Assistant(said) => write_assistant(&mut out, said, tags),
            Turn::Results(run) => {
                out.push_str("\n\nHuman: ");
                out.push_str(&results(run, tags));
            }
        }
    }
    out
}

fn write_assistant(out: &mut String, said: &Assistant<'_>, tags: Tags) {
    out.push_str("\n\nAssistant: ");
    if let Some(thinking) = &said.thinking {
        let _ = write!(out, "<thinking>\n{}\n</thinking>", unwrapped(thinking));
    }
    said.texts.iter().flatten().for_each(|text| out.push_str(text));
    if said.calls.is_empty() {
        return;
    }
    let calls: Vec<String> = said.calls.iter().copied().map(call).collect();
    let calls = calls.join("\n");
    match tags {
        Tags::Generic => out.push_str(&calls),
        Tags::Claude => {
            let _ = write!(out, "<function_calls>\n{calls}\n</function_calls>");
        }
    }
}

/// Reasoning without the tags that some models write around it themselves.
fn unwrapped(thinking: &str) -> Cow<'_, str> {
    let trimmed = thinking.trim();
    if !(trimmed.starts_with("<thinking>") && trimmed.ends_with("</thinking>")) {
        return Cow::Borrowed(thinking);
    }
    let pieces = trimmed.split("<thinking>").flat_map(|part| part.split("</thinking>"));
    let pieces: Vec<&str> = pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect();
    Cow::Owned(pieces.join("\n"))
}

fn call(call: &ToolCall) -> String {
    let mut out = format!("<invoke name=\"{}\">", escaped(&call.name));
    for (key, value) in call.arguments.value().as_object().into_iter().flatten() {
        let _ = write!(out, "<parameter name=\"{}\">{value}</parameter>", escaped(key));
    }
    out.push_str("</invoke>");
    out
}

fn results(run: &[ResultText<'_>], tags: Tags) -> String {
    let lines: Vec<String> = run
        .iter()
        .map(|result| match tags {
            Tags::Generic => format!("<tool_response>\n{}\n</tool_response>", result.text),
            Tags::Claude => claude_result(result),
        })
        .collect();
    let lines = lines.join("\n");
    match tags {
        Tags::Generic => lines,
        Tags::Claude => format!("<function_results>\n{lines}\n</function_results>"),
    }
}

fn claude_result(result: &ResultText<'_>) -> String {
    let (outer, inner) = if result.is_error { ("error", "stderr") } else { ("result", "stdout") };
    let name = escaped(result.tool_name);
    format!(
        "<{outer}>\n<tool_name>{name}</tool_name>\n<{inner}>{}</{inner}>\n</{outer}>",
        result.text
    )
}

/// A name for an attribute or a tag. Bodies stay verbatim: a model reads code better as it is.
fn escaped(name: &str) -> Cow<'_, str> {
    if !name.contains(['&', '<', '>', '"']) {
        return Cow::Borrowed(name);
    }
    let escaped = name.replace('&', "&amp;").replace('<', "&lt;");
    Cow::Owned(escaped.replace('>', "&gt;").replace('"', "&quot;"))
}
