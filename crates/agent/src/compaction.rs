//! Compaction as data: what is cut and kept, what a method makes of it, and the seam that methods implement.

use std::sync::Arc;

use async_trait::async_trait;
pub use longhand_session::FileOperations;
use longhand_session::model::Effort;
use longhand_session::{EntryId, Json, Message, MethodId, Model, TokenCounter, Usage};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::branch::Branch;
use crate::client::ModelClient;
use crate::commit::PatchSet;
use crate::error::ModelError;
use crate::request::ToolSpec;

/// What of a branch is replaced by a summary, and what is kept. Regions are disjoint and in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preparation {
    /// The first entry that is kept, metadata directly before it included.
    pub first_kept_entry_id: EntryId,
    /// Messages whose place the summary takes.
    pub messages_to_summarize: Vec<Arc<Message>>,
    /// The dropped start of a turn whose end is kept; empty unless the cut splits a turn.
    pub turn_prefix_messages: Vec<Arc<Message>>,
    /// Messages that are kept verbatim.
    pub recent_messages: Vec<Arc<Message>>,
    /// Whether the cut falls inside a turn.
    pub is_split_turn: bool,
    /// Tokens of the context before, as measured; 0 where nothing was measured.
    pub tokens_before: u64,
    /// Summary of the compaction before.
    pub previous_summary: Option<String>,
    /// Data that the compaction before left for the next.
    pub previous_preserve_data: Option<Json>,
    /// Files that were read and changed in what is summarized.
    pub file_operations: FileOperations,
}

/// What is cut and what is kept of a branch.
pub trait Prepare: Send + Sync {
    /// The cut, or `None` where there is nothing to compact.
    fn prepare(
        &self,
        branch: &Branch,
        model: Option<&Model>,
        non_message_tokens: u64,
    ) -> Option<Preparation>;
}

