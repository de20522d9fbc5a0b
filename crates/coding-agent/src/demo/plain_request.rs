//! The plain requests that the demo understands, and the calls that they become.

use longhand_agent::ToolSpec;
use serde_json::{Value, json};

/// One plain request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlainRequest {
    Read(String),
    Run(String),
    List(String),
    Search(String),
    Write { path: String, text: String },
    Help,
}

/// A verb whose rest cannot be used, and how it would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misused {
    pub(super) usage: &'static str,
}

impl PlainRequest {
    /// The request in a text: the whole of it, or its last line, where files come first. `None` is any other text.
    pub(super) fn find(text: &str) -> Option<Result<Self, Misused>> {
        let text = text.trim();
        Self::parse(text).or_else(|| Self::parse(text.lines().next_back()?.trim()))
    }

    fn parse(text: &str) -> Option<Result<Self, Misused>> {
        let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        Some(match verb.to_ascii_lowercase().as_str() {
            "help" if rest.is_empty() => Ok(Self::Help),
            "read" => path(rest).map(Self::Read).ok_or(Misused { usage: "read FILE" }),
            "list" if rest.is_empty() => Ok(Self::List(".".into())),
            "list" => path(rest).map(Self::List).ok_or(Misused { usage: "list DIR" }),
            "run" if !rest.is_empty() => Ok(Self::Run(rest.into())),
            "run" => Err(Misused { usage: "run CMD" }),
            "search" if !rest.is_empty() => Ok(Self::Search(unquoted(rest).into())),
            "search" => Err(Misused { usage: "search TEXT" }),
            "write" => write(rest).ok_or(Misused { usage: "write FILE: TEXT" }),
            _ => return None,
        })
    }

    /// The tool and its arguments; `None` where no tool is needed.
    pub(super) fn call(&self, tools: &[ToolSpec]) -> Option<(&'static str, Value)> {
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        Some(match self {
            Self::Help => return None,
            Self::Read(path) => ("read", json!({ "path": path })),
            Self::Run(command) => ("bash", json!({ "command": command })),
            Self::List(directory) if !has("ls") && has("glob") => {
                ("glob", json!({ "path": format!("{directory}/*") }))
            }
            Self::List(directory) => ("ls", json!({ "path": directory })),
            Self::Search(text) => ("grep", json!({ "pattern": regex::escape(text) })),
            Self::Write { path, text } => ("write", json!({ "path": path, "content": text })),
        })
    }
}

/// One word, or anything in quotes. More words are a sentence, and a sentence is not a path.
fn path(rest: &str) -> Option<String> {
    let path = unquoted(rest);
    let is_one_word = !path.is_empty() && !path.contains(char::is_whitespace);
    (is_one_word || path.len() < rest.len()).then(|| path.to_owned())
}

fn write(rest: &str) -> Option<PlainRequest> {
    let (name, text) = rest.split_once(':')?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    Some(PlainRequest::Write { path: path(name.trim())?, text: format!("{text}\n") })
}

fn unquoted(text: &str) -> &str {
    let inner =
        |quote| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.is_empty());
    ['`', '"', '\''].into_iter().find_map(inner).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_requests_are_told_from_other_text() {
        let read = |path: &str| Some(Ok(PlainRequest::Read(path.into())));
        for (text, expected) in [
            ("read src/lib.rs", read("src/lib.rs")),
            ("Read `my file.txt`", read("my file.txt")),
            ("<file name=\"/a\">\nx\n</file>\nread b:1-3", read("b:1-3")),
            ("read the file and explain it", Some(Err(Misused { usage: "read FILE" }))),
            (
                "run cargo test && echo ok",
                Some(Ok(PlainRequest::Run("cargo test && echo ok".into()))),
            ),
            ("list", Some(Ok(PlainRequest::List(".".into())))),
            ("search \"fn main\"", Some(Ok(PlainRequest::Search("fn main".into())))),
            (
                "write a.txt: one\ntwo",
                Some(Ok(PlainRequest::Write { path: "a.txt".into(), text: "one\ntwo\n".into() })),
            ),
            ("write a.txt", Some(Err(Misused { usage: "write FILE: TEXT" }))),
            ("help", Some(Ok(PlainRequest::Help))),
            ("help me", None),
            ("why is the sky blue?", None),
            ("", None),
        ] {
            assert_eq!(PlainRequest::find(text), expected, "{text}");
        }
    }
}
