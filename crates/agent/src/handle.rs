//! The door to a running session. Clones are cheap; all of them reach the one task that owns the session.

use std::sync::Arc;

use longhand_session::context::SessionContext;
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::{Fragment, StoreError, TokenCounter, ToolCallId};
use tokio::sync::{oneshot, watch};

use crate::branch::Branch;
use crate::client::ModelClient;
use crate::command::{CloseError, PromptError, RunEnd, SessionCommand, UserInput};
use crate::commit::{Commit, CommitError, Committed};
use crate::compaction::{CompactionResult, Thinking};
use crate::event::{SessionEvent, UsageSource};
use crate::mail::{Mail, Postbox};
use crate::maintenance::{MaintenanceError, ManualRequest};
use crate::request::ToolSpec;
use crate::subscription::Subscription;
use crate::tool::ApprovalAnswer;

/// What requests of a session are made with, at one moment.
#[derive(Clone)]
pub struct Live {
    /// The model of the conversation.
    pub client: Arc<dyn ModelClient>,
    /// Segments of the system prompt.
    pub system: Arc<[Arc<str>]>,
    /// Tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// How hard the session lets its model think.
    pub thinking: Thinking,
    /// Tokens of system prompt and tool schemas, by the model's counter.
    pub non_message_tokens: u64,
}

impl Live {
    pub(crate) fn new(
        client: Arc<dyn ModelClient>,
        system: &Arc<[Arc<str>]>,
        tools: &Arc<[ToolSpec]>,
        thinking: Thinking,
    ) -> Self {
        let counter = client.counter();
        let count = |text: &str| counter.count(Fragment::Text(text));
        let schema = |tool: &ToolSpec| {
            count(&tool.name) + count(&tool.description) + count(&tool.parameters.to_string())
        };
        let non_message_tokens = system.iter().map(|segment| count(segment)).sum::<u64>()
            + tools.iter().map(schema).sum::<u64>();
        Self { client, system: system.clone(), tools: tools.clone(), thinking, non_message_tokens }
    }

    /// Counts tokens for the model of the conversation.
    pub fn counter(&self) -> Arc<dyn TokenCounter> {
        self.client.counter()
    }
}

/// The door to a running session.
#[derive(Clone)]
pub struct SessionHandle {
    postbox: Postbox,
    branch: watch::Receiver<Arc<Branch>>,
    live: watch::Receiver<Arc<Live>>,
}

impl SessionHandle {
    pub(crate) fn new(
        postbox: Postbox,
        branch: watch::Receiver<Arc<Branch>>,
        live: watch::Receiver<Arc<Live>>,
    ) -> Self {
        Self { postbox, branch, live }
    }

    /// The active branch now.
    pub fn snapshot(&self) -> Arc<Branch> {
        self.branch.borrow().clone()
    }

    /// Model, system prompt and tools now.
    pub fn live(&self) -> Arc<Live> {
        self.live.borrow().clone()
    }

    /// The size of the context now, as counted here: a [`SessionEvent::ContextUsage`] for whoever begins to watch. Linear in what
    /// the model sees.
    pub fn context_usage(&self) -> SessionEvent {
        let live = self.live();
        let messages = &self.snapshot().live;
        let said = count_messages(&*live.counter(), messages, EncryptedReasoning::Excluded);
        SessionEvent::ContextUsage {
            tokens: Some(said + live.non_message_tokens),
            window: live.client.model().context_window,
            source: UsageSource::Estimated,
        }
    }

    /// Starts a run with a user's message, and waits until it has settled, maintenance included. The message is in the store
    /// before anything else happens.
    ///
    /// # Errors
    /// The prompt was not taken.
    pub async fn prompt(&self, input: UserInput) -> Result<RunEnd, PromptError> {
        self.ask(|reply| SessionCommand::Prompt(input, reply))
            .await
            .unwrap_or(Err(PromptError::Closed))
    }

    /// Delivers input before the next request of the running turn. Starts a run where none is going on.
    pub async fn steer(&self, input: UserInput) {
        self.tell(SessionCommand::Steer(input)).await;
    }

    /// Delivers input when the run would end. Starts a run where none is going on.
    pub async fn follow_up(&self, input: UserInput) {
        self.tell(SessionCommand::FollowUp(input)).await;
    }

    /// Takes back what is queued, steering first.
    pub async fn take_queue(&self) -> Vec<UserInput> {
        self.ask(SessionCommand::TakeQueue).await.unwrap_or_default()
    }

    /// Stops whatever runs: a pass first, else the turn.
    pub async fn abort(&self) {
        self.tell(SessionCommand::Abort).await;
    }

    /// Makes the context shorter now.
    ///
    /// # Errors
    /// Why nothing was committed.
    pub async fn compact(
        &self,
        request: ManualRequest,
    ) -> Result<CompactionResult, MaintenanceError> {
        self.ask(|reply| SessionCommand::Compact(request, reply))
            .await
            .unwrap_or(Err(MaintenanceError::Closed))
    }

    /// Uses another model from the next request on.
    pub async fn set_model(&self, client: Arc<dyn ModelClient>) {
        self.tell(SessionCommand::SetModel(client)).await;
    }

    /// Answers a question about a call.
    pub async fn answer(&self, call: ToolCallId, answer: ApprovalAnswer) {
        self.tell(SessionCommand::Answer(call, answer)).await;
    }

    /// Changes the session, if what the change expects still holds.
    ///
    /// # Errors
    /// Nothing was changed.
    pub async fn commit(&self, commit: Commit) -> Result<Committed, CommitError> {
        self.ask(|reply| SessionCommand::Commit(Box::new(commit), reply))
            .await
            .unwrap_or(Err(CommitError::Closed))
    }

    /// Tells everyone who listens.
    pub async fn emit(&self, event: SessionEvent) {
        self.tell(SessionCommand::Emit(Box::new(event))).await;
    }

    /// Listens, from now on. `None` when the session is closed.
    pub async fn subscribe(&self) -> Option<Subscription> {
        self.ask(SessionCommand::Subscribe).await
    }

    /// The display transcript of the active branch: everything, with compactions in their place.
    ///
    /// # Errors
    /// The store cannot be read. `None` when the session is closed.
    pub async fn transcript(&self) -> Option<Result<SessionContext, Arc<StoreError>>> {
        self.ask(SessionCommand::Transcript).await
    }

    /// Stops everything, writes everything, ends the session.
    ///
    /// # Errors
    /// Part of the transcript could not be written.
    pub async fn close(&self) -> Result<(), CloseError> {
        self.ask(SessionCommand::Close).await.unwrap_or(Ok(()))
    }

    /// Sends a command. A closed session takes none, which is no failure of the caller.
    async fn tell(&self, command: SessionCommand) {
        self.postbox.send(Mail::Command(command)).await;
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> SessionCommand,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.tell(command(reply)).await;
        answer.await.ok()
    }
}
