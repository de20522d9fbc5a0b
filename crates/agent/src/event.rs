//! What a session tells those who watch it. One enum serves every front; as JSON it is one line an event.

use std::sync::Arc;

use longhand_session::title_slot::TitleSource;
use longhand_session::{AssistantMessage, Entry, EntryId, Message, MethodId, ToolCallId};
use serde::Serialize;

use crate::compaction::{CompactionResult, ProgressStep, Trigger};
use crate::tool::{ApprovalQuestion, ToolOutput};

/// An event with its place in the order of events.
#[derive(Debug, Clone, Serialize)]
pub struct Sequenced {
    /// Rises by one an event.
    pub seq: u64,
    /// The event.
    #[serde(flatten)]
    pub event: SessionEvent,
}

/// Something that happened in a session. A message is in the store before its `message_end` is heard.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SessionEvent {
    /// A run begins.
    AgentStart,
    /// A run has settled.
    AgentEnd {
        /// The messages of the run.
        messages: Vec<Arc<Message>>,
        /// Whether nothing follows by itself.
        is_terminal: bool,
    },
    /// A request is about to be sent.
    TurnStart,
    /// An answer and the results of its calls are stored.
    TurnEnd {
        /// The answer.
        message: Arc<Message>,
        /// The results, in the order of the calls.
        tool_results: Vec<Arc<Message>>,
    },
    /// A message begins: for the user's and tools' it is complete, for the model's it is empty.
    MessageStart {
        /// The message so far.
        message: Arc<Message>,
    },
    /// A piece of the model's message. A newer one of the same message may replace a waiting one.
    MessageUpdate {
        /// The piece.
        assistant_message_event: AssistantMessageEvent,
        /// The message so far. Not part of the JSON.
        #[serde(skip)]
        partial: Arc<AssistantMessage>,
    },
    /// A message is complete and stored.
    MessageEnd {
        /// The message.
        message: Arc<Message>,
        /// Its entry; `None` where it was not stored.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry_id: Option<EntryId>,
    },
    /// A tool starts.
    ToolExecutionStart {
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: String,
        /// Its arguments.
        args: longhand_session::Json,
    },
    /// A tool has more output.
    ToolExecutionUpdate {
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: String,
        /// The output so far.
        #[serde(serialize_with = "output_as_json")]
        partial_result: ToolOutput,
    },
    /// A tool has ended.
    ToolExecutionEnd {
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: String,
        /// Its output.
        #[serde(serialize_with = "output_as_json")]
        result: ToolOutput,
        /// Whether it failed.
        is_error: bool,
    },
    /// A call waits for the user.
    ApprovalRequest {
        /// The call.
        tool_call_id: ToolCallId,
        /// The question.
        question: ApprovalQuestion,
    },
    /// A question was answered or its turn ended.
    ApprovalEnd {
        /// The call.
        tool_call_id: ToolCallId,
    },
    /// An automatic pass tries a method.
    AutoCompactionStart {
        /// Why.
        reason: Trigger,
        /// What is done: `context-full`, `remote`, `handoff`, `shake`, `snapcompact`.
        action: String,
    },
    /// The try has ended. Each start has one end.
    AutoCompactionEnd {
        /// As at the start.
        action: String,
        /// What it made.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<CompactionResult>,
        /// Whether it was stopped.
        aborted: bool,
        /// Whether the failed request is sent again.
        will_retry: bool,
        /// What failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
        /// Whether there was nothing to do.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
        /// Whether another method is tried next.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        fallback: bool,
    },
    /// A running method has news.
    MaintenanceProgress {
        /// The method.
        method: MethodId,
        /// The news.
        #[serde(flatten)]
        step: ProgressStep,
    },
    /// A method cannot be used now.
    MaintenanceMethodSkipped {
        /// The method.
        method: MethodId,
        /// Why not.
        reason: String,
    },
    /// Something the user should know.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// What, in one line.
        message: String,
        /// Who says so.
        source: String,
        /// A name for programs, such as `compaction.no_progress`.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The model was changed.
    ModelChanged {
        /// `provider/id`.
        model: String,
    },
    /// The size of the context changed.
    ContextUsage {
        /// Tokens.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Tokens that fit; absent where unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
        /// Where the number comes from.
        source: UsageSource,
    },
    /// The queue changed.
    QueueChanged {
        /// Texts to be delivered before the next request.
        steering: Vec<String>,
        /// Texts to be delivered after the run.
        follow_up: Vec<String>,
    },
    /// An entry that is not a message was appended: a compaction, a change of model, …
    EntryAppended {
        /// The entry.
        entry: Arc<Entry>,
    },
    /// Entries were changed in place.
    EntriesRewritten {
        /// Their ids.
        ids: Vec<EntryId>,
    },
    /// The leaf moved.
    LeafChanged {
        /// The new leaf; `None` before the first entry.
        leaf: Option<EntryId>,
        /// Words of the user that the leaf went before, to be said again.
        #[serde(skip_serializing_if = "Option::is_none")]
        editor_text: Option<String>,
    },
    /// The session has another title.
    TitleChanged {
        /// The title.
        title: String,
        /// Who chose it.
        source: TitleSource,
    },
    /// The transcript could not be written. What is in memory is kept, and written with the next success.
    PersistenceError {
        /// Why, in one line.
        message: String,
    },
}

/// A piece of the model's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AssistantMessageEvent {
    /// A text block begins.
    TextStart {
        /// Which block.
        content_index: usize,
    },
    /// More text.
    TextDelta {
        /// Which block.
        content_index: usize,
        /// The new text.
        delta: String,
    },
    /// A reasoning block begins.
    ThinkingStart {
        /// Which block.
        content_index: usize,
    },
    /// More reasoning.
    ThinkingDelta {
        /// Which block.
        content_index: usize,
        /// The new text.
        delta: String,
    },
    /// A tool call begins.
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        /// Which block.
        content_index: usize,
        /// Name of the tool, as far as it is known.
        name: String,
    },
    /// More of a call's arguments.
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta {
        /// Which block.
        content_index: usize,
        /// The new text.
        delta: String,
    },
    /// A block is complete.
    BlockEnd {
        /// Which block.
        content_index: usize,
    },
    /// The message is complete.
    Done,
    /// The message failed or was stopped.
    Error,
}

impl AssistantMessageEvent {
    /// Takes in a newer piece of the same block, so that whoever reads pieces misses nothing. Gives back what does not belong.
    pub(crate) fn absorb(&mut self, newer: Self) -> Option<Self> {
        match (self, newer) {
            (
                Self::TextDelta { content_index: here, delta: text },
                Self::TextDelta { content_index, delta },
            )
            | (
                Self::ThinkingDelta { content_index: here, delta: text },
                Self::ThinkingDelta { content_index, delta },
            )
            | (
                Self::ToolCallDelta { content_index: here, delta: text },
                Self::ToolCallDelta { content_index, delta },
            ) if *here == content_index => {
                text.push_str(&delta);
                None
            }
            (_, newer) => Some(newer),
        }
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// May need attention.
    Warning,
    /// Something failed.
    Error,
}

/// Where a number of tokens comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageSource {
    /// The provider measured it.
    Measured,
    /// Counted locally.
    Estimated,
    /// Nothing is known.
    Unknown,
}

fn output_as_json<S: serde::Serializer>(
    output: &ToolOutput,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("content", &output.content)?;
    if let Some(details) = &output.details {
        map.serialize_entry("details", details)?;
    }
    map.serialize_entry("isError", &output.is_error)?;
    map.end()
}
