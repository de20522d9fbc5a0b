//! What was killed, to be yanked.

use super::unit::Unit;

/// How many kills are kept.
const MAX_KILLS: usize = 60;

/// Which end of a kill in a row grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toward {
    Start,
    End,
}

/// Kills, oldest first. Kills in a row are one.
#[derive(Debug, Default)]
pub(super) struct KillRing {
    kills: Vec<Vec<Unit>>,
    is_growing: bool,
    /// How far back the last yank looked.
    back: usize,
}

impl KillRing {
    pub(super) fn kill(&mut self, units: Vec<Unit>, toward: Toward) {
        if units.is_empty() {
            return;
        }
        self.back = 0;
        match self.kills.last_mut().filter(|_| self.is_growing) {
            Some(last) if toward == Toward::Start => {
                last.splice(0..0, units);
            }
            Some(last) => last.extend(units),
            None => {
                if self.kills.len() == MAX_KILLS {
                    self.kills.remove(0);
                }
                self.kills.push(units);
            }
        }
        self.is_growing = true;
    }

    /// Something else was done: the next kill stands for itself.
    pub(super) fn end_kill(&mut self) {
        self.is_growing = false;
    }

    pub(super) fn newest(&mut self) -> Option<Vec<Unit>> {
        self.back = 0;
        self.kills.last().cloned()
    }

    /// The kill before the one that was yanked; after the oldest, the newest.
    pub(super) fn older(&mut self) -> Option<Vec<Unit>> {
        self.back = (self.back + 1) % self.kills.len().max(1);
        self.kills.iter().rev().nth(self.back).cloned()
    }
}
