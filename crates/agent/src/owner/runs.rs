//! Runs, as their owner sees them: who may start one, what it is told, and what is left when it ends.

use std::collections::HashMap;
use std::sync::Arc;

use longhand_session::entry::MessageEntry;
use longhand_session::message::{Attribution, UserMessage};
use longhand_session::{EntryKind, Message, ToolCallId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::passes::Requested;
use super::{Activity, Owner, PromptReply};
use crate::command::{PromptError, RunEnd, UserInput};
use crate::commit::EntryDraft;
use crate::event::{NoticeLevel, SessionEvent};
use crate::mail::{AtEnd, Delivered, Delivery, Heard, Hook, Next, RunMail, RunReport};
use crate::maintenance::Continuation;
use crate::run::{Begin, Run};
use crate::tool::{ApprovalAnswer, ApprovalQuestion};

/// A run that is going on.
pub(super) struct ActiveRun {
    /// Ends the turn.
    turn: CancellationToken,
    /// The question that maintenance is asked now.
    hook: Option<OpenHook>,
    approvals: HashMap<ToolCallId, oneshot::Sender<ApprovalAnswer>>,
    pub(super) record: RunRecord,
    /// The pass that the user asked for meanwhile; it begins when the run has ended.
    pub(super) then: Option<Requested>,
}

/// What outlives a run that is interrupted and resumed: its end is told once.
#[derive(Default)]
pub(super) struct RunRecord {
    pub(super) reply: Option<PromptReply>,
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) end: Option<RunEnd>,
}

struct OpenHook {
    hook: Hook,
    cancel: CancellationToken,
    /// What listeners have been told that a pass does, while it does.
    announced: Option<String>,
}

impl ActiveRun {
    /// Takes note of what maintenance tells everyone.
    pub(super) fn note(&mut self, event: &SessionEvent) {
        let Some(hook) = &mut self.hook else { return };
        match event {
            SessionEvent::AutoCompactionStart { action, .. } => {
                hook.announced = Some(action.clone());
            }
            SessionEvent::AutoCompactionEnd { .. } => hook.announced = None,
            _ => {}
        }
    }

    /// Whether the user still waits for an answer.
    pub(super) fn is_unanswered(&self) -> bool {
        self.hook.as_ref().is_none_or(|open| open.hook != Hook::AfterRun)
    }

    /// Stops a pass that listeners know of. Returns whether there was one.
    fn stop_pass(&self) -> bool {
        let pass = self.hook.as_ref().filter(|open| open.announced.is_some());
        pass.inspect(|open| open.cancel.cancel()).is_some()
    }

    /// Stops everything. Returns the calls whose questions are void.
    pub(super) fn stop(&mut self) -> Vec<ToolCallId> {
        self.turn.cancel();
        if let Some(open) = &self.hook {
            open.cancel.cancel();
        }
        self.approvals.drain().map(|(call, _)| call).collect()
    }
}

impl Owner {
    pub(super) async fn prompt(&mut self, input: UserInput, reply: PromptReply) {
        let refusal = match &self.state.activity {
            _ if self.state.is_closing => Some(PromptError::Closed),
            _ if input.text.trim().is_empty() && input.images.is_empty() => {
                Some(PromptError::Empty)
            }
            Activity::Run(run) if run.then.is_none() => Some(PromptError::Busy),
            Activity::Nobody | Activity::Run(_) | Activity::Pass(_) => None,
        };
        if let Some(refusal) = refusal {
            let _ = reply.send(Err(refusal));
        } else if let Activity::Nobody = self.state.activity {
            self.start_run(vec![input], Some(reply)).await;
        } else {
            self.state.waiting.push_back((input, reply));
        }
    }

    pub(super) async fn steer(&mut self, input: UserInput) {
        match self.state.activity {
            _ if self.state.is_closing => {}
            Activity::Nobody => self.start_run(vec![input], None).await,
            Activity::Run(_) | Activity::Pass(_) => {
                self.state.queue.steer(input);
                self.emit_queue();
            }
        }
    }

    pub(super) async fn follow_up(&mut self, input: UserInput) {
        match self.state.activity {
            _ if self.state.is_closing => {}
            Activity::Nobody => self.start_run(vec![input], None).await,
            Activity::Run(_) | Activity::Pass(_) => {
                self.state.queue.follow_up(input);
                self.emit_queue();
            }
        }
    }

    /// Stops a pass if listeners know of one, else the turn.
    pub(super) fn abort(&mut self) {
        let stops_turn = match &self.state.activity {
            Activity::Nobody => return,
            Activity::Pass(pass) => {
                pass.cancel.cancel();
                false
            }
            Activity::Run(run) => !run.stop_pass(),
        };
        if stops_turn {
            self.stop_turn();
        }
        self.branch.abort();
        self.publish();
    }