/// What a method makes in place of history.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionResult {
    /// What the model reads.
    pub summary: String,
    /// Two or three sentences for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_summary: Option<String>,
    /// The first entry that is kept.
    pub first_kept_entry_id: EntryId,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Facts such as `readFiles` and `modifiedFiles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// Data for the next compaction, by slot. Not part of events: frames are megabytes.
    #[serde(skip)]
    pub preserve_data: Option<Json>,
    /// What making it cost, one item an answered request.
    #[serde(skip)]
    pub spent: Vec<Spent>,
}

/// What one request cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The model that answered, as `provider/id`.
    pub model: String,
    /// What it measured.
    pub usage: Usage,
}

/// Why a pass runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The user asked.
    Manual,
    /// The context is over its threshold.
    Threshold,
    /// A request did not fit the window.
    Overflow,
    /// A reply was cut off.
    Incomplete,
    /// Nothing happened for a while.
    Idle,
}

/// What a compaction method works on. Owned and cheap to clone, so that a speculation can hold one.
#[derive(Clone)]
pub struct Job {
    /// The branch when the pass began.
    pub branch: Arc<Branch>,
    /// The cut; `None` for methods that do not prepare.
    pub preparation: Option<Arc<Preparation>>,
    /// The live system prompt.
    pub system: Arc<[Arc<str>]>,
    /// The live tools.
    pub tools: Arc<[ToolSpec]>,
    /// The model of the conversation.
    pub model: Arc<Model>,
    /// Counts tokens for that model.
    pub counter: Arc<dyn TokenCounter>,
    /// Models that may write a summary, in the order to try them.
    pub candidates: Vec<Arc<dyn ModelClient>>,
    /// Why the pass runs.
    pub trigger: Trigger,
    /// What the user wants the summary to dwell on.
    pub focus: Option<Arc<str>>,
    /// Tokens of system prompt and tool schemas.
    pub non_message_tokens: u64,
    /// Further lines for the summarizer, from extensions.
    pub extra_context: Arc<[String]>,
    /// How hard the session lets its model think; the default where nothing is known.
    pub thinking: Thinking,
}

/// How hard a session lets its model think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// Nothing was set.
    #[default]
    Inherit,
    /// Not at all.
    Off,
    /// As hard as that, or as near as the model comes.
    Level(Effort),
}

/// What kind of method it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodTraits {
    /// What it needs of a model.
    pub needs: Needs,
    /// Whether it works on a [`Preparation`].
    pub prepares: bool,
    /// Whether it may run ahead of need.
    pub may_speculate: bool,
    /// Whether it adds images to the context.
    pub adds_images: bool,
    /// What it does with what the user asks it to dwell on.
    pub focus: FocusUse,
    /// How it takes part in a pass that the user asked for.
    pub manual: ManualUse,
}

/// What a method does with what the user asks it to dwell on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FocusUse {
    /// It dwells on it.
    Taken,
    /// It cannot, and is passed over.
    Refused,
}

/// What a method needs of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// No model at all.
    Nothing,
    /// A model that answers.
    Model,
    /// A conversation model that reads images.
    Vision,
}

/// How a method takes part in a pass that the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualUse {
    /// In its place of the order.
    InOrder,
    /// Only when it is named.
    NamedOnly,
}

/// What a method would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Tokens of the context after; `None` where only running it would tell.
    pub tokens_after: Option<u64>,
    /// Whether `tokens_after` is exact, or an upper bound.
    pub is_exact: bool,
    /// Pictures that it would put into the context.
    pub frames: usize,
}

/// Why a method cannot be used now. Shown to the user as is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Skip {
    /// No model can write a summary.
    #[error("no model is available for the summary")]
    NoModel,
    /// The conversation model cannot read images.
    #[error("`{0}` does not read images")]
    NeedsVision(String),
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

/// What a method made.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A compaction entry.
    Entry(CompactionResult),
    /// Entries changed in place.
    Patch(PatchSet),
}

/// Why a method failed. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// The user or the program stopped it. No other method runs.
    #[error("Compaction cancelled")]
    Cancelled,
    /// It found that it would not help. The next method may run.
    #[error("{0}")]
    Blocked(String),
    /// It tried and failed. The next method may run.
    #[error("{context}: {source}")]
    Failed {
        /// What failed, such as `Summarization failed`.
        context: &'static str,
        /// Why.
        source: ModelError,
    },
}

/// Takes news of a running method.
pub trait Progress: Send + Sync {
    /// What is being done, in a few words, and how far it is.
    fn report(&self, step: ProgressStep);
}

/// One piece of news of a running method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressStep {
    /// What is being done.
    pub phase: String,
    /// Steps done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// Steps in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Anything else worth knowing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// One way to make a context shorter.
#[async_trait]
pub trait CompactionMethod: Send + Sync {
    /// Name of the method, as in settings and commands.
    fn id(&self) -> MethodId;

    /// What kind of method it is.
    fn traits(&self) -> MethodTraits;

    /// Whether it can run. Cheap.
    ///
    /// # Errors
    /// Why not.
    fn usable(&self, job: &Job) -> Result<(), Skip>;

    /// What it would do. Calls no model and writes nothing.
    ///
    /// # Errors
    /// It would fail.
    async fn plan(&self, job: &Job) -> Result<Plan, MethodError>;

    /// Does it. Writes nothing to the session: the caller commits what it makes. After cancelling nothing has changed.
    ///
    /// # Errors
    /// See [`MethodError`]; each says whether another method may run.
    async fn run(
        &self,
        job: &Job,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Outcome, MethodError>;

    /// Makes what this method left on the branch smaller, where there is nothing else to cut, so that the context has at most
    /// `room_tokens`. `None` where it left nothing, or nothing that could be smaller. Calls no model and writes nothing.
    ///
    /// # Errors
    /// It failed.
    async fn shrink(
        &self,
        _job: &Job,
        _room_tokens: u64,
    ) -> Result<Option<CompactionResult>, MethodError> {
        Ok(None)
    }
}
