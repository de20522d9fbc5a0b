//! Records into units: what one turn of the model, one record of the user or one compaction becomes.
//!
//! Records of one reply, which is written a block at a time, become one message. Entries have their ids here, and get their parents
//! later. The same records give the same units each time, so that a first look can tell where everything hangs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::value::RawValue;

use super::content::{self, Part};
use super::record::{Failure, Kind, Record};
use crate::block::{Block, Content};
use crate::entry::{CompactionEntry, EntryKind};
use crate::ids::{EntryId, ToolCallId};
use crate::import::fields::{count, members, name, text, words};
use crate::import::parts;
use crate::import::tally::Tally;
use crate::message::{AssistantMessage, StopReason, ToolResult};
use crate::usage::Usage;

const API: &str = "anthropic-messages";
pub(super) const PROVIDER: &str = "anthropic";

/// The name of a tool or a model that nobody named.
const UNKNOWN: &str = "unknown";

/// What Claude Code writes as the model of messages that it made itself.
const SYNTHETIC: &str = "<synthetic>";

/// A reply of more bytes goes on as another message, so that a file that is one reply is not held in memory.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// Longest uuid that becomes part of ids. They are repeated in many entries; real ones have 36 bytes.
const MAX_UUID_BYTES: usize = 64;

/// Entries that hang on each other in a chain, the first of them on the unit that the first record follows.
pub(super) struct Unit {
    /// Start of all its ids.
    pub(super) id_start: String,
    /// Milliseconds since the epoch.
    pub(super) millis: i64,
    pub(super) entries: Vec<(EntryId, EntryKind)>,
    /// The model of the reply, where another may have to go on with it.
    pub(super) model: Option<Arc<str>>,
}

/// What became of a record.
pub(super) struct Step {
    pub(super) place: Place,
    /// The reply that it is part of.
    pub(super) reply_id: Option<String>,
    /// Calls of tools in it.
    pub(super) calls: Vec<ToolCallId>,
    /// Calls that it answers.
    pub(super) answers: Vec<ToolCallId>,
}

/// Where a record went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere.
    Skipped,
    /// Into the unit of the record before.
    Joined,
    /// Into a unit of its own.
    Began,
}

#[derive(Default)]
pub(super) struct Converter {
    /// Messages so far; part of ids.
    messages: u64,
    tools: HashMap<ToolCallId, Arc<str>>,
    models: Models,
    open: Option<Box<OpenReply>>,
    ready: VecDeque<Unit>,
    /// Tokens before the compaction whose summary comes next.
    compacted_tokens: u64,
    last_millis: i64,
    pub(super) tally: Tally,
}

/// Names that many replies share.
#[derive(Default)]
struct Models(Option<Arc<str>>);

impl Models {
    fn shared(&mut self, name: String) -> Arc<str> {
        match &self.0 {
            Some(last) if **last == *name => Arc::clone(last),
            _ => Arc::clone(self.0.insert(name.into())),
        }
    }
}

/// A reply that the next record may go on with.
struct OpenReply {
    id_start: String,
    millis: i64,
    reply_id: Option<String>,
    bytes: usize,
    message: AssistantMessage,
}

impl Converter {
    /// Takes a record. Units that it finishes are ready then.
    pub(super) fn take(&mut self, record: &Record<'_>) -> Step {
        let millis = record.millis.unwrap_or(self.last_millis);
        self.last_millis = millis;
        match &record.kind {
            Kind::Assistant => self.reply(record, millis),
            Kind::User => self.user(record, millis),
            Kind::CompactSummary => self.summary(record, millis),
            Kind::CompactBoundary => {
                self.compacted_tokens = record.compacted_tokens;
                Step::skipped()
            }
            Kind::CustomTitle(_) | Kind::AiTitle(_) => Step::skipped(),
            Kind::Skipped(name) => {
                self.tally.skip(name);
                Step::skipped()
            }
        }
    }

    /// The oldest unit that is finished.
    pub(super) fn ready(&mut self) -> Option<Unit> {
        self.ready.pop_front()
    }

    /// Finishes the last unit.
    pub(super) fn finish(&mut self) {
        if let Some(open) = self.open.take() {
            let id = self.message_id(&open.id_start, "message");
            let is_of_a_model = open.message.model != SYNTHETIC;
            let model = is_of_a_model.then(|| self.models.shared(open.message.model.clone()));
            let entries = vec![(id, parts::reply(open.message))];
            self.ready.push_back(Unit {
                id_start: open.id_start,
                millis: open.millis,
                entries,
                model,
            });
        }
    }

