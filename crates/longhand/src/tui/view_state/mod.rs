//! What the screen shows, as a pure fold over the session's events.
//!
//! The same events at the same moments give the same state, whatever the terminal. Nothing here measures, draws or sends; no number is
//! computed that the session did not say. Cost of an event: what it changes, never the length of the transcript.

mod conversation;
pub(crate) mod divider;
pub(crate) mod item;
pub(crate) mod pass;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use longhand_agent::SessionEvent;
use longhand_agent::compaction::Trigger;
use longhand_agent::event::{NoticeLevel, UsageSource};
use longhand_agent::tool::ApprovalQuestion;
use longhand_session::context::SessionContext;
use longhand_session::{Entry, EntryId, EntryKind, Message, MethodId, ToolCallId};

use self::conversation::OpenMessage;
use self::divider::Divider;
use self::item::{Body, Item};
use self::pass::Pass;
use crate::tui::moment::Moment;
use crate::tui::tokens;

/// How long news stays that nobody has to act on.
const INFO_STAYS: Duration = Duration::from_secs(4);

/// What the screen shows of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ViewState {
    items: Vec<Item>,
    /// Where each call stands: item, and place in it.
    calls: HashMap<ToolCallId, (usize, usize)>,
    /// Where the divider of each entry stands.
    dividers: HashMap<EntryId, usize>,
    /// The message of the model that grows.
    open: Option<OpenMessage>,
    /// The model, as `provider/id`.
    pub(crate) model: String,
    /// The size of the context.
    pub(crate) gauge: Gauge,
    /// Cost so far, in USD.
    pub(crate) cost_usd: f64,
    /// The run that is going on.
    pub(crate) run: Option<Run>,
    /// What waits to be delivered.
    pub(crate) queue: Queue,
    /// The maintenance pass that runs.
    pub(crate) pass: Option<Pass>,
    /// Calls that wait for the user, oldest first.
    pub(crate) approvals: VecDeque<(ToolCallId, ApprovalQuestion)>,
    /// News above the editor, oldest first.
    pub(crate) notices: Vec<Notice>,
}

/// The size of the context, as the session said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gauge {
    /// Tokens; `None` where nothing is known.
    pub(crate) tokens: Option<u64>,
    /// Tokens that fit; `None` where that is not known.
    pub(crate) window: Option<u64>,
    /// Where the number comes from.
    pub(crate) source: UsageSource,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { tokens: None, window: None, source: UsageSource::Unknown }
    }
}

/// A run that is going on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    /// Since when.
    pub(crate) since: Moment,
    /// When the first piece of the message that grows came.
    pub(crate) first_piece: Option<Moment>,
    /// Bytes of that message so far.
    pub(crate) received_bytes: usize,
    /// The user wants it to stop.
    pub(crate) is_stopping: bool,
}

/// What waits to be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Queue {
    /// Before the next request.
    pub(crate) steering: Vec<String>,
    /// After the run.
    pub(crate) follow_up: Vec<String>,
}

/// News above the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// How much it matters.
    pub(crate) level: NoticeLevel,
    /// What, in one line.
    pub(crate) text: String,
    /// Since when.
    pub(crate) since: Moment,
}

impl ViewState {
    /// The state of a session that is resumed.
    pub(crate) fn from_transcript(context: &SessionContext) -> Self {
        let mut view = Self::default();
        view.show_transcript(context);
        view
    }

    /// Shows another branch: the transcript is replaced, everything else stays.
    pub(crate) fn show_transcript(&mut self, context: &SessionContext) {
        self.items.clear();
        self.calls.clear();
        self.dividers.clear();
        self.open = None;
        self.cost_usd = 0.0;
        for message in &context.messages {
            self.add_message(message);
        }
        self.abandon_calls();
    }

    /// The transcript, oldest first.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether a run or a pass is going on.
    pub(crate) fn is_busy(&self) -> bool {
        self.run.is_some() || self.pass.is_some()
    }

    /// The newest divider.
    pub(crate) fn newest_divider(&self) -> Option<&Divider> {
        self.items.iter().rev().find_map(|item| match &item.body {
            Body::Divider(divider) => Some(&**divider),
            _ => None,
        })
    }

