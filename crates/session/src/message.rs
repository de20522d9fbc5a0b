//! Messages: what was said, by whom, and what tools answered.
//!
//! One type for all roles, those that a provider takes and those that only a session knows. Unknown roles, blocks and members
//! survive. Nothing here decides what a model sees; that is [`crate::context`] and [`crate::llm`].

use serde::de::Deserializer;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

pub use crate::block::{
    Block, Content, ImageBlock, RedactedThinkingBlock, ServerToolBlock, TextBlock, ThinkingBlock,
    ToolCall,
};
use crate::ids::{EntryId, ToolCallId};
use crate::json::{Json, Member, Members, Number, OpenObject, open_object};
use crate::usage::Usage;

/// A message of any role.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the user said.
    User(UserMessage),
    /// What the program tells the model in the user's stead.
    Developer(UserMessage),
    /// What the model answered.
    Assistant(Box<AssistantMessage>),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// A shell command that the user ran, with its output.
    BashExecution(BashExecution),
    /// Python that the user ran, with its output.
    PythonExecution(PythonExecution),
    /// Files that the user mentioned.
    FileMention(FileMention),
    /// A message of an extension or of the program's own features.
    Custom(CustomMessage),
    /// The older name of [`Message::Custom`].
    HookMessage(CustomMessage),
    /// Summary of a branch that was left. Built at rebuild, never stored.
    BranchSummary(BranchSummaryMessage),
    /// Summary that stands for compacted history. Built at rebuild, never stored.
    CompactionSummary(Box<CompactionSummaryMessage>),
    /// A role that is not understood, kept as it came.
    Unknown(Json),
}

impl Message {
    /// The name of the role as stored.
    pub fn role(&self) -> &str {
        match self {
            Self::User(_) => "user",
            Self::Developer(_) => "developer",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::BashExecution(_) => "bashExecution",
            Self::PythonExecution(_) => "pythonExecution",
            Self::FileMention(_) => "fileMention",
            Self::Custom(_) => "custom",
            Self::HookMessage(_) => "hookMessage",
            Self::BranchSummary(_) => "branchSummary",
            Self::CompactionSummary(_) => "compactionSummary",
            Self::Unknown(json) => {
                json.get("role").and_then(serde_json::Value::as_str).unwrap_or("unknown")
            }
        }
    }

    /// Milliseconds since the epoch; 0 where a foreign message has none.
    pub fn timestamp(&self) -> i64 {
        match self {
            Self::User(m) | Self::Developer(m) => m.timestamp,
            Self::Assistant(m) => m.timestamp,
            Self::ToolResult(m) => m.timestamp,
            Self::BashExecution(m) => m.timestamp,
            Self::PythonExecution(m) => m.timestamp,
            Self::FileMention(m) => m.timestamp,
            Self::Custom(m) | Self::HookMessage(m) => m.timestamp,
            Self::BranchSummary(m) => m.timestamp,
            Self::CompactionSummary(m) => m.timestamp,
            Self::Unknown(json) => {
                json.get("timestamp").and_then(serde_json::Value::as_i64).unwrap_or(0)
            }
        }
    }

    /// A user message of plain text.
    pub fn user(text: impl Into<String>, timestamp: i64) -> Self {
        Self::User(UserMessage {
            content: Content::Text(text.into()),
            timestamp,
            ..UserMessage::default()
        })
    }

    /// The assistant's message, if it is one.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        if let Self::Assistant(message) = self { Some(message) } else { None }
    }

    /// The tool result, if it is one.
    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        if let Self::ToolResult(result) = self { Some(result) } else { None }
    }
}

impl Default for Message {
    fn default() -> Self {
        Self::Unknown(Json::default())
    }
}

/// Who a message is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// The user.
    User,
    /// The program.
    Agent,
}

