//! A request to a model, and the events that its answer arrives in.

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use longhand_session::model::Effort;
use longhand_session::{AssistantMessage, Message};
use serde::{Deserialize, Serialize};

use crate::error::ModelError;

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name that the model calls.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub parameters: serde_json::Value,
}

/// Everything that one request says. Messages are in the roles that providers take: user, developer, assistant, tool result.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Segments of the system prompt.
    pub system: Vec<Arc<str>>,
    /// The conversation, oldest first. Never empty.
    pub messages: Vec<Arc<Message>>,
    /// Tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// How to answer.
    pub options: RequestOptions,
}

/// How a model should answer.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RequestOptions {
    /// Most tokens of the reply; `None` leaves it to the model's own limit.
    pub max_output_tokens: Option<u64>,
    /// How hard to think; `None` sends no wish.
    pub effort: Option<Effort>,
    /// Whether tools may or must be called; `None` leaves it to the provider.
    pub tool_choice: Option<ToolChoice>,
    /// Key under which the provider caches the prefix of the prompt.
    pub cache_key: Option<Arc<str>>,
    /// What the request is for.
    pub purpose: Purpose,
    /// Who waits and tries again when it fails.
    pub retry: Retry,
}

impl RequestOptions {
    /// Options of a request for `purpose`, everything else left open.
    pub fn for_purpose(purpose: Purpose) -> Self {
        Self { purpose, ..Self::default() }
    }
}

/// Whether tools may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No calls.
    None,
    /// Some call.
    Required,
    /// A call of this tool.
    Named(String),
}

/// What a request is for. Goes into events and accounting, never onto the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// A turn of the conversation.
    #[default]
    Turn,
    /// Summary of history.
    CompactionSummary,
    /// Summary of the dropped start of a split turn.
    CompactionTurnPrefix,
    /// Two or three sentences about a compaction.
    CompactionShortSummary,
    /// Summary of a branch that was left.
    BranchSummary,
    /// A handoff document.
    Handoff,
}

/// Who waits and tries again when a request fails for a passing reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// The client does, within the limits of its provider.
    #[default]
    Client,
    /// The caller does; the client reports the first failure.
    Caller,
}

/// One piece of an answer as it arrives. `index` counts content blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The model has begun.
    Start,
    /// A text block begins.
    TextStart {
        /// Which block.
        index: usize,
    },
    /// More text.
    TextDelta {
        /// Which block.
        index: usize,
        /// The new text.
        delta: String,
    },
    /// A reasoning block begins.
    ThinkingStart {
        /// Which block.
        index: usize,
    },
    /// More reasoning.
    ThinkingDelta {
        /// Which block.
        index: usize,
        /// The new text.
        delta: String,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Which block.
        index: usize,
        /// Name of the tool, as far as it is known.
        name: String,
    },
    /// More of a call's arguments, as JSON text.
    ToolCallDelta {
        /// Which block.
        index: usize,
        /// The new text.
        delta: String,
    },
    /// A block is complete.
    BlockEnd {
        /// Which block.
        index: usize,
    },
    /// The answer is complete. Nothing follows.
    Done(Box<AssistantMessage>),
    /// The answer failed or was stopped; the message carries what came until then. Nothing follows.
    Failed {
        /// What came, with stop reason `error` or `aborted`.
        message: Box<AssistantMessage>,
        /// Why.
        error: ModelError,
    },
}

/// An answer as it arrives. Ends after exactly one [`StreamEvent::Done`] or [`StreamEvent::Failed`]. Dropping it closes the
/// connection.
pub type EventStream = Pin<Box<dyn Stream<Item = StreamEvent> + Send>>;
