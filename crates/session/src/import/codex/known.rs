//! What a Codex transcript says more than once, and what it takes back.
//!
//! Most of what happens is written twice, as an item of the conversation and as an event for the view; the event counts only where there
//! is no item. A rollback takes back the last turns. Both can be known only when the whole transcript was seen. Of each text a hash is
//! kept, and of each request of the user its place.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use super::item::{Echo, Item, Says, Voice};
use crate::block::Block;
use crate::ids::ToolCallId;

/// What the items of a transcript say.
#[derive(Debug, Default)]
pub(super) struct Known {
    texts: HashSet<u64>,
    calls: HashSet<ToolCallId>,
}

impl Known {
    /// Whether an item says what an event repeats.
    pub(super) fn has(&self, echo: &Echo) -> bool {
        match echo {
            Echo::Text(voice, text) => self.texts.contains(&hash(*voice, text)),
            Echo::Call(call) => self.calls.contains(call),
        }
    }

    fn learn(&mut self, says: &Says<'_>) {
        match says {
            Says::User(blocks) => self.learn_texts(Voice::User, blocks),
            Says::Reply(blocks) => {
                self.learn_texts(Voice::Reply, blocks);
                for block in blocks {
                    match block {
                        Block::Thinking(thinking) => {
                            self.texts.insert(hash(Voice::Thinking, &thinking.thinking));
                        }
                        Block::ToolCall(call) => {
                            self.calls.insert(call.id.clone());
                        }
                        _ => {}
                    }
                }
            }
            Says::Result { .. }
            | Says::Session { .. }
            | Says::Model(_)
            | Says::Compacted(_)
            | Says::RolledBack(_)
            | Says::Title(_)
            | Says::Skipped(_) => {}
        }
    }

    /// Each text, and all of them together.
    fn learn_texts(&mut self, voice: Voice, blocks: &[Block]) {
        let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
        self.texts.extend(texts.iter().map(|text| hash(voice, text)));
        if texts.len() > 1 {
            self.texts.insert(hash(voice, &texts.concat()));
        }
    }
}

fn hash(voice: Voice, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    voice.hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}

/// Gathers what is known, and which records were taken back.
#[derive(Default)]
pub(super) struct Gathering {
    known: Known,
    marks: Vec<Mark>,
    records: u64,
}

enum Mark {
    /// A request of the user, at this record.
    Request(u64),
    /// Perhaps one: unless an item says this text too.
    Echo(u64, u64),
    /// So many turns are taken back.
    RolledBack(u64, u64),
}

impl Gathering {
    /// Takes the next record.
    pub(super) fn add(&mut self, item: &Item<'_>) {
        let at = self.records;
        self.records += 1;
        if item.echo.is_none() {
            item.says.iter().for_each(|says| self.known.learn(says));
        }
        for says in &item.says {
            match (says, &item.echo) {
                (Says::User(_), None) => self.marks.push(Mark::Request(at)),
                (Says::User(_), Some(Echo::Text(voice, text))) => {
                    self.marks.push(Mark::Echo(at, hash(*voice, text)));
                }
                (Says::RolledBack(turns), _) => self.marks.push(Mark::RolledBack(at, *turns)),
                _ => {}
            }
        }
    }

    /// What is known, and the places of the records that were taken back, in their order.
    pub(super) fn finish(self) -> (Known, Vec<RangeInclusive<u64>>) {
        let mut requests: Vec<u64> = Vec::new();
        let mut gone: Vec<RangeInclusive<u64>> = Vec::new();
        for mark in self.marks {
            match mark {
                Mark::Request(at) => requests.push(at),
                Mark::Echo(at, text) => {
                    if !self.known.texts.contains(&text) {
                        requests.push(at);
                    }
                }
                Mark::RolledBack(at, turns) => {
                    let turns = usize::try_from(turns).unwrap_or(usize::MAX);
                    let kept = requests.len().saturating_sub(turns);
                    let Some(from) = requests.get(kept).copied() else { continue };
                    requests.truncate(kept);
                    while gone.pop_if(|last| *last.start() >= from).is_some() {}
                    gone.push(from..=at);
                }
            }
        }
        (self.known, gone)
    }
}
