//! One entry in a few words.

use std::collections::HashMap;

use longhand_session::entry::{EntryKind, ModelChangeEntry};
use longhand_session::message::{StopReason, ToolCall, ToolResult};
use longhand_session::{AssistantMessage, Entry, Message, ToolCallId};
use serde_json::Value;

/// Characters of what was said.
const SAID_CHARS: usize = 200;

/// Characters of an error.
const ERROR_CHARS: usize = 80;

/// Characters of a command.
const COMMAND_CHARS: usize = 50;

/// Characters of the arguments of a tool that is not known here.
const ARGUMENTS_CHARS: usize = 40;

/// An entry in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub kind: RowKind,
    /// What it says, on one line, without control characters.
    pub text: String,
}

/// What an entry is, as far as filters tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// The user said it.
    User,
    /// The model said it.
    Assistant,
    /// The model only called tools.
    CallsOnly,
    /// A tool or a command gave it.
    Tool,
    /// A compaction.
    Compaction,
    /// A summary of a branch that was left.
    BranchSummary,
    /// Written by the program for itself: settings, labels, titles, costs.
    Bookkeeping,
    /// Anything else that is worth a row.
    Other,
}

impl RowKind {
    /// The name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::CallsOnly => "calls",
            Self::Tool => "tool",
            Self::Compaction => "compaction",
            Self::BranchSummary => "branchSummary",
            Self::Bookkeeping => "bookkeeping",
            Self::Other => "other",
        }
    }
}

/// The calls that results belong to.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    by_id: HashMap<ToolCallId, ToolCall>,
}

impl Calls {
    /// Remembers the calls of an entry.
    pub fn take(&mut self, entry: &Entry) {
        let turn = entry.message().and_then(|message| message.as_assistant());
        for call in turn.into_iter().flat_map(AssistantMessage::tool_calls) {
            self.by_id.insert(call.id.clone(), call.clone());
        }
    }
}

/// An entry in a few words. `calls` are those that came before it.
pub fn describe(entry: &Entry, calls: &Calls) -> Row {
    let quiet = |text: String| (RowKind::Bookkeeping, text);
    let (kind, text) = match &entry.kind {
        EntryKind::Message(stored) => message(&stored.message, calls),
        EntryKind::Compaction(compaction) => {
            let tokens = compaction.tokens_before.div_ceil(1_000);
            (RowKind::Compaction, format!("[compaction: {tokens}k tokens]"))
        }
        EntryKind::BranchSummary(summary) if summary.summary.is_empty() => {
            quiet("[branch summary: none]".into())
        }
        EntryKind::BranchSummary(summary) => {
            (RowKind::BranchSummary, format!("[branch summary]: {}", summary.summary))
        }
        EntryKind::CustomMessage(custom) => {
            let text = content_text(custom.content.value());
            (RowKind::Other, format!("[{}]: {text}", custom.custom_type))
        }
        EntryKind::Custom(custom) => quiet(format!("[custom: {}]", custom.custom_type)),
        EntryKind::ResetBoundary(_) => (RowKind::Other, "[context cleared]".into()),
        EntryKind::ModelChange(change) => quiet(format!("[model: {}]", model(change))),
        EntryKind::ThinkingLevelChange(change) => {
            let level = change.configured.as_ref().or(change.thinking_level.as_ref());
            quiet(format!("[thinking: {}]", level.map_or("off", String::as_str)))
        }
        EntryKind::ServiceTierChange(_) => quiet("[service tier]".into()),
        EntryKind::ModeChange(change) => quiet(format!("[mode: {}]", change.mode)),
        EntryKind::Label(label) => {
            let text = label.label.as_deref().filter(|text| !text.is_empty());
            quiet(format!("[label: {}]", text.unwrap_or("(cleared)")))
        }
        EntryKind::TitleChange(change) => quiet(format!("[title: {}]", change.title)),
        EntryKind::ModelUsage(usage) => quiet(format!("[usage: {}]", usage.purpose)),
        EntryKind::Other(other) => quiet(format!("[{}]", other.type_name.replace('_', " "))),
        // The enum is open.
        other => quiet(format!("[{}]", other.type_name())),
    };
    Row { kind, text: one_line(&text, SAID_CHARS) }
}

