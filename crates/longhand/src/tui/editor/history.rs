//! What was sent before, and the draft that browsing it sets aside.

use super::unit::{self, Unit};

/// How many entries are kept.
const MAX_ENTRIES: usize = 10_000;

/// What was sent in this run of the program, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<Vec<Unit>>,
    /// The entry that is shown.
    at: Option<usize>,
    draft: Vec<Unit>,
}

impl History {
    /// Keeps a text that was sent. Repetitions and texts that begin with a blank are not kept.
    pub(super) fn push(&mut self, units: &[Unit]) {
        self.at = None;
        let text = unit::text(units);
        if text.trim().is_empty() || text.starts_with(' ') {
            return;
        }
        if self.entries.last().is_some_and(|last| last == units) {
            return;
        }
        if self.entries.len() == MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(units.to_vec());
    }

    /// The entry before the one that is shown. `current` is set aside where browsing begins.
    pub(super) fn older(&mut self, current: &[Unit]) -> Option<Vec<Unit>> {
        let at = if let Some(at) = self.at {
            at.checked_sub(1)?
        } else {
            let newest = self.entries.len().checked_sub(1)?;
            self.draft = current.to_vec();
            newest
        };
        self.at = Some(at);
        self.entries.get(at).cloned()
    }

    /// The entry after the one that is shown; after the newest, the draft.
    pub(super) fn newer(&mut self) -> Option<Vec<Unit>> {
        let at = self.at? + 1;
        if let Some(entry) = self.entries.get(at) {
            self.at = Some(at);
            return Some(entry.clone());
        }
        self.at = None;
        Some(std::mem::take(&mut self.draft))
    }
}