    /// Stops the run or the pass that is going on, whatever it is doing.
    pub(super) fn stop_everything(&mut self) {
        if let Activity::Pass(pass) = &self.state.activity {
            pass.cancel.cancel();
        }
        self.stop_turn();
        self.branch.abort();
        self.publish();
    }

    pub(super) fn stop_turn(&mut self) {
        let Activity::Run(run) = &mut self.state.activity else { return };
        if let Some(requested) = &run.then {
            requested.cancel.cancel();
        }
        for tool_call_id in run.stop() {
            self.emit(SessionEvent::ApprovalEnd { tool_call_id });
        }
    }

    /// Hands the user's answer to the call that waits for it.
    pub(super) fn answer(&mut self, call: &ToolCallId, answer: ApprovalAnswer) {
        let Activity::Run(run) = &mut self.state.activity else { return };
        let Some(waiting) = run.approvals.remove(call) else { return };
        let ends_turn = answer == ApprovalAnswer::Stop;
        let _ = waiting.send(answer);
        self.emit(SessionEvent::ApprovalEnd { tool_call_id: call.clone() });
        if ends_turn {
            self.stop_turn();
            self.branch.abort();
            self.publish();
        }
    }

    /// Starts a run with messages of the user, which are in the store before anything else happens.
    pub(super) async fn start_run(&mut self, inputs: Vec<UserInput>, reply: Option<PromptReply>) {
        let record = RunRecord { reply, ..RunRecord::default() };
        let drafts =
            inputs.into_iter().map(|input| self.user_draft(input, Typed::Before)).collect();
        self.spawn_run(record, drafts, Begin::Prompt).await;
    }

    /// Goes on with a run that a pass of the user interrupted.
    pub(super) async fn resume_run(&mut self, record: RunRecord, how: Continuation) {
        let drafts = match how {
            Continuation::Retry => Vec::new(),
            Continuation::Prompt(text) => vec![self.developer_draft(text)],
        };
        self.spawn_run(record, drafts, Begin::Request).await;
    }

    /// Stores what a run begins with, and spawns its task.
    async fn spawn_run(&mut self, record: RunRecord, drafts: Vec<EntryDraft>, begin: Begin) {
        let Some((postbox, session)) = self.postbox().zip(self.handle()) else { return };
        let turn = CancellationToken::new();
        let is_resumed = record.end.is_some();
        self.state.activity = Activity::Run(ActiveRun {
            turn: turn.clone(),
            hook: None,
            approvals: HashMap::new(),
            record,
            then: None,
        });
        let entries = self.chained(drafts);
        let failure = self.store(&entries).await;
        if !is_resumed {
            self.emit(SessionEvent::AgentStart);
        }
        self.tell_of(&entries, Heard::Whole);
        self.tell_of_failure(failure.as_deref());
        let run = Run::new(self.surroundings.clone(), postbox.clone(), session, turn);
        tokio::spawn(run.go(begin));
    }

    pub(super) async fn take_run_mail(&mut self, mail: RunMail) {
        match mail {
            RunMail::Append { drafts, heard, reply } => {
                let _ = reply.send(self.append(drafts, heard).await);
            }
            RunMail::Unstored(message) => {
                self.tell_of_message(&message, None, Heard::End);
            }
            RunMail::HookBegan(hook, cancel) => {
                if let Activity::Run(run) = &mut self.state.activity {
                    if run.turn.is_cancelled() {
                        cancel.cancel();
                    }
                    run.hook = Some(OpenHook { hook, cancel, announced: None });
                }
            }
            RunMail::HookEnded => self.end_hook(),
            RunMail::Ask { call, question, reply } => self.ask_user(call, question, reply),
            RunMail::Deliver(delivery, reply) => {
                let _ = reply.send(self.deliver(delivery).await);
            }
            RunMail::GoOn { text, reply } => {
                let is_stopped =
                    matches!(&self.state.activity, Activity::Run(run) if run.turn.is_cancelled());
                let delivered = self.deliver(Delivery::SteeringOrFollowUp).await;
                if delivered == Delivered::Nothing && !is_stopped {
                    let draft = self.developer_draft(text);
                    self.append(vec![draft], Heard::Whole).await;
                }
                let _ = reply.send(());
            }
            RunMail::Finish(report, reply) => {
                let next = self.finish(report).await;
                let _ = reply.send(next);
            }
            RunMail::Panicked(text) => self.end_panicked_run(text).await,
        }
    }