/// The model of a change. Files of an older form name provider and model apart.
fn model(change: &ModelChangeEntry) -> String {
    if !change.model.is_empty() {
        return change.model.clone();
    }
    let part = |key: &str| change.extra.get(key).and_then(|part| part.value().as_str());
    let parts = [part("provider"), part("modelId")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

fn message(message: &Message, calls: &Calls) -> (RowKind, String) {
    match message {
        Message::User(said) => {
            let text = said.content.texts().collect::<Vec<_>>().join(" ");
            let text = if text.trim().is_empty() { "(picture)".to_owned() } else { text };
            (RowKind::User, format!("user: {text}"))
        }
        Message::Developer(said) => {
            let text = said.content.texts().collect::<Vec<_>>().join(" ");
            (RowKind::Other, format!("developer: {text}"))
        }
        Message::Assistant(turn) => assistant(turn),
        Message::ToolResult(result) => (RowKind::Tool, tool_result(result, calls)),
        Message::BashExecution(run) => (RowKind::Tool, format!("[bash]: {}", run.command)),
        Message::PythonExecution(run) => (RowKind::Tool, format!("[python]: {}", run.code)),
        Message::FileMention(mention) => {
            let paths: Vec<&str> = mention.files.iter().map(|file| file.path.as_str()).collect();
            (RowKind::Other, format!("[files: {}]", paths.join(", ")))
        }
        Message::Custom(custom) | Message::HookMessage(custom) => {
            let text = custom.content.texts().collect::<Vec<_>>().join(" ");
            (RowKind::Other, format!("[{}]: {text}", custom.custom_type))
        }
        Message::BranchSummary(summary) => {
            (RowKind::BranchSummary, format!("[branch summary]: {}", summary.summary))
        }
        Message::CompactionSummary(summary) => (RowKind::Compaction, summary.summary.clone()),
        Message::Unknown(json) => {
            let role = json.get("role").and_then(Value::as_str).unwrap_or("message");
            (RowKind::Other, format!("[{role}]"))
        }
    }
}

fn assistant(turn: &AssistantMessage) -> (RowKind, String) {
    let text = turn.text(" ");
    let said = if !text.trim().is_empty() {
        text
    } else if turn.stop_reason == StopReason::Aborted {
        "(aborted)".to_owned()
    } else if turn.stop_reason == StopReason::Error {
        let error = turn.error_message.as_deref().unwrap_or("(error)");
        one_line(error, ERROR_CHARS)
    } else if turn.tool_calls().next().is_some() {
        let names: Vec<&str> = turn.tool_calls().map(|call| call.name.as_str()).collect();
        return (RowKind::CallsOnly, format!("assistant: (calls {})", names.join(", ")));
    } else {
        "(no content)".to_owned()
    };
    (RowKind::Assistant, format!("assistant: {said}"))
}

fn tool_result(result: &ToolResult, calls: &Calls) -> String {
    let name = &result.tool_name;
    let Some(call) = calls.by_id.get(&result.tool_call_id) else { return format!("[{name}]") };
    format!("[{}]", tool_call(call))
}

/// A call in a few words: the tool, and what it is about.
pub(crate) fn tool_call(call: &ToolCall) -> String {
    let name = &call.name;
    let argument = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    let about = match name.as_str() {
        "read" | "write" | "edit" | "ls" => argument("path").map(str::to_owned),
        "bash" => argument("command").map(|command| one_line(command, COMMAND_CHARS)),
        "grep" => argument("pattern")
            .map(|pattern| format!("/{pattern}/ in {}", argument("path").unwrap_or("."))),
        "glob" => argument("pattern").map(str::to_owned),
        _ => None,
    };
    let about = about.unwrap_or_else(|| one_line(&call.arguments.compact(), ARGUMENTS_CHARS));
    format!("{name}: {about}")
}

fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

/// Text on one line, without control characters, and not too much of it.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    let mut is_gap = false;
    for char in text.chars() {
        if char.is_whitespace() || char.is_control() {
            is_gap = !line.is_empty();
            continue;
        }
        if chars >= max_chars {
            line.push('…');
            break;
        }
        if std::mem::take(&mut is_gap) {
            line.push(' ');
            chars += 1;
        }
        line.push(char);
        chars += 1;
    }
    line
}
