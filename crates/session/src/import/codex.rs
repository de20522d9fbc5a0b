//! Transcripts of Codex: a chain of records, one file a session.
//!
//! Read twice: the first time to learn what is said twice and what was taken back, the second time to make entries, one record at a
//! time.

mod compacted;
mod content;
mod item;
mod known;
mod sessions;
#[cfg(feature = "sqlite")]
mod threads;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead};
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::value::RawValue;

use self::item::{Item, Says};
use self::known::{Gathering, Known};
pub(super) use self::sessions::sessions;
use super::records::Records;
use super::survey::{Facts, Title, clean_title};
use super::tally::Tally;
use super::{Replay, parts};
use crate::block::{Block, Content};
use crate::entry::{Entry, EntryKind};
use crate::ids::{EntryId, ToolCallId};
use crate::message::{AssistantMessage, StopReason, ToolResult};
use crate::time::Timestamp;
use crate::title_slot::TitleSource;

const API: &str = "openai-codex-responses";
const PROVIDER: &str = "openai-codex";

/// The model of replies before any was named.
const NO_MODEL: &str = "codex";

/// What the first look learns: facts about the session, and what of it does not count.
pub(super) fn survey<R: BufRead>(records: &mut Records<R>, facts: &mut Facts) -> io::Result<Plan> {
    let mut gathering = Gathering::default();
    while let Some(line) = records.next()? {
        facts.records += line.objects.len() as u64;
        for object in &line.objects {
            let item = Item::read(line.number, object);
            gathering.add(&item);
            for says in item.says {
                match says {
                    Says::Session { id, cwd } => {
                        facts.source_id = facts.source_id.take().or(id);
                        facts.cwd = facts.cwd.take().or(cwd);
                    }
                    Says::Title(title) => {
                        let text = clean_title(&title);
                        facts.title = text.map(|text| Title { text, source: TitleSource::Auto });
                    }
                    Says::User(_) | Says::Reply(_) | Says::Result { .. } | Says::Compacted(_) => {
                        facts.has_messages = true;
                    }
                    Says::Model(_) | Says::RolledBack(_) | Says::Skipped(_) => {}
                }
            }
        }
    }
    let (known, gone) = gathering.finish();
    Ok(Plan { known, gone })
}

/// What the second look needs of the first.
#[derive(Debug)]
pub(super) struct Plan {
    known: Known,
    /// Records that were taken back, by their number from 0.
    gone: Vec<RangeInclusive<u64>>,
}

/// Makes entries of records.
pub(super) struct Conversion<'p> {
    plan: &'p Plan,
    replay: Replay,
    /// Those of the plan that are still to come.
    gone: std::slice::Iter<'p, RangeInclusive<u64>>,
    next_gone: Option<&'p RangeInclusive<u64>>,
    records: u64,
    entries: u64,
    last: Option<EntryId>,
    model: Option<Arc<str>>,
    tools: HashMap<ToolCallId, Arc<str>>,
    last_millis: i64,
    tally: Tally,
}

impl<'p> Conversion<'p> {
    pub(super) fn new(plan: &'p Plan, replay: Replay) -> Self {
        let mut gone = plan.gone.iter();
        Self {
            plan,
            replay,
            next_gone: gone.next(),
            gone,
            records: 0,
            entries: 0,
            last: None,
            model: None,
            tools: HashMap::new(),
            last_millis: 0,
            tally: Tally::default(),
        }
    }

    /// Takes a record, and adds its entries.
    pub(super) fn take(&mut self, line: u64, object: &RawValue, out: &mut VecDeque<Entry>) {
        let at = self.records;
        self.records += 1;
        while self.next_gone.is_some_and(|gone| *gone.end() < at) {
            self.next_gone = self.gone.next();
        }
        if self.next_gone.is_some_and(|gone| gone.contains(&at)) {
            self.tally.skip("rolled back");
            return;
        }
        let item = Item::read(line, object);
        let millis = item.millis.unwrap_or(self.last_millis);
        self.last_millis = millis;
        if item.echo.is_some_and(|echo| self.plan.known.has(&echo)) {
            return;
        }
        for says in item.says {
            self.say(says, millis, out);
        }
    }

    pub(super) fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn say(&mut self, says: Says<'_>, millis: i64, out: &mut VecDeque<Entry>) {
        let kind = match says {
            Says::User(blocks) => parts::user(Content::Blocks(blocks), millis),
            Says::Reply(blocks) => self.reply(blocks, millis),
            Says::Result { call, content, is_error } => parts::result(ToolResult {
                tool_name: self.tools.get(&call).map_or("unknown", |tool| tool).to_owned(),
                tool_call_id: call,
                content,
                is_error,
                timestamp: millis,
                ..ToolResult::default()
            }),
            Says::Model(model) => {
                if self.model.as_deref() == Some(model.as_str()) {
                    return;
                }
                let kind = parts::model_change(PROVIDER, &model);
                self.model = Some(model.into());
                kind
            }
            Says::Compacted(compacted) => {
                let entry = compacted.entry(self.next_id(), PROVIDER, self.replay);
                EntryKind::Compaction(Box::new(entry))
            }
            Says::Skipped(name) => {
                self.tally.skip(&name);
                return;
            }
            Says::Session { .. } | Says::Title(_) | Says::RolledBack(_) => return,
        };
        let id = self.next_id();
        self.entries += 1;
        let parent_id = self.last.replace(id.clone());
        out.push_back(Entry { id, parent_id, timestamp: Timestamp::from_millis(millis), kind });
    }

    fn reply(&mut self, blocks: Vec<Block>, millis: i64) -> EntryKind {
        let mut stop_reason = StopReason::Stop;
        for call in blocks.iter().filter_map(Block::as_tool_call) {
            stop_reason = StopReason::ToolUse;
            self.tools.insert(call.id.clone(), call.name.as_str().into());
        }
        parts::reply(AssistantMessage {
            content: blocks,
            api: API.into(),
            provider: PROVIDER.into(),
            model: self.model.as_deref().unwrap_or(NO_MODEL).to_owned(),
            usage: Some(parts::usage(0, 0, 0, 0)),
            stop_reason,
            timestamp: millis,
            ..AssistantMessage::default()
        })
    }

    fn next_id(&self) -> EntryId {
        EntryId::from(format!("codex-{}", base36(self.entries + 1)))
    }
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
