//! What arrives at the owner of a session: commands from outside, and reports of the run and the pass that it has started.
//!
//! All of it comes through one channel, so that whatever somebody sends first happens first.

use std::any::Any;
use std::sync::Arc;

use longhand_session::{Entry, Message, StoreError, ToolCallId};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::command::SessionCommand;
use crate::commit::EntryDraft;
use crate::compaction::CompactionResult;
use crate::event::SessionEvent;
use crate::maintenance::MaintenanceError;
use crate::tool::{ApprovalAnswer, ApprovalQuestion};

/// How many letters may wait. The owner never waits for a run or a pass, so a full box only slows a sender for a moment.
pub(crate) const MAILBOX_SIZE: usize = 256;

/// One letter to the owner.
pub(crate) enum Mail {
    /// From a handle.
    Command(SessionCommand),
    /// From the task of the run that is going on.
    Run(RunMail),
    /// The pass that the user asked for has ended.
    PassEnded(Result<CompactionResult, MaintenanceError>),
    /// The store was asked to survive the loss of power.
    Synced(Result<(), StoreError>),
}

/// From the task of a run.
pub(crate) enum RunMail {
    /// Entries to store, and what is heard of them.
    Append { drafts: Vec<EntryDraft>, heard: Heard, reply: oneshot::Sender<Vec<Arc<Entry>>> },
    /// A message that arrived in pieces has ended, and nothing of it is worth keeping.
    Unstored(Arc<Message>),
    /// Maintenance is asked; the token ends it.
    HookBegan(Hook, CancellationToken),
    /// Maintenance has answered.
    HookEnded,
    /// A call waits for the user.
    Ask { call: ToolCallId, question: ApprovalQuestion, reply: oneshot::Sender<ApprovalAnswer> },
    /// Store what is queued, and say whether there was anything.
    Deliver(Delivery, oneshot::Sender<Delivered>),
    /// The model is told to go on, unless the user has something to say.
    GoOn { text: String, reply: oneshot::Sender<()> },
    /// The run would end here.
    Finish(RunReport, oneshot::Sender<Next>),
    /// The task of the run panicked.
    Panicked(String),
}

/// What is heard of appended entries besides that they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Messages begin and end.
    Whole,
    /// The messages have been heard of while they arrived; only their end is new.
    End,
}

/// Which question maintenance is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    BeforePrompt,
    BetweenRounds,
    AfterRun,
}

/// What of the queue is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// What belongs before the next request.
    Steering,
    /// The same, and one follow-up where there is none of it: the run would end otherwise.
    SteeringOrFollowUp,
}

/// Whether something was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    Something,
    Nothing,
}

/// How a run ended.
pub(crate) struct RunReport {
    pub(crate) last: Option<Arc<Message>>,
    pub(crate) approval_was_needed: bool,
    pub(crate) queue: AtEnd,
}

/// What becomes of input that was queued meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// It continues the run, unless the user has stopped the turn.
    Drains,
    /// It waits for the user.
    Keeps,
}

/// What the run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Queued input was stored; another request follows.
    Request,
    /// It is over.
    End,
}

/// The way to the owner for its run and its pass.
#[derive(Clone)]
pub(crate) struct Postbox(pub(crate) mpsc::Sender<Mail>);

impl Postbox {
    /// Sends a letter. After the end of the session nobody reads it, and whoever sends ends soon as well.
    pub(crate) async fn send(&self, mail: Mail) {
        let _ = self.0.send(mail).await;
    }

    pub(crate) async fn emit(&self, event: SessionEvent) {
        self.send(Mail::Command(SessionCommand::Emit(Box::new(event)))).await;
    }

    /// Sends an event if there is room for it; for events that a later one replaces.
    pub(crate) fn try_emit(&self, event: SessionEvent) {
        let _ = self.0.try_send(Mail::Command(SessionCommand::Emit(Box::new(event))));
    }

    /// Sends a question and waits for the answer; `None` when the session has ended.
    pub(crate) async fn ask<T>(
        &self,
        letter: impl FnOnce(oneshot::Sender<T>) -> RunMail,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.send(Mail::Run(letter(reply))).await;
        answer.await.ok()
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason".into())
}
