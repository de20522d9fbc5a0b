//! The turn loop: request, answer, tool calls, and again, until the model has answered and nobody has more to say.
//!
//! A run is a task of its own. It works on snapshots and changes the session only through letters to the owner. It decides when
//! maintenance is asked, never what maintenance does.
//!
//! - A message is in the store before anybody hears that it is complete.
//! - Each tool call is followed by one result, in the order of the calls, however the turn ends.
//! - Steering is delivered before the next request, follow-ups when the run would end; neither after the user has stopped it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use longhand_prompts::Prompts;
use longhand_session::message::StopReason;
use longhand_session::time::Clock;
use longhand_session::{AssistantMessage, Entry, Message, llm};
use tokio_util::sync::CancellationToken;

use crate::answer::{self, Answer};
use crate::commit::EntryDraft;
use crate::event::{NoticeLevel, SessionEvent};
use crate::grace;
use crate::handle::SessionHandle;
use crate::mail::{
    AtEnd, Delivered, Delivery, Heard, Hook, Mail, Next, Postbox, RunMail, RunReport, panic_text,
};
use crate::maintenance::{Continuation, Maintenance, Verdict};
use crate::owner::message_draft;
use crate::request::{Request, RequestOptions};
use crate::start::Asking;
use crate::tool::{Gate, Tool};
use crate::tool_calls::ToolCalls;
use crate::transform::{Recipient, RequestTransform};

/// How often in a row a reply may be cut off within its calls. A model that does it again will do it for ever.
const MAX_CUT_OFF_ROUNDS: u32 = 3;

/// What the runs of a session are made of.
pub(crate) struct Surroundings {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) asking: Asking,
    pub(crate) maintenance: Arc<dyn Maintenance>,
    pub(crate) transforms: Vec<Arc<dyn RequestTransform>>,
    pub(crate) options: RequestOptions,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// One run.
pub(crate) struct Run {
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) postbox: Postbox,
    session: SessionHandle,
    /// Ends the turn.
    pub(crate) turn: CancellationToken,
    /// The last message of the model.
    last: Option<Arc<Message>>,
    pub(crate) approval_was_needed: bool,
    cut_off_rounds: u32,
}

/// What a run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// The user has said something: maintenance looks at it first.
    Prompt,
    /// A request is due.
    Request,
}

/// How one round ended.
enum Round {
    /// Calls were answered; the model waits.
    Called(Arc<Message>),
    /// The model has answered, or will not get further.
    Answered(Arc<Message>),
    /// The request failed.
    Failed(Arc<Message>),
    /// The user stopped it.
    Stopped,
    /// There is nothing that a model could answer.
    Pointless,
}

impl Run {
    pub(crate) fn new(
        surroundings: Arc<Surroundings>,
        postbox: Postbox,
        session: SessionHandle,
        turn: CancellationToken,
    ) -> Self {
        let (last, approval_was_needed, cut_off_rounds) = (None, false, 0);
        Self { surroundings, postbox, session, turn, last, approval_was_needed, cut_off_rounds }
    }

    /// Runs until the session is settled. A panic of a seam ends the run, not the session.
    pub(crate) async fn go(self, begin: Begin) {
        let postbox = self.postbox.clone();
        if let Err(panic) = AssertUnwindSafe(self.work(begin)).catch_unwind().await {
            postbox.send(Mail::Run(RunMail::Panicked(panic_text(&*panic)))).await;
        }
    }

    async fn work(mut self, begin: Begin) {
        let mut next = Some(begin);
        while let Some(begin) = next {
            if begin == Begin::Prompt {
                self.ask(Hook::BeforePrompt, None).await;
            }
            self.deliver(Delivery::Steering).await;
            next = match self.round().await {
                _ if self.turn.is_cancelled() => self.finish(AtEnd::Keeps).await,
                Round::Called(message) => {
                    self.ask(Hook::BetweenRounds, Some(&message)).await;
                    Some(Begin::Request)
                }
                Round::Answered(message) => self.after_answer(&message).await,
                Round::Failed(message) => self.after_failure(&message).await,
                Round::Stopped | Round::Pointless => self.finish(AtEnd::Keeps).await,
            };
        }
    }

    /// One request, its answer, and the results of its calls.
    async fn round(&mut self) -> Round {
        if self.turn.is_cancelled() {
            return Round::Stopped;
        }
        let live = self.session.live();
        let Some(request) = self.request() else {
            self.tell_pointless().await;
            return Round::Pointless;
        };
        self.postbox.emit(SessionEvent::TurnStart).await;
        let now = || self.surroundings.clock.now_millis();
        let reply = answer::receive(&*live.client, request, &self.turn, &self.postbox, &now).await;
        let Some(stored) = self.keep(reply).await else { return Round::Stopped };
        let round = self.answer_calls(&stored).await;
        self.last = Some(stored);
        round
    }

    /// What the model is asked; `None` where it has the last word.
    fn request(&self) -> Option<Request> {
        let live = self.session.live();
        let branch = self.session.snapshot();
        let messages = llm::request_messages(&branch.live, &self.surroundings.prompts);
        if messages.last().is_none_or(|last| last.as_assistant().is_some()) {
            return None;
        }
        let mut options = self.surroundings.options.clone();
        options.cache_key.get_or_insert_with(|| branch.session.as_str().into());
        let (system, tools) = (live.system.to_vec(), live.tools.clone());
        let request = Request { system, messages, tools, options };
        let transforms = self.surroundings.transforms.iter();
        let counter = live.counter();
        let recipient = Recipient { model: live.client.model(), counter: &*counter };
        Some(transforms.fold(request, |request, transform| transform.apply(request, &recipient)))
    }

