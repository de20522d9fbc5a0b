//! What the owner of a session can be asked. One enum serves every front.

use std::sync::Arc;

use longhand_session::context::SessionContext;
use longhand_session::message::ImageBlock;
use longhand_session::title_slot::TitleSource;
use longhand_session::{Block, Content, EntryId, StoreError, ToolCallId};
use tokio::sync::oneshot;

use crate::client::ModelClient;
use crate::commit::{Commit, CommitError, Committed};
use crate::compaction::CompactionResult;
use crate::edit::{EditError, Navigated, Navigation};
use crate::ending::Ending;
use crate::event::SessionEvent;
use crate::maintenance::{MaintenanceError, ManualRequest};
use crate::subscription::Subscription;
use crate::tool::ApprovalAnswer;

/// What a user typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserInput {
    /// Text.
    pub text: String,
    /// Pictures.
    pub images: Vec<ImageBlock>,
}

impl UserInput {
    /// Text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), images: Vec::new() }
    }

    /// As content of a message: plain text where there are no pictures.
    pub fn into_content(self) -> Content {
        if self.images.is_empty() {
            return Content::Text(self.text);
        }
        let text = Block::text(self.text);
        Content::Blocks(
            std::iter::once(text).chain(self.images.into_iter().map(Block::Image)).collect(),
        )
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// The last message of the model; `None` where no request was sent.
    pub last: Option<Arc<longhand_session::Message>>,
    /// A tool call needed approval and nobody could be asked.
    pub approval_was_needed: bool,
}

/// Why a prompt was not taken.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A run is going on; the input can be queued instead.
    #[error("the agent is busy")]
    Busy,
    /// There is nothing to say.
    #[error("the prompt is empty")]
    Empty,
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
}

/// Why a session did not close cleanly.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CloseError {
    /// The transcript, or part of it, is only in memory.
    #[error("the transcript is not durable")]
    NotDurable(#[source] Arc<StoreError>),
}

/// A request to the owner of a session. Each carries the place where the answer goes.
pub enum SessionCommand {
    /// Start a run with a user's message. Answered when the run, maintenance included, has settled.
    Prompt(UserInput, oneshot::Sender<Result<RunEnd, PromptError>>),
    /// Deliver before the next request of the running turn; starts a run where none is going on.
    Steer(UserInput),
    /// Deliver when the run would end.
    FollowUp(UserInput),
    /// Give back what is queued, steering first.
    TakeQueue(oneshot::Sender<Vec<UserInput>>),
    /// Stop whatever runs: a pass first, else the turn. Nothing queued is lost.
    Abort,
    /// Make the context shorter now.
    Compact(ManualRequest, oneshot::Sender<Result<CompactionResult, MaintenanceError>>),
    /// Use another model from the next request on.
    SetModel(Arc<dyn ModelClient>),
    /// The user's answer about a call.
    Answer(ToolCallId, ApprovalAnswer),
    /// Change the session.
    Commit(Box<Commit>, oneshot::Sender<Result<Committed, CommitError>>),
    /// Move to another entry.
    Navigate(Navigation, oneshot::Sender<Result<Navigated, EditError>>),
    /// Begin afresh for the model.
    Reset(oneshot::Sender<Result<(), EditError>>),
    /// Name an entry, or take its name away.
    Label(EntryId, Option<String>, oneshot::Sender<Result<(), EditError>>),
    /// Name the session.
    SetTitle(String, TitleSource, oneshot::Sender<Result<(), EditError>>),
    /// Take an entry out of the branch for good.
    Discard(EntryId, oneshot::Sender<Result<(), EditError>>),
    /// Hang an entry after a gap where it most likely belongs.
    CloseGap(EntryId, oneshot::Sender<Result<(), EditError>>),
    /// Write everything, and say where the leaf is.
    Settle(oneshot::Sender<Result<Option<EntryId>, EditError>>),
    /// Tell everyone.
    Emit(Box<SessionEvent>),
    /// Listen.
    Subscribe(oneshot::Sender<Subscription>),
    /// The whole display transcript of the active branch.
    Transcript(oneshot::Sender<Result<SessionContext, Arc<StoreError>>>),
    /// Stop everything, write everything, end.
    Close(Ending, oneshot::Sender<Result<(), CloseError>>),
}
