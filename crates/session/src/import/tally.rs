//! What became of the records of a transcript: how many entries they made, and what was left out.

use std::collections::BTreeMap;

use crate::entry::{Entry, EntryKind};
use crate::message::Message;

/// Counts of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries by what they are: `user`, `assistant`, `toolResult`, `compaction`, `model_change`, …
    pub entries: BTreeMap<String, u64>,
    /// Records and blocks that were left out, by what the other program calls them.
    pub skipped: BTreeMap<String, u64>,
    /// Lines that could not be read, or only in part.
    pub damaged_lines: u64,
}

/// So many names are told apart; what comes later is counted under [`OTHERS`]. Files that are no transcript have many.
const MAX_NAMES: usize = 40;

/// Longest name that is shown, in bytes.
const MAX_NAME_BYTES: usize = 60;

const OTHERS: &str = "others";

impl Tally {
    /// How many messages there are.
    pub fn messages(&self) -> u64 {
        ["user", "assistant", "toolResult"].iter().filter_map(|role| self.entries.get(*role)).sum()
    }

    /// How many entries there are.
    pub fn all_entries(&self) -> u64 {
        self.entries.values().sum()
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        let name = match &entry.kind {
            EntryKind::Message(message) => Message::role(&message.message),
            other => other.type_name(),
        };
        *self.entries.entry(name.to_owned()).or_default() += 1;
    }

    pub(super) fn skip(&mut self, name: &str) {
        let is_shown = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && !name.contains(char::is_control)
            && (self.skipped.len() < MAX_NAMES || self.skipped.contains_key(name));
        let name = if is_shown { name } else { OTHERS };
        *self.skipped.entry(name.to_owned()).or_default() += 1;
    }
}