    /// Maintenance has answered, or was left behind: then the pass that listeners know of ends for them as well.
    fn end_hook(&mut self) {
        let Activity::Run(run) = &mut self.state.activity else { return };
        let left_behind = run.hook.take().and_then(|open| open.announced);
        if let Some(action) = left_behind {
            self.emit(SessionEvent::AutoCompactionEnd {
                action,
                result: None,
                aborted: true,
                will_retry: false,
                error_message: None,
                skipped: false,
                fallback: false,
            });
        }
    }

    fn ask_user(
        &mut self,
        call: ToolCallId,
        question: ApprovalQuestion,
        reply: oneshot::Sender<ApprovalAnswer>,
    ) {
        let Activity::Run(run) = &mut self.state.activity else { return };
        // A turn that is being stopped asks nothing; the dropped reply tells it so.
        if run.turn.is_cancelled() {
            return;
        }
        run.approvals.insert(call.clone(), reply);
        self.emit(SessionEvent::ApprovalRequest { tool_call_id: call, question });
    }

    /// Stores queued input at the leaf. A turn that is being stopped gets none: it stays in the queue.
    async fn deliver(&mut self, delivery: Delivery) -> Delivered {
        let Activity::Run(run) = &self.state.activity else { return Delivered::Nothing };
        if run.turn.is_cancelled() {
            return Delivered::Nothing;
        }
        let steering = self.state.queue.take_steering();
        let mut drafts: Vec<EntryDraft> =
            steering.into_iter().map(|input| self.user_draft(input, Typed::Meanwhile)).collect();
        if drafts.is_empty() && delivery == Delivery::SteeringOrFollowUp {
            let follow_up = self.state.queue.take_follow_up();
            drafts.extend(follow_up.map(|input| self.user_draft(input, Typed::Before)));
        }
        if drafts.is_empty() {
            return Delivered::Nothing;
        }
        self.append(drafts, Heard::Whole).await;
        self.emit_queue();
        Delivered::Something
    }

    /// Ends a run, unless there is something left to say.
    async fn finish(&mut self, report: RunReport) -> Next {
        let drains = report.queue == AtEnd::Drains;
        if drains && self.deliver(Delivery::SteeringOrFollowUp).await == Delivered::Something {
            return Next::Request;
        }
        let end = RunEnd { last: report.last, approval_was_needed: report.approval_was_needed };
        self.end_run(end).await;
        Next::End
    }

    async fn end_panicked_run(&mut self, text: String) {
        self.end_hook();
        self.emit(SessionEvent::Notice {
            level: NoticeLevel::Error,
            message: format!("the run ended by a defect of the program: {text}"),
            source: "agent".into(),
            code: Some("agent.panicked".into()),
        });
        self.end_run(RunEnd { last: None, approval_was_needed: false }).await;
    }

    async fn end_run(&mut self, end: RunEnd) {
        let Activity::Run(run) = std::mem::take(&mut self.state.activity) else { return };
        let ActiveRun { mut record, then, .. } = run;
        record.end = Some(end);
        if let Some(requested) = then {
            self.start_pass(requested, Some(record));
        } else {
            self.tell_end(record);
            self.start_waiting().await;
        }
    }

    /// Tells that a run has settled, and answers its prompt.
    pub(super) fn tell_end(&mut self, record: RunRecord) {
        let RunRecord { reply, messages, end } = record;
        self.emit(SessionEvent::AgentEnd { messages, is_terminal: true });
        if let (Some(reply), Some(end)) = (reply, end) {
            let _ = reply.send(Ok(end));
        }
    }

    /// Starts the next of the prompts that wait, when nobody has the session.
    pub(super) async fn start_waiting(&mut self) {
        if let Some((input, reply)) = self.state.waiting.pop_front() {
            self.start_run(vec![input], Some(reply)).await;
        }
    }

    pub(super) fn user_draft(&self, input: UserInput, typed: Typed) -> EntryDraft {
        message_draft(Message::User(UserMessage {
            content: input.into_content(),
            steering: (typed == Typed::Meanwhile).then_some(true),
            attribution: Some(Attribution::User),
            timestamp: self.clock.now_millis(),
            ..UserMessage::default()
        }))
    }

    fn developer_draft(&self, text: String) -> EntryDraft {
        message_draft(Message::Developer(UserMessage {
            content: longhand_session::Content::Text(text),
            synthetic: Some(true),
            attribution: Some(Attribution::Agent),
            timestamp: self.clock.now_millis(),
            ..UserMessage::default()
        }))
    }
}

/// When the user typed a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// As a request of its own.
    Before,
    /// While a turn was running.
    Meanwhile,
}

/// A message as an entry that has no id yet.
pub(crate) fn message_draft(message: Message) -> EntryDraft {
    let message = Arc::new(message);
    EntryKind::Message(MessageEntry { message, ..MessageEntry::default() }).into()
}
