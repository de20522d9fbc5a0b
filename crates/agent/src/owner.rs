//! The one task that owns a session: it takes letters in order, changes the session, and tells everyone.
//!
//! It never waits for a model, a tool or a pass: a run and a pass are tasks of their own that work on snapshots and come back
//! with letters. It waits only for the store. What it decides is who has the session: nobody, a run, or a pass of the user.

mod commits;
mod edits;
mod links;
mod passes;
mod runs;

pub(crate) use runs::message_draft;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use longhand_session::block::ToolCall;
use longhand_session::context::{self, DanglingCalls};
use longhand_session::id_source::IdSource;
use longhand_session::store::EntryTag;
use longhand_session::time::{Clock, Timestamp};
use longhand_session::tokens::MessageCounts;
use longhand_session::{AssistantMessage, Header, Message};
use tokio::sync::{mpsc, oneshot, watch};

use crate::active_branch::ActiveBranch;
use crate::branch::Branch;
use crate::broadcast::Broadcast;
use crate::command::{CloseError, PromptError, RunEnd, SessionCommand, UserInput};
use crate::ending::{self, Ending};
use crate::event::SessionEvent;
use crate::handle::{Live, SessionHandle};
use crate::interruption;
use crate::journal::Journal;
use crate::mail::{Heard, Mail, Postbox};
use crate::queue::Queue;
use crate::run::Surroundings;
use crate::subscription::Subscription;
use passes::ActivePass;
use runs::ActiveRun;

pub(crate) type PromptReply = oneshot::Sender<Result<RunEnd, PromptError>>;

/// The owner of a session.
pub(crate) struct Owner {
    pub(crate) mailbox: mpsc::Receiver<Mail>,
    /// Weak, so that the session ends when the last handle has gone.
    pub(crate) postbox: mpsc::WeakSender<Mail>,
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) branch: ActiveBranch,
    pub(crate) journal: Journal,
    pub(crate) header: Header,
    pub(crate) published: watch::Sender<Arc<Branch>>,
    pub(crate) live: watch::Sender<Arc<Live>>,
    pub(crate) counts: MessageCounts,
    /// What every listener is told first: how the session was found.
    pub(crate) found: Vec<SessionEvent>,
    pub(crate) state: State,
}

/// What changes while a session goes on, besides its entries.
#[derive(Default)]
pub(crate) struct State {
    broadcast: Broadcast,
    queue: Queue,
    activity: Activity,
    /// Prompts that wait for a pass of the user to end.
    waiting: VecDeque<(UserInput, PromptReply)>,
    closing: Vec<oneshot::Sender<Result<(), CloseError>>>,
    is_closing: bool,
    ending: Ending,
    /// Calls that were running when the session was told to close.
    cut_off: Vec<ToolCall>,
    /// Another process has written this session.
    is_shared: bool,
    /// The leaf was moved and nothing has been appended there since.
    has_bare_move: bool,
}

/// Who has the session.
#[derive(Default)]
enum Activity {
    #[default]
    Nobody,
    Run(ActiveRun),
    Pass(ActivePass),
}

impl Owner {
    /// Works until the session is closed, or until nobody could send anything any more.
    pub(crate) async fn work(mut self) {
        loop {
            let mail = tokio::select! {
                biased;
                mail = self.mailbox.recv() => mail,
                () = self.journal.sync_due() => {
                    if let Some(postbox) = self.postbox() {
                        self.journal.begin_sync(postbox);
                    }
                    continue;
                }
            };
            let flow = match mail {
                Some(mail) => self.take(mail).await,
                None => self.close().await,
            };
            if flow.is_break() {
                return;
            }
        }
    }

    async fn take(&mut self, mail: Mail) -> ControlFlow<()> {
        match mail {
            Mail::Command(command) => return self.obey(command).await,
            Mail::Run(mail) => self.take_run_mail(mail).await,
            Mail::PassEnded(result) => self.end_pass(result).await,
            Mail::Synced(result) => {
                let failure = self.journal.end_sync(result);
                self.tell_of_failure(failure.as_ref());
            }
        }
        // A run or a pass may have ended.
        if self.state.is_closing && matches!(self.state.activity, Activity::Nobody) {
            return self.close().await;
        }
        ControlFlow::Continue(())
    }

