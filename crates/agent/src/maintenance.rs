//! The seam to whoever decides when a context is made shorter.

use async_trait::async_trait;
use longhand_session::{AssistantMessage, EntryId, Message, MethodId, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use crate::compaction::{CompactionResult, Trigger};
use crate::handle::SessionHandle;

/// What a check decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Something owns the next turn already.
    pub continuation: Option<Continuation>,
    /// A deliberate pause: nothing may continue by itself.
    pub blocked: bool,
    /// Work goes on in the background.
    pub deferred: bool,
    /// What the model sees was rewritten.
    pub rewritten: bool,
}

/// How the session goes on after maintenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// The same request again, with the shorter context.
    Retry,
    /// A message of the program asks the model to resume.
    Prompt(String),
}

/// A pass that the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ManualRequest {
    /// The method to use; `None` takes the order of the settings.
    pub method: Option<MethodId>,
    /// What the summary should dwell on.
    pub focus: Option<String>,
}

/// Why a pass that the user asked for did not happen.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// The newest entry is a compaction.
    #[error("Already compacted")]
    AlreadyCompacted,
    /// There is too little to compact.
    #[error("Nothing to compact (session too small)")]
    TooSmall,
    /// A pass is running.
    #[error("Compaction already in progress")]
    Busy,
    /// Stopped.
    #[error("Compaction cancelled")]
    Cancelled,
    /// No method of that name.
    #[error("there is no compaction method `{0}`")]
    UnknownMethod(MethodId),
    /// The method does not take a focus.
    #[error("`{0}` takes no focus")]
    FocusRejected(MethodId),
    /// No method of the order can be used by hand.
    #[error("no compaction method can be used: {0}")]
    NoMethod(String),
    /// No model can be asked.
    #[error("no model is available")]
    NoModel,
    /// A method ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
}

impl MaintenanceError {
    /// Whether there was simply nothing to do.
    pub fn is_noop(&self) -> bool {
        matches!(self, Self::AlreadyCompacted | Self::TooSmall)
    }
}

/// What a pass did, kept in the session beside the entry that it made. The divider reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceRecord {
    /// `compaction`, `shake` or `prune`.
    pub kind: String,
    /// The entry that the pass made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<EntryId>,
    /// Why it ran.
    pub trigger: Trigger,
    /// The method that succeeded.
    pub method: MethodId,
    /// What was tried before.
    pub attempts: Vec<Attempt>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The model that wrote the summary, as `provider/id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A method that was passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The method.
    pub method: MethodId,
    /// Why it could not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// How it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Decides when a context is made shorter, and does it. Changes the session only through [`SessionHandle::commit`].
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Called before a prompt is sent. The prompt is on the branch already; `pending` will be sent with it and is not.
    async fn before_prompt(
        &self,
        session: &SessionHandle,
        pending: &[Arc<Message>],
        cancel: &CancellationToken,
    ) -> Verdict;

    /// Called between two requests of one turn.
    async fn between_rounds(
        &self,
        session: &SessionHandle,
        last: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict;

    /// Called when a run has settled: finished, failed or cut off.
    async fn after_run(
        &self,
        session: &SessionHandle,
        last: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict;

    /// Whether a pass that the user asks for could be begun at all. Asked before a turn is stopped for it; looks at the request and
    /// at options, not at the session.
    ///
    /// # Errors
    /// Why not.
    fn check(&self, request: &ManualRequest) -> Result<(), MaintenanceError> {
        let _ = request;
        Ok(())
    }

    /// A pass that the user asked for.
    ///
    /// # Errors
    /// Why nothing was committed.
    async fn compact(
        &self,
        session: &SessionHandle,
        request: ManualRequest,
        cancel: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError>;

    /// How a turn goes on that such a pass interrupted; `None` leaves it interrupted.
    fn resume(&self) -> Option<Continuation> {
        Some(Continuation::Retry)
    }
}

/// Maintenance that never does anything, for sessions that are short by design.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMaintenance;

#[async_trait]
impl Maintenance for NoMaintenance {
    async fn before_prompt(
        &self,
        _: &SessionHandle,
        _: &[Arc<Message>],
        _: &CancellationToken,
    ) -> Verdict {
        Verdict::default()
    }

    async fn between_rounds(
        &self,
        _: &SessionHandle,
        _: &AssistantMessage,
        _: &CancellationToken,
    ) -> Verdict {
        Verdict::default()
    }

    async fn after_run(
        &self,
        _: &SessionHandle,
        _: &AssistantMessage,
        _: &CancellationToken,
    ) -> Verdict {
        Verdict::default()
    }

    async fn compact(
        &self,
        _: &SessionHandle,
        _: ManualRequest,
        _: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError> {
        Err(MaintenanceError::NoMethod("maintenance is off".into()))
    }
}
