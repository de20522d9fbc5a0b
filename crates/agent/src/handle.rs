//! The door to a running session. Clones are cheap; all of them reach the one task that owns the session.

use std::sync::Arc;

use longhand_session::context::SessionContext;
use longhand_session::title_slot::TitleSource;
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::{EntryId, Fragment, StoreError, TokenCounter, ToolCallId};
use tokio::sync::{oneshot, watch};

use crate::branch::Branch;
use crate::client::ModelClient;
use crate::command::{CloseError, PromptError, RunEnd, SessionCommand, UserInput};
use crate::commit::{Commit, CommitError, Committed};
use crate::compaction::{CompactionResult, Thinking};
use crate::edit::{EditError, Navigated, Navigation};
use crate::ending::Ending;
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

    /// Moves to another entry of the tree. At what the user said the leaf goes before it, and its words come back.
    ///
    /// # Errors
    /// There is no such entry, or a turn or a pass has the session. Nothing was changed.
    pub async fn navigate(&self, to: Navigation) -> Result<Navigated, EditError> {
        self.edit(|reply| SessionCommand::Navigate(to, reply)).await
    }

    /// Begins afresh: the model no longer sees what came before. Nothing is deleted.
    ///
    /// # Errors
    /// A turn or a pass has the session.
    pub async fn reset(&self) -> Result<(), EditError> {
        self.edit(SessionCommand::Reset).await
    }

    /// Gives an entry a name; without one, or with an empty one, its name is taken away.
    ///
    /// # Errors
    /// There is no such entry.
    pub async fn label(&self, target: EntryId, label: Option<String>) -> Result<(), EditError> {
        self.edit(|reply| SessionCommand::Label(target, label, reply)).await
    }

    /// Gives the session a title. A title that the user gave is never replaced by an automatic one.
    ///
    /// # Errors
    /// Nothing is left of the title, the user chose another one, or it could not be written.
    pub async fn set_title(
        &self,
        title: impl Into<String>,
        source: TitleSource,
    ) -> Result<(), EditError> {
        self.edit(|reply| SessionCommand::SetTitle(title.into(), source, reply)).await
    }

    /// Takes an entry out of the branch for good: out of the session, where nothing but service tiers follows it; else what follows
    /// stays in the session, off the branch. Linear in the session.
    ///
    /// # Errors
    /// There is no such entry, a turn or a pass has the session, or it could not be written. Nothing was changed.
    pub async fn discard(&self, entry: EntryId) -> Result<(), EditError> {
        self.edit(|reply| SessionCommand::Discard(entry, reply)).await
    }

    /// Hangs an entry whose parent is missing after the one that stands before it. Linear in the session.
    ///
    /// # Errors
    /// There is no gap before the entry, a turn or a pass has the session, or it could not be written. Nothing was changed.
    pub async fn close_gap(&self, entry: EntryId) -> Result<(), EditError> {
        self.edit(|reply| SessionCommand::CloseGap(entry, reply)).await
    }

    /// Writes everything that is not written yet, and gives the leaf: whoever reads the store now finds the session up to there.
    ///
    /// # Errors
    /// Part of the session is only in memory.
    pub async fn settle(&self) -> Result<Option<EntryId>, EditError> {
        self.edit(SessionCommand::Settle).await
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
        self.close_as(Ending::Normal).await
    }

    /// As [`Self::close`]; the session remembers why it was left.
    ///
    /// # Errors
    /// Part of the transcript could not be written.
    pub async fn close_as(&self, ending: Ending) -> Result<(), CloseError> {
        self.ask(|reply| SessionCommand::Close(ending, reply)).await.unwrap_or(Ok(()))
    }

    async fn edit<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, EditError>>) -> SessionCommand,
    ) -> Result<T, EditError> {
        self.ask(command).await.unwrap_or(Err(EditError::Closed))
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