    async fn obey(&mut self, command: SessionCommand) -> ControlFlow<()> {
        match command {
            SessionCommand::Prompt(input, reply) => self.prompt(input, reply).await,
            SessionCommand::Steer(input) => self.steer(input).await,
            SessionCommand::FollowUp(input) => self.follow_up(input).await,
            SessionCommand::TakeQueue(reply) => {
                let _ = reply.send(self.state.queue.take_all());
                self.emit_queue();
            }
            SessionCommand::Abort => self.abort(),
            SessionCommand::Compact(request, reply) => self.compact(request, reply),
            SessionCommand::SetModel(client) => self.set_model(client).await,
            SessionCommand::Answer(call, answer) => self.answer(&call, answer),
            SessionCommand::Commit(commit, reply) => {
                let _ = reply.send(self.commit(*commit).await);
            }
            SessionCommand::Navigate(to, reply) => {
                let _ = reply.send(self.navigate(to).await);
            }
            SessionCommand::Reset(reply) => {
                let _ = reply.send(self.reset().await);
            }
            SessionCommand::Label(target, label, reply) => {
                let _ = reply.send(self.label(target, label.as_deref()).await);
            }
            SessionCommand::SetTitle(title, source, reply) => {
                let _ = reply.send(self.set_title(&title, source).await);
            }
            SessionCommand::Discard(entry, reply) => {
                let _ = reply.send(self.discard(&entry).await);
            }
            SessionCommand::CloseGap(entry, reply) => {
                let _ = reply.send(self.close_gap(&entry).await);
            }
            SessionCommand::Settle(reply) => {
                let _ = reply.send(self.settle().await);
            }
            SessionCommand::Emit(event) => self.take_event(*event),
            SessionCommand::Subscribe(reply) => {
                let _ = reply.send(self.subscribe());
            }
            SessionCommand::Transcript(reply) => {
                let path = self.branch.path(self.branch.tree().leaf());
                let calls = match self.state.activity {
                    Activity::Run(_) => DanglingCalls::Kept,
                    Activity::Nobody | Activity::Pass(_) => DanglingCalls::Removed,
                };
                let reading = self
                    .journal
                    .reader()
                    .run(move |reader| context::transcript(&path, reader, calls));
                tokio::spawn(async move {
                    let _ = reply.send(reading.await.map_err(Arc::new));
                });
            }
            SessionCommand::Close(ending, reply) => {
                if !self.state.is_closing {
                    self.state.ending = ending;
                }
                self.state.closing.push(reply);
                return self.close().await;
            }
        }
        ControlFlow::Continue(())
    }

    /// Ends the session, or begins to: whatever runs is stopped, and ends first.
    async fn close(&mut self) -> ControlFlow<()> {
        if !std::mem::replace(&mut self.state.is_closing, true) && self.has_running_calls() {
            self.state.cut_off = self.open_calls();
        }
        for (_, reply) in self.state.waiting.drain(..) {
            let _ = reply.send(Err(PromptError::Closed));
        }
        if !matches!(self.state.activity, Activity::Nobody) {
            self.stop_everything();
            return ControlFlow::Continue(());
        }
        self.append_last_words().await;
        let result = self.journal.close().await.map_err(CloseError::NotDurable);
        if let Err(CloseError::NotDurable(error)) = &result {
            tracing::error!(%error, "the transcript is not durable");
        }
        for reply in self.state.closing.drain(..) {
            let _ = reply.send(result.clone());
        }
        ControlFlow::Break(())
    }

    /// What a process writes about its own end: where the leaf was moved to, and that it ended in order.
    ///
    /// Where the session has gone on in another process, that one has the last word: a note here would only lie in its way.
    async fn append_last_words(&mut self) {
        self.journal.look().await;
        self.take_in_others().await;
        if self.branch.is_left_behind() {
            return;
        }
        let mut last_words = Vec::new();
        if self.state.has_bare_move {
            last_words.push(self.navigation_mark());
        }
        let tree = self.branch.tree();
        let mut path = tree.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
        if path.any(|row| row.tag == EntryTag::Assistant) {
            let State { ending, cut_off, .. } = &self.state;
            last_words.push(ending::session_exit(*ending, cut_off, &self.now()));
        }
        if !last_words.is_empty() {
            let drafts = last_words.into_iter().map(Into::into).collect();
            self.append(drafts, Heard::Whole).await;
        }
    }

    /// Gives the turn that a process before did not finish its end, and lets everybody know.
    pub(crate) async fn end_interrupted_turn(&mut self) {
        let turn = self.since_last(EntryTag::User);
        let Some(interruption) = interruption::find(&turn) else { return };
        self.found.push(interruption.notice());
        let Some(end) = interruption.end(self.clock.now_millis()) else { return };
        let model = self.live.borrow().client.model().clone();
        let replies = self.since_last(EntryTag::Assistant);
        let last = replies.first().and_then(|entry| entry.message()?.as_assistant());
        let (api, provider, model) = match last {
            Some(last) => (last.api.clone(), last.provider.clone(), last.model.clone()),
            None => (model.api.as_str().into(), model.provider.clone(), model.id.clone()),
        };
        let end = AssistantMessage { api, provider, model, ..end };
        let end = message_draft(Message::Assistant(Box::new(end)));
        self.append(vec![end], Heard::Whole).await;
    }

    /// A new listener. It first hears what was said before and still holds.
    fn subscribe(&mut self) -> Subscription {
        let standing = self.found.iter().cloned().chain(self.journal.standing());
        self.state.broadcast.subscribe(standing)
    }

    fn take_event(&mut self, event: SessionEvent) {
        if let Activity::Run(run) = &mut self.state.activity {
            run.note(&event);
        }
        if let SessionEvent::TurnEnd { .. } = &event {
            self.journal.want_sync();
        }
        self.emit(event);
    }

    fn emit(&mut self, event: SessionEvent) {
        self.state.broadcast.emit(event);
    }

    fn emit_queue(&mut self) {
        let event = self.state.queue.changed();
        self.emit(event);
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now_millis())
    }

    fn postbox(&self) -> Option<Postbox> {
        self.postbox.upgrade().map(Postbox)
    }

    fn handle(&self) -> Option<SessionHandle> {
        let (branch, live) = (self.published.subscribe(), self.live.subscribe());
        self.postbox().map(|postbox| SessionHandle::new(postbox, branch, live))
    }
}