    fn reply(&mut self, record: &Record<'_>, millis: i64) -> Step {
        let [id, model, content, stopped_by, usage] =
            members(record.message, ["id", "model", "content", "stop_reason", "usage"]);
        let blocks = content::of_reply(content, &mut self.tally);
        let Failure { is_error, message: error, status } = record.failure.clone();
        if blocks.is_empty() && !is_error && error.is_none() {
            self.tally.skip("empty reply");
            return Step::skipped();
        }
        let mut step = Step { reply_id: words(id), ..Step::skipped() };
        for call in blocks.iter().filter_map(Block::as_tool_call) {
            self.tools.insert(call.id.clone(), call.name.as_str().into());
            step.calls.push(call.id.clone());
        }
        let bytes = content.map_or(0, |raw| raw.get().len());
        step.place = match &mut self.open {
            Some(open) if open.takes(step.reply_id.as_deref(), bytes) => Place::Joined,
            _ => Place::Began,
        };
        if step.place == Place::Began {
            self.finish();
            let message = AssistantMessage {
                api: API.into(),
                provider: PROVIDER.into(),
                model: name(model).unwrap_or_else(|| UNKNOWN.into()),
                response_id: step.reply_id.clone(),
                timestamp: millis,
                ..AssistantMessage::default()
            };
            let reply_id = step.reply_id.clone();
            let id_start = id_start(record);
            self.open = Some(Box::new(OpenReply { id_start, millis, reply_id, bytes: 0, message }));
        }
        if let Some(open) = &mut self.open {
            open.bytes += bytes;
            open.message.content.extend(blocks);
            open.message.usage = Some(read_usage(usage));
            open.message.stop_reason = stop_reason(stopped_by, is_error);
            open.message.error_message = error.or(open.message.error_message.take());
            open.message.error_status = status.or(open.message.error_status);
        }
        step
    }

    fn user(&mut self, record: &Record<'_>, millis: i64) -> Step {
        let [content] = members(record.message, ["content"]);
        let parts = content::of_user(content, &mut self.tally);
        if parts.is_empty() {
            self.tally.skip("empty message");
            return Step::skipped();
        }
        self.finish();
        let mut answers = Vec::new();
        let id_start = id_start(record);
        let mut entries = Vec::with_capacity(parts.len());
        for part in parts {
            entries.push(match part {
                Part::Said { index: None, content } => {
                    (self.message_id(&id_start, "message"), parts::user(content, millis))
                }
                Part::Said { index: Some(index), content } => {
                    let suffix = format!("user-{index}");
                    (self.message_id(&id_start, &suffix), parts::user(content, millis))
                }
                Part::Result { index, call, content, is_error } => {
                    answers.push(call.clone());
                    let tool = self.tools.get(&call).map_or(UNKNOWN, |tool| tool);
                    let result = parts::result(ToolResult {
                        tool_call_id: call,
                        tool_name: tool.to_owned(),
                        content,
                        is_error,
                        timestamp: millis,
                        ..ToolResult::default()
                    });
                    (self.message_id(&id_start, &format!("tool-{index}")), result)
                }
            });
        }
        self.ready.push_back(Unit { id_start, millis, entries, model: None });
        Step { place: Place::Began, answers, ..Step::skipped() }
    }

    fn summary(&mut self, record: &Record<'_>, millis: i64) -> Step {
        let [content] = members(record.message, ["content"]);
        let texts = content::of_user(content, &mut self.tally).into_iter().map(|part| match part {
            Part::Said { content, .. } => content.text(),
            Part::Result { content, .. } => Content::Blocks(content).text(),
        });
        let summary = texts.collect::<Vec<_>>().join("\n").trim().to_owned();
        let tokens_before = std::mem::take(&mut self.compacted_tokens);
        if summary.is_empty() {
            self.tally.skip("empty summary");
            return Step::skipped();
        }
        self.finish();
        let id_start = id_start(record);
        let id = self.message_id(&id_start, "compaction");
        let compaction = EntryKind::Compaction(Box::new(CompactionEntry {
            summary,
            // Its own id: nothing before it is kept.
            first_kept_entry_id: id.clone(),
            tokens_before,
            ..CompactionEntry::default()
        }));
        self.ready.push_back(Unit {
            id_start,
            millis,
            entries: vec![(id, compaction)],
            model: None,
        });
        Step { place: Place::Began, ..Step::skipped() }
    }

    fn message_id(&mut self, id_start: &str, suffix: &str) -> EntryId {
        self.messages += 1;
        EntryId::from(format!("{id_start}-{suffix}-{}", self.messages))
    }
}

impl Step {
    fn skipped() -> Self {
        Self { place: Place::Skipped, reply_id: None, calls: Vec::new(), answers: Vec::new() }
    }
}

impl OpenReply {
    fn takes(&self, reply_id: Option<&str>, bytes: usize) -> bool {
        reply_id.is_some()
            && self.reply_id.as_deref() == reply_id
            && self.bytes + bytes <= MAX_REPLY_BYTES
    }
}

fn id_start(record: &Record<'_>) -> String {
    match &record.uuid {
        Some(uuid) if uuid.len() <= MAX_UUID_BYTES => format!("claude-{uuid}"),
        _ => format!("claude-line-{}", record.line),
    }
}

fn read_usage(usage: Option<&RawValue>) -> Usage {
    let [input, output, cache_read, cache_write] = members(
        usage,
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"],
    );
    parts::usage(count(input), count(output), count(cache_read), count(cache_write))
}

fn stop_reason(stop: Option<&RawValue>, is_error: bool) -> StopReason {
    match text(stop).as_deref() {
        _ if is_error => StopReason::Error,
        Some("tool_use") => StopReason::ToolUse,
        Some("max_tokens") => StopReason::Length,
        None | Some("end_turn" | "stop_sequence" | "pause_turn") => StopReason::Stop,
        Some(_) => StopReason::Error,
    }
}