open_object! {
    /// A message of the role `user` or `developer`.
    pub struct UserMessage {
        /// Text and images.
        pub content: Content = "content",
        /// Written by the program, not typed.
        pub synthetic: Option<bool> = "synthetic",
        /// Typed while a turn was running.
        pub steering: Option<bool> = "steering",
        /// Who it is attributed to.
        pub attribution: Option<Attribution> = "attribution",
        /// When the history before it was last rewritten, in milliseconds since the epoch.
        pub history_rewrite_at: Option<i64> = "historyRewriteAt",
        /// Opaque state of a provider, replayed only to it.
        pub provider_payload: Option<Json> = "providerPayload",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model was done.
    #[default]
    Stop,
    /// The output limit was reached.
    Length,
    /// The model waits for tools.
    ToolUse,
    /// The request failed.
    Error,
    /// The user or the program stopped it.
    Aborted,
}

impl Member for StopReason {}

open_object! {
    /// What the model answered.
    pub struct AssistantMessage {
        /// Blocks in the order they came.
        pub content: Vec<Block> = "content",
        /// Wire protocol, as stored.
        pub api: String = "api",
        /// Provider of the model.
        pub provider: String = "provider",
        /// Id of the model.
        pub model: String = "model",
        /// Measured tokens.
        pub usage: Option<Usage> = "usage",
        /// Why it ended.
        pub stop_reason: StopReason = "stopReason",
        /// What failed, in one line.
        pub error_message: Option<String> = "errorMessage",
        /// HTTP status of the failure.
        pub error_status: Option<u64> = "errorStatus",
        /// Bit set of error kinds.
        pub error_id: Option<u64> = "errorId",
        /// The provider's id of the reply.
        pub response_id: Option<String> = "responseId",
        /// Opaque state of a provider, replayed only to it.
        pub provider_payload: Option<Json> = "providerPayload",
        /// How a failed turn was recovered; such turns are not sent again.
        pub retry_recovery: Option<Json> = "retryRecovery",
        /// Size of the context when the reply was measured.
        pub context_snapshot: Option<Json> = "contextSnapshot",
        /// Settings of the request that the reply answered.
        pub request_controls: Option<Json> = "requestControls",
        /// Milliseconds from request to end.
        pub duration: Option<Number> = "duration",
        /// Milliseconds from request to the first token.
        pub ttft: Option<Number> = "ttft",
        /// How many calls without result were left out of the display. Built, never stored.
        pub stripped_tool_calls: Option<u64> = "strippedToolCalls",
        /// Who it is attributed to.
        pub attribution: Option<Attribution> = "attribution",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

impl AssistantMessage {
    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Block::as_tool_call)
    }

    /// All text blocks, joined with `separator`.
    pub fn text(&self, separator: &str) -> String {
        self.content.iter().filter_map(Block::as_text).collect::<Vec<_>>().join(separator)
    }

    /// Whether it ended by a failure or was stopped.
    pub fn is_unfinished(&self) -> bool {
        matches!(self.stop_reason, StopReason::Error | StopReason::Aborted)
    }
}

open_object! {
    /// What a tool answered.
    pub struct ToolResult {
        /// The call that it answers.
        pub tool_call_id: ToolCallId = "toolCallId",
        /// Name of the tool.
        pub tool_name: String = "toolName",
        /// Text and images.
        pub content: Vec<Block> = "content",
        /// Facts for the view; never sent to a model.
        pub details: Option<Json> = "details",
        /// Whether the tool failed.
        pub is_error: bool = "isError",
        /// Whether the result carries nothing worth keeping. Never set on errors.
        pub useless: Option<bool> = "useless",
        /// When the content was replaced by a placeholder, in milliseconds since the epoch.
        pub pruned_at: Option<i64> = "prunedAt",
        /// Who it is attributed to.
        pub attribution: Option<Attribution> = "attribution",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// A shell command that the user ran.
    pub struct BashExecution {
        /// The command line.
        pub command: String = "command",
        /// Output as shown.
        pub output: String = "output",
        /// Exit code, absent when it was stopped.
        pub exit_code: Option<i64> = "exitCode",
        /// Whether the user stopped it.
        pub cancelled: bool = "cancelled",
        /// Whether the output was cut.
        pub truncated: bool = "truncated",
        /// Pictures in the output.
        pub images: Option<Vec<Block>> = "images",
        /// How the output was cut.
        pub meta: Option<Json> = "meta",
        /// Kept out of what the model sees.
        pub exclude_from_context: Option<bool> = "excludeFromContext",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// Python that the user ran.
    pub struct PythonExecution {
        /// The code.
        pub code: String = "code",
        /// Output as shown.
        pub output: String = "output",
        /// Exit code, absent when it was stopped.
        pub exit_code: Option<i64> = "exitCode",
        /// Whether the user stopped it.
        pub cancelled: bool = "cancelled",
        /// Whether the output was cut.
        pub truncated: bool = "truncated",
        /// How the output was cut.
        pub meta: Option<Json> = "meta",
        /// Kept out of what the model sees.
        pub exclude_from_context: Option<bool> = "excludeFromContext",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// Files that the user mentioned.
    pub struct FileMention {
        /// The files, in order.
        pub files: Vec<MentionedFile> = "files",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// One mentioned file.
    pub struct MentionedFile {
        /// Path as typed.
        pub path: String = "path",
        /// Content, or a note why it was skipped.
        pub content: String = "content",
        /// The picture, where the file is one.
        pub image: Option<Block> = "image",
    }
}

open_object! {
    /// A message of an extension or of the program's own features.
    pub struct CustomMessage {
        /// Kind, chosen by whoever wrote it.
        pub custom_type: String = "customType",
        /// Text and images.
        pub content: Content = "content",
        /// Whether the view shows it.
        pub display: bool = "display",
        /// Facts for the view; never sent to a model.
        pub details: Option<Json> = "details",
        /// Who it is attributed to.
        pub attribution: Option<Attribution> = "attribution",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// Summary of a branch that was left.
    pub struct BranchSummaryMessage {
        /// The summary.
        pub summary: String = "summary",
        /// The branch point, or `root`.
        pub from_id: EntryId = "fromId",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

open_object! {
    /// Summary that stands for compacted history.
    pub struct CompactionSummaryMessage {
        /// The summary.
        pub summary: String = "summary",
        /// Two or three sentences.
        pub short_summary: Option<String> = "shortSummary",
        /// Tokens of the context before the compaction.
        pub tokens_before: u64 = "tokensBefore",
        /// Tokens of the context after it.
        pub tokens_after: Option<u64> = "tokensAfter",
        /// Which method made it.
        pub method: Option<String> = "method",
        /// Opaque state of a provider, replayed only to it.
        pub provider_payload: Option<Json> = "providerPayload",
        /// Text and frames of a bitmap archive, oldest first.
        pub blocks: Option<Vec<Block>> = "blocks",
        /// The images among `blocks`.
        pub images: Option<Vec<Block>> = "images",
        /// Why the compaction did not help.
        pub warning: Option<String> = "warning",
        /// When the history was rewritten, where that differs from the timestamp.
        pub history_rewrite_at: Option<i64> = "historyRewriteAt",
        /// Milliseconds since the epoch.
        pub timestamp: i64 = "timestamp",
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(m) | Self::Developer(m) => tagged(serializer, "role", self.role(), m),
            Self::Assistant(m) => tagged(serializer, "role", self.role(), &**m),
            Self::ToolResult(m) => tagged(serializer, "role", self.role(), m),
            Self::BashExecution(m) => tagged(serializer, "role", self.role(), m),
            Self::PythonExecution(m) => tagged(serializer, "role", self.role(), m),
            Self::FileMention(m) => tagged(serializer, "role", self.role(), m),
            Self::Custom(m) | Self::HookMessage(m) => tagged(serializer, "role", self.role(), m),
            Self::BranchSummary(m) => tagged(serializer, "role", self.role(), m),
            Self::CompactionSummary(m) => tagged(serializer, "role", self.role(), &**m),
            Self::Unknown(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        Ok(match members.tag("role").as_deref() {
            Some("user") => Self::User(members.read(&["role"])),
            Some("developer") => Self::Developer(members.read(&["role"])),
            Some("assistant") => Self::Assistant(Box::new(read_assistant(members))),
            Some("toolResult") => Self::ToolResult(members.read(&["role"])),
            Some("bashExecution") => Self::BashExecution(members.read(&["role"])),
            Some("pythonExecution") => Self::PythonExecution(members.read(&["role"])),
            Some("fileMention") => Self::FileMention(members.read(&["role"])),
            Some("custom") => Self::Custom(members.read(&["role"])),
            Some("hookMessage") => Self::HookMessage(members.read(&["role"])),
            Some("branchSummary") => Self::BranchSummary(members.read(&["role"])),
            Some("compactionSummary") => Self::CompactionSummary(Box::new(members.read(&["role"]))),
            _ => Self::Unknown(members.into_json()),
        })
    }
}

/// Old writers stored an assistant's content as one string; it reads as one text block.
fn read_assistant(members: Members) -> AssistantMessage {
    let mut message: AssistantMessage = members.read(&["role"]);
    if let Some(text) =
        message.extra.get("content").and_then(|json| json.value().as_str()).map(str::to_owned)
    {
        message.content = vec![Block::text(text)];
    }
    message
}

/// Writes an object with its tag first.
pub(crate) fn tagged<S: Serializer, T: OpenObject>(
    serializer: S,
    key: &'static str,
    tag: &str,
    object: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(key, tag)?;
    object.write_members(&mut map)?;
    map.end()
}
