//! A turn that the process before did not finish: how it is found when a session opens, and what is said of it.
//!
//! A process that was told to end leaves a note; its turn gets an end in the session. One that was killed leaves no note, only calls
//! that began: they are told of, and nothing is written, since they may run on in a process that still lives.

use std::sync::Arc;

use longhand_session::entry::{CustomEntry, EntryKind};
use longhand_session::message::StopReason;
use longhand_session::time::Timestamp;
use longhand_session::tree::open_calls_in;
use longhand_session::{AssistantMessage, Entry, Json, Message, Usage};
use serde_json::Value;

use crate::ending::{Ending, SESSION_EXIT};
use crate::event::{NoticeLevel, SessionEvent};
use crate::tool_calls::{TOOL_EXECUTION_START, call_note};

/// How many calls a notice names: it is one line.
const MAX_LISTED: usize = 10;

/// What an unfinished turn says for itself.
const ERROR: &str = "the process before ended in the middle of this turn";

/// What is said where nobody knows that.
const UNKNOWN: &str = "the last turn has no end: its process was killed, or still works on it";

/// A turn that was not finished.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interruption {
    process: Process,
    /// The calls that were cut off, as `name (id): command or path`.
    calls: Vec<String>,
}

/// What became of the process before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    /// It ended at that time, in milliseconds since the epoch, as far as its note says so.
    Ended(Option<i64>),
    /// It said nothing.
    Vanished,
}

/// The turn that a branch ends in, if it was not finished. Looks at what follows the last message, and at its turn.
pub(crate) fn find(branch: &[Arc<Entry>]) -> Option<Interruption> {
    let last = branch.iter().rposition(|entry| entry.message().is_some())?;
    if is_finished(&branch[..=last]) {
        return None;
    }
    let exit = branch[last..].iter().rev().find_map(|entry| note(entry, SESSION_EXIT));
    let Some(exit) = exit else { return killed(branch) };
    let pending = exit.get("pendingToolCalls").and_then(Value::as_array);
    let pending = pending.map(Vec::as_slice).unwrap_or_default();
    let was_normal = exit.get("kind").and_then(Value::as_str) == Some(Ending::Normal.as_str());
    if was_normal && pending.is_empty() {
        return None;
    }
    let recorded_at = exit.get("recordedAt").and_then(Value::as_str).map(Timestamp::new);
    Some(Interruption {
        process: Process::Ended(recorded_at.and_then(|time| time.millis())),
        calls: pending.iter().map(described).collect(),
    })
}

/// The calls that began and have no result, where nobody said how the process ended.
fn killed(branch: &[Arc<Entry>]) -> Option<Interruption> {
    let began = |id: &str| {
        branch
            .iter()
            .rev()
            .filter_map(|entry| note(entry, TOOL_EXECUTION_START))
            .any(|start| start.get("toolCallId").and_then(Value::as_str) == Some(id))
    };
    let open = open_calls_in(branch).into_iter().filter(|call| began(call.id.as_str()));
    let calls: Vec<String> = open.map(|call| described(&call_note(&call).into())).collect();
    (!calls.is_empty()).then_some(Interruption { process: Process::Vanished, calls })
}

/// Whether the last message of a branch ends a turn, or belongs to one that failed or was stopped.
fn is_finished(branch: &[Arc<Entry>]) -> bool {
    let mut messages = branch.iter().rev().filter_map(|entry| entry.message());
    let reply = match messages.next().map(|message| &**message) {
        Some(Message::Assistant(reply)) => {
            return reply.is_unfinished() || reply.tool_calls().next().is_none();
        }
        Some(Message::ToolResult(_)) => messages.find_map(|message| message.as_assistant()),
        _ => None,
    };
    reply.is_some_and(AssistantMessage::is_unfinished)
}

fn note<'a>(entry: &'a Entry, kind: &str) -> Option<&'a Json> {
    match &entry.kind {
        EntryKind::Custom(CustomEntry { custom_type, data, .. }) if custom_type == kind => {
            data.as_ref()
        }
        _ => None,
    }
}

/// A noted call in a few words.
fn described(call: &Value) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|key| call.get(key)?.as_str());
    let name = text(&["toolName", "name"]).unwrap_or("unknown tool");
    let id = text(&["toolCallId", "id"]).unwrap_or("no id");
    let arguments = call.get("args");
    let said = ["command", "path"].iter().find_map(|key| arguments?.get(key)?.as_str());
    match said {
        Some(said) => format!("`{name}` ({id}): {}", said.replace(char::is_control, " ")),
        None => format!("`{name}` ({id})"),
    }
}

impl Interruption {
    /// The end that the turn gets in the session; `None` where it may still go on elsewhere.
    pub(crate) fn end(&self, now: i64) -> Option<AssistantMessage> {
        let Process::Ended(ended_at) = self.process else { return None };
        Some(AssistantMessage {
            usage: Some(Usage::default()),
            stop_reason: StopReason::Aborted,
            error_message: Some(ERROR.into()),
            timestamp: ended_at.unwrap_or(now),
            ..AssistantMessage::default()
        })
    }

    /// What the user should know.
    pub(crate) fn notice(&self) -> SessionEvent {
        let first: Vec<&str> = self.calls.iter().take(MAX_LISTED).map(String::as_str).collect();
        let more = self.calls.len() - first.len();
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let why = match self.process {
            Process::Ended(_) => ERROR,
            Process::Vanished => UNKNOWN,
        };
        let message = if first.is_empty() {
            why.to_owned()
        } else {
            format!("{why}; what these calls did is not known: {}{rest}", first.join(", "))
        };
        SessionEvent::Notice {
            level: NoticeLevel::Warning,
            message,
            source: "session".into(),
            code: Some("session.interrupted".into()),
        }
    }
}
