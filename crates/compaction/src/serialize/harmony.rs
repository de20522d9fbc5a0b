//! Control tokens around messages, with a channel for each kind.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

use super::Turn;
use super::turn::Assistant;

pub(super) fn write(turns: &[Turn<'_>]) -> String {
    let mut out = String::new();
    for turn in turns {
        match turn {
            Turn::User(text) => message(&mut out, "user", None, text),
            Turn::Developer(text) => message(&mut out, "developer", None, text),
            Turn::Assistant(said) => write_assistant(&mut out, said),
            Turn::Results(run) => {
                for result in run {
                    let role = format!("functions.{} to=assistant", result.tool_name);
                    message(&mut out, &role, Some("commentary"), &result.text);
                }
            }
        }
    }
    out
}

fn write_assistant(out: &mut String, said: &Assistant<'_>) {
    if let Some(thinking) = &said.thinking {
        message(out, "assistant", Some("analysis"), thinking);
    }
    if let Some(texts) = &said.texts {
        message(out, "assistant", Some("final"), &texts.concat());
    }
    for call in &said.calls {
        let _ = write!(
            out,
            "<|start|>assistant<|channel|>commentary to=functions.{}<|message|>{}<|call|>",
            call.name,
            call.arguments.compact()
        );
    }
}

fn message(out: &mut String, role: &str, channel: Option<&str>, text: &str) {
    out.push_str("<|start|>");
    out.push_str(role);
    if let Some(channel) = channel {
        out.push_str("<|channel|>");
        out.push_str(channel);
    }
    out.push_str("<|message|>");
    out.push_str(text);
    out.push_str("<|end|>");
}

/// Respells every control token, those that [`write`] wrote as well: the provider refuses requests with reserved spellings in
/// their data.
pub(super) fn escape_control_tokens(text: &str) -> Cow<'_, str> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"<\|(start|end|message|channel|constrain|return|call)\|>")
            .expect("a fixed pattern")
    });
    TOKEN.replace_all(text, r"<\|$1\|>")
}
