//! What the user is asked about a call: everything that would run, in full.

use longhand_agent::tool::ApprovalQuestion;
use serde_json::Value;
use std::fmt::Write as _;

use super::Call;

/// The question about a call.
pub(super) fn about(call: &Call<'_>, arguments: &Value) -> ApprovalQuestion {
    let asked = match call.name {
        "bash" => "Run this command?".to_owned(),
        "write" => "Write this file?".to_owned(),
        "edit" => "Edit this file?".to_owned(),
        "read" => "Read this file?".to_owned(),
        name => format!("Run `{name}`?"),
    };
    let title = match call.danger {
        Some(reason) => format!("{asked} Dangerous: {reason}"),
        None => asked,
    };
    ApprovalQuestion {
        title,
        body: body(call.name, arguments),
        tool_name: call.name.to_owned(),
        tier: call.tier,
        remember: call.coverage(),
    }
}

fn body(name: &str, arguments: &Value) -> String {
    let text = |key: &str| arguments[key].as_str();
    match (name, text("command"), text("path")) {
        ("bash", Some(command), _) => {
            let mut body = format!("$ {command}");
            let others = ["cwd", "timeout", "env"].iter().filter(|key| !arguments[**key].is_null());
            for key in others {
                let _ = write!(body, "\n{key}: {}", arguments[*key]);
            }
            body
        }
        ("write", _, Some(path)) => format!("{path}\n\n{}", text("content").unwrap_or_default()),
        ("edit", _, Some(path)) => {
            let mut body = path.to_owned();
            for edit in arguments["edits"].as_array().into_iter().flatten() {
                body.push_str("\n\n");
                body.push_str(&marked("- ", &edit["old"]));
                body.push_str(&marked("+ ", &edit["new"]));
                if edit["all"] == true {
                    body.push_str("(everywhere)");
                }
            }
            body.trim_end().to_owned()
        }
        ("read", _, Some(path)) => path.to_owned(),
        _ => arguments.to_string(),
    }
}

/// The lines of a text, each behind a mark.
fn marked(mark: &str, text: &Value) -> String {
    let mut out = String::new();
    for line in text.as_str().unwrap_or_default().lines() {
        let _ = writeln!(out, "{mark}{line}");
    }
    out
}
