//! What was said and done in a conversation, read from its messages or from the text that a summary request carries.

use std::sync::Arc;

use longhand_session::{Block, Message};

/// A conversation, boiled down to what a digest tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Transcript {
    /// Texts of the user.
    pub(super) requests: Vec<String>,
    /// Texts of the model.
    pub(super) replies: Vec<String>,
    /// Calls, as `name argument`.
    pub(super) calls: Vec<String>,
    /// How many results of tools there are.
    pub(super) results: usize,
    /// Whether the last thing is a request that nobody dealt with.
    pub(super) is_open: bool,
}

/// How a turn begins in the forms that a conversation is written in for a model.
const TURN_STARTS: &[(&str, Speaker)] = &[
    ("Human: ", Speaker::User),
    ("Assistant: ", Speaker::Model),
    ("[User]: ", Speaker::User),
    ("[Assistant]: ", Speaker::Model),
    ("[Tool Call]: ", Speaker::Call),
    ("[Tool Result]: ", Speaker::Result),
    ("[Think]: ", Speaker::Nobody),
    ("[Context]: ", Speaker::Nobody),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Model,
    Call,
    Result,
    Nobody,
}

impl Transcript {
    /// From the text between the tags of a summary request.
    pub(super) fn of_text(text: &str) -> Self {
        let mut transcript = Self::default();
        let mut speaker = Speaker::Nobody;
        let mut said = String::new();
        for paragraph in text.split("\n\n") {
            let start = TURN_STARTS.iter().find_map(|(label, speaker)| {
                Some((paragraph.trim_start_matches('\n').strip_prefix(label)?, *speaker))
            });
            if let Some((rest, next)) = start {
                transcript.turn(speaker, &said);
                speaker = next;
                said = rest.into();
            } else {
                said.push_str("\n\n");
                said.push_str(paragraph);
            }
        }
        transcript.turn(speaker, &said);
        transcript
    }

    /// From messages in the roles that providers take.
    pub(super) fn of_messages(messages: &[Arc<Message>]) -> Self {
        let mut transcript = Self::default();
        for message in messages {
            match &**message {
                Message::User(user) if user.synthetic != Some(true) => {
                    transcript.turn(Speaker::User, &user.content.text());
                }
                Message::Assistant(reply) => {
                    transcript.turn(Speaker::Model, &reply.text("\n"));
                    for call in reply.tool_calls() {
                        transcript.call(&call.name, first_argument(call.arguments.value()));
                    }
                }
                Message::ToolResult(result) => {
                    let text: String = result.content.iter().filter_map(Block::as_text).collect();
                    transcript.turn(Speaker::Result, &text);
                }
                _ => {}
            }
        }
        transcript
    }

    fn turn(&mut self, speaker: Speaker, text: &str) {
        let text = text.trim();
        match speaker {
            Speaker::User if text.starts_with("<tool_response>") => {
                self.turn(Speaker::Result, text);
            }
            Speaker::User if !text.is_empty() => {
                self.requests.push(text.into());
                self.is_open = true;
            }
            Speaker::Model => {
                let (spoken, calls) = text.split_at(text.find("<invoke ").unwrap_or(text.len()));
                if !spoken.trim().is_empty() {
                    self.replies.push(spoken.trim().into());
                    self.is_open = false;
                }
                calls.split("<invoke name=\"").skip(1).for_each(|call| self.tagged_call(call));
            }
            Speaker::Call => {
                text.split("; ").for_each(|call| self.call(call, None));
            }
            Speaker::Result => {
                self.results += 1;
                self.is_open = false;
            }
            Speaker::User | Speaker::Nobody => {}
        }
    }

    /// Takes `NAME"><parameter name="K">JSON</parameter>…`.
    fn tagged_call(&mut self, text: &str) {
        let Some((name, rest)) = text.split_once("\">") else { return };
        let argument = rest.split_once("\">").and_then(|(_, rest)| rest.split_once("</parameter>"));
        let argument = argument.and_then(|(json, _)| serde_json::from_str(json).ok());
        let argument = argument.map(|value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        });
        self.call(name, argument);
    }

    fn call(&mut self, name: &str, argument: Option<String>) {
        self.calls.push(match argument {
            Some(argument) => format!("{name} {argument}"),
            None => name.to_owned(),
        });
        self.is_open = false;
    }
}

/// The argument that says most of a call: the first one that is text.
pub(super) fn first_argument(arguments: &serde_json::Value) -> Option<String> {
    arguments.as_object()?.values().find_map(|value| value.as_str().map(str::to_owned))
}