    /// The text of the model's newest message, empty where there is none.
    pub(crate) fn last_text(&self) -> &str {
        let newest = self.items.iter().rev().find_map(|item| match &item.body {
            Body::Text(block) => Some(block.text()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    /// Takes an event that happened at `now`. Events of no interest change nothing.
    pub(crate) fn apply(&mut self, event: &SessionEvent, now: Moment) {
        match event {
            SessionEvent::AgentStart => {
                self.run = Some(Run {
                    since: now,
                    first_piece: None,
                    received_bytes: 0,
                    is_stopping: false,
                });
            }
            SessionEvent::AgentEnd { .. } => {
                self.run = None;
                self.open = None;
                self.approvals.clear();
                self.abandon_calls();
            }
            SessionEvent::MessageStart { message } => self.start_message(message),
            SessionEvent::MessageUpdate { assistant_message_event, partial } => {
                self.grow_message(assistant_message_event, partial, now);
            }
            SessionEvent::MessageEnd { message, .. } => self.end_message(message),
            SessionEvent::ToolExecutionStart { tool_call_id, tool_name, args } => {
                self.start_call(tool_call_id, tool_name, args);
            }
            SessionEvent::ToolExecutionUpdate { tool_call_id, partial_result, .. } => {
                self.update_call(tool_call_id, partial_result);
            }
            SessionEvent::ToolExecutionEnd { tool_call_id, result, is_error, .. } => {
                self.end_call(tool_call_id, result, *is_error);
            }
            SessionEvent::ApprovalRequest { tool_call_id, question } => {
                self.approvals.push_back((tool_call_id.clone(), question.clone()));
            }
            SessionEvent::ApprovalEnd { tool_call_id } => {
                self.approvals.retain(|(id, _)| id != tool_call_id);
            }
            SessionEvent::AutoCompactionStart { reason, action } => {
                self.start_pass(*reason, action, now);
            }
            SessionEvent::AutoCompactionEnd {
                aborted, error_message, skipped, fallback, ..
            } if !fallback => {
                let outcome = match error_message {
                    _ if *aborted => PassEnd::Cancelled,
                    Some(error) => PassEnd::Failed(error.clone()),
                    None if *skipped => PassEnd::NothingToDo,
                    None => PassEnd::Done,
                };
                self.end_pass(outcome, now);
            }
            SessionEvent::MaintenanceProgress { method, step } => {
                if let Some(pass) = &mut self.pass {
                    pass.progress(method, step);
                }
            }
            SessionEvent::MaintenanceMethodSkipped { method, reason } => {
                if let Some(pass) = &mut self.pass {
                    pass.skip(method, reason);
                }
            }
            SessionEvent::Notice { level, message, .. } => self.notify(*level, message, now),
            SessionEvent::PersistenceError { message } => {
                let text = format!("the transcript could not be written: {message}");
                self.notify(NoticeLevel::Error, text, now);
            }
            SessionEvent::ModelChanged { model } => self.model.clone_from(model),
            SessionEvent::ContextUsage { tokens, window, source } => {
                self.gauge = Gauge { tokens: *tokens, window: *window, source: *source };
            }
            SessionEvent::QueueChanged { steering, follow_up } => {
                self.queue = Queue { steering: steering.clone(), follow_up: follow_up.clone() };
            }
            SessionEvent::EntryAppended { entry } => self.append_entry(entry),
            // A moved leaf and entries changed in place need the transcript, which only the session has.
            _ => {}
        }
    }

    /// Shows news above the editor.
    pub(crate) fn notify(&mut self, level: NoticeLevel, text: impl Into<String>, now: Moment) {
        let text = text.into();
        self.notices.retain(|notice| notice.text != text);
        self.notices.push(Notice { level, text, since: now });
    }

    /// When the time of some news is over.
    pub(crate) fn next_expiry(&self) -> Option<Moment> {
        let info = self.notices.iter().filter(|notice| notice.level == NoticeLevel::Info);
        info.map(|notice| notice.since.after(INFO_STAYS)).min()
    }

    /// Takes away the news whose time is over. Returns whether there was any.
    pub(crate) fn expire_notices(&mut self, now: Moment) -> bool {
        let before = self.notices.len();
        self.notices.retain(|notice| {
            notice.level != NoticeLevel::Info || now < notice.since.after(INFO_STAYS)
        });
        self.notices.len() < before
    }

    /// A key was pressed: warnings were seen.
    pub(crate) fn dismiss_warnings(&mut self) {
        self.notices.retain(|notice| notice.level != NoticeLevel::Warning);
    }

    /// Takes away errors. Returns whether there were any.
    pub(crate) fn dismiss_errors(&mut self) -> bool {
        let before = self.notices.len();
        self.notices.retain(|notice| notice.level != NoticeLevel::Error);
        self.notices.len() < before
    }

    /// A pass begins: an automatic one, or one that the user asked for. One that follows a failed try goes on where that ended.
    pub(crate) fn start_pass(&mut self, trigger: Trigger, action: &str, now: Moment) {
        match &mut self.pass {
            Some(pass) => action.clone_into(&mut pass.action),
            None => self.pass = Some(Pass::new(trigger, action, now)),
        }
    }

    /// A pass has ended.
    pub(crate) fn end_pass(&mut self, end: PassEnd, now: Moment) {
        let Some(pass) = self.pass.take() else { return };
        match end {
            PassEnd::Done => {
                let text = self.result_of(&pass, now);
                self.notify(NoticeLevel::Info, text, now);
            }
            PassEnd::NothingToDo => {}
            PassEnd::Cancelled => {
                let what = match pass.trigger {
                    Trigger::Manual => "Compaction".to_owned(),
                    _ => pass.title(),
                };
                self.notify(NoticeLevel::Info, format!("{what} cancelled"), now);
            }
            PassEnd::Failed(error) => self.notify(NoticeLevel::Error, pass.failure(&error), now),
        }
    }

    /// What a pass did, in one line, from the divider that it left.
    fn result_of(&self, pass: &Pass, now: Moment) -> String {
        let divider = self.newest_divider();
        let by_pass = || pass.methods.last().map(MethodId::as_str);
        let method = divider.and_then(Divider::method).or_else(by_pass).unwrap_or("a summary");
        let taken = divider
            .and_then(|divider| divider.record.as_ref())
            .map_or_else(|| now.since(pass.since), |r| Duration::from_millis(r.duration_ms));
        let taken = tokens::seconds(taken);
        match divider.and_then(Divider::tokens) {
            Some((before, after)) => format!(
                "Compacted with {method}: {} → {} tokens ({}) in {taken}",
                tokens::grouped(before),
                tokens::grouped(after),
                tokens::difference(before, after),
            ),
            None => format!("Compacted with {method} in {taken}"),
        }
    }

    /// An entry that is no message: a divider, or the record of the pass that made one.
    fn append_entry(&mut self, entry: &Arc<Entry>) {
        let at_millis = entry.timestamp.millis().unwrap_or(0);
        match &entry.kind {
            EntryKind::Compaction(compaction) => {
                let divider = Divider::of_entry(compaction, at_millis);
                match self.items.last_mut() {
                    Some(Item { revision, body: Body::Divider(last) })
                        if divider.replaces(last) =>
                    {
                        *revision += 1;
                        **last = divider;
                        self.dividers.insert(entry.id.clone(), self.items.len() - 1);
                    }
                    _ => self.push_divider(&entry.id, divider),
                }
            }
            EntryKind::BranchSummary(branch) if !branch.summary.is_empty() => {
                self.push_divider(&entry.id, Divider::of_branch(branch, at_millis));
            }
            EntryKind::ResetBoundary(_) => {
                self.push_divider(&entry.id, Divider::cleared(at_millis));
            }
            EntryKind::Custom(custom) => {
                let Some((of, record)) = divider::record_of(custom) else { return };
                match of.and_then(|id| self.dividers.get(&id).copied()) {
                    Some(at) => self.change(at, |body| {
                        if let Body::Divider(divider) = body {
                            divider.record = Some(record);
                        }
                    }),
                    // Pruning goes on all the time; a rule for each would drown the conversation.
                    None if record.kind == "prune" => {}
                    None => self.push_divider(&entry.id, Divider::reduced(record, at_millis)),
                }
            }
            EntryKind::CustomMessage(message) if message.display => {
                let text = match message.content.value() {
                    serde_json::Value::String(text) => text.clone(),
                    other => other
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|block| block.get("text")?.as_str())
                        .collect(),
                };
                self.push(Body::Custom { kind: message.custom_type.clone(), text });
            }
            // Settings, labels and what is kept for others.
            _ => {}
        }
    }

    /// An entry that was changed in place: a result that the model no longer sees in full shows what took its place.
    pub(crate) fn replace_entry(&mut self, entry: &Entry) {
        if let Some(message) = entry.message()
            && let Some(result) = message.as_tool_result()
        {
            self.replace_result(&result.tool_call_id, message);
        }
    }

    fn push_divider(&mut self, entry: &EntryId, divider: Divider) {
        self.dividers.insert(entry.clone(), self.items.len());
        self.push(Body::Divider(Box::new(divider)));
    }

    fn push(&mut self, body: Body) -> usize {
        self.items.push(Item { revision: 0, body });
        self.items.len() - 1
    }

    /// Changes an item's body; its layout is stale from then on.
    fn change(&mut self, at: usize, change: impl FnOnce(&mut Body)) {
        if let Some(item) = self.items.get_mut(at) {
            item.revision += 1;
            change(&mut item.body);
        }
    }

    fn add_cost(&mut self, message: &Message) {
        let usage = message.as_assistant().and_then(|message| message.usage.as_ref());
        if let Some(cost) = usage.and_then(|usage| usage.cost.as_ref()) {
            self.cost_usd += cost.total.0;
        }
    }
}

/// How a pass ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PassEnd {
    /// The context is shorter.
    Done,
    /// There was nothing to do.
    NothingToDo,
    /// It was stopped; nothing was changed.
    Cancelled,
    /// It failed; nothing was changed.
    Failed(String),
}