    /// Stores an answer. One that failed before it said anything is only heard of. `None` when the session has ended.
    async fn keep(&mut self, Answer(reply): Answer) -> Option<Arc<Message>> {
        let is_empty = reply.is_unfinished() && reply.content.is_empty();
        let message = Message::Assistant(Box::new(reply));
        if is_empty {
            let message = Arc::new(message);
            self.postbox.send(Mail::Run(RunMail::Unstored(message.clone()))).await;
            return Some(message);
        }
        let stored = self.append(vec![message_draft(message)], Heard::End).await;
        stored.first()?.message().cloned()
    }

    async fn answer_calls(&mut self, stored: &Arc<Message>) -> Round {
        let Some(reply) = stored.as_assistant() else { return Round::Stopped };
        let has_calls = reply.tool_calls().next().is_some();
        let results = if has_calls { ToolCalls::of(self).answer(reply).await } else { Vec::new() };
        let ended = SessionEvent::TurnEnd { message: stored.clone(), tool_results: results };
        self.postbox.emit(ended).await;
        let is_cut_off = has_calls && reply.stop_reason == StopReason::Length;
        self.cut_off_rounds = if is_cut_off { self.cut_off_rounds + 1 } else { 0 };
        match reply.stop_reason {
            StopReason::Aborted => Round::Stopped,
            StopReason::Error => Round::Failed(stored.clone()),
            _ if has_calls && self.cut_off_rounds < MAX_CUT_OFF_ROUNDS => {
                Round::Called(stored.clone())
            }
            _ => Round::Answered(stored.clone()),
        }
    }

    /// The run would stop here: queued input comes first, then maintenance looks at what was measured.
    async fn after_answer(&mut self, message: &Arc<Message>) -> Option<Begin> {
        if self.deliver(Delivery::SteeringOrFollowUp).await == Delivered::Something {
            return Some(Begin::Prompt);
        }
        let verdict = self.ask(Hook::AfterRun, Some(message)).await;
        match self.go_on(verdict).await {
            Some(begin) => Some(begin),
            None => self.finish(AtEnd::Drains).await,
        }
    }

    /// A request failed: maintenance may know a way. Without one, queued input waits, so that it is not spent on a model that
    /// does not answer.
    async fn after_failure(&mut self, message: &Arc<Message>) -> Option<Begin> {
        let verdict = self.ask(Hook::AfterRun, Some(message)).await;
        match self.go_on(verdict).await {
            Some(begin) => Some(begin),
            None => self.finish(AtEnd::Keeps).await,
        }
    }

    /// Does what maintenance planned, unless the user stopped the turn meanwhile.
    async fn go_on(&mut self, verdict: Verdict) -> Option<Begin> {
        let continuation =
            verdict.continuation.filter(|_| !verdict.blocked && !self.turn.is_cancelled())?;
        if let Continuation::Prompt(text) = continuation {
            self.postbox.ask(|reply| RunMail::GoOn { text, reply }).await?;
        }
        Some(Begin::Request)
    }

    async fn finish(&mut self, queue: AtEnd) -> Option<Begin> {
        let report = RunReport {
            last: self.last.clone(),
            approval_was_needed: self.approval_was_needed,
            queue,
        };
        match self.postbox.ask(|reply| RunMail::Finish(report, reply)).await {
            Some(Next::Request) => Some(Begin::Request),
            Some(Next::End) | None => None,
        }
    }

    /// Asks maintenance. The owner holds the token meanwhile, so that a pass can be stopped apart from the turn. A hook that does
    /// not end after it was stopped is dropped.
    async fn ask(&mut self, hook: Hook, last: Option<&Arc<Message>>) -> Verdict {
        let empty = AssistantMessage::default();
        let last = last.and_then(|message| message.as_assistant()).unwrap_or(&empty);
        let cancel = CancellationToken::new();
        self.postbox.send(Mail::Run(RunMail::HookBegan(hook, cancel.clone()))).await;
        let (maintenance, session) = (&self.surroundings.maintenance, &self.session);
        let asked = async {
            match hook {
                Hook::BeforePrompt => maintenance.before_prompt(session, &[], &cancel).await,
                Hook::BetweenRounds => maintenance.between_rounds(session, last, &cancel).await,
                Hook::AfterRun => maintenance.after_run(session, last, &cancel).await,
            }
        };
        let verdict = grace::until_over(asked, &cancel).await.unwrap_or_default();
        self.postbox.send(Mail::Run(RunMail::HookEnded)).await;
        verdict
    }

    async fn deliver(&self, delivery: Delivery) -> Delivered {
        let delivered = self.postbox.ask(|reply| RunMail::Deliver(delivery, reply)).await;
        delivered.unwrap_or(Delivered::Nothing)
    }

    /// Stores entries; they are on the branch when this returns. Empty when the session has ended.
    pub(crate) async fn append(&self, drafts: Vec<EntryDraft>, heard: Heard) -> Vec<Arc<Entry>> {
        let stored = self.postbox.ask(|reply| RunMail::Append { drafts, heard, reply }).await;
        stored.unwrap_or_default()
    }

    async fn tell_pointless(&self) {
        let notice = SessionEvent::Notice {
            level: NoticeLevel::Warning,
            message: "the model has the last word; there is nothing to ask it".into(),
            source: "agent".into(),
            code: Some("agent.nothing_to_ask".into()),
        };
        self.postbox.emit(notice).await;
    }
}
