//! Pictures that are encoded: the few that were looked at last, each in a place of its own in the terminal.

use ratatui_image::protocol::Protocol as Encoded;

use super::graphics::Graphics;
use super::picture::Layout;
use crate::tui::terminal::PICTURES;

/// What a picture was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// The frame, by its place among the frames.
    pub(crate) number: usize,
    /// What of it, and how large.
    pub(crate) layout: Layout,
    /// How it is drawn.
    pub(crate) graphics: Graphics,
}

/// A picture to be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    /// Of what.
    pub(crate) key: Key,
    /// The terminal's place for it.
    pub(crate) slot: u32,
}

/// What came of an order: a picture, or why there is none.
pub(crate) type Made = Result<Option<Encoded>, String>;

/// Pictures that are encoded.
#[derive(Default)]
pub(crate) struct Pictures {
    /// The last used at the end.
    kept: Vec<(Order, Made)>,
    /// What a worker makes now. One at a time: while one pans, only the last of many is worth making.
    made_now: Option<Order>,
}

impl Pictures {
    /// A picture, where it is made already.
    pub(crate) fn get(&mut self, key: &Key) -> Option<&Made> {
        let at = self.kept.iter().position(|(order, _)| order.key == *key)?;
        let found = self.kept.remove(at);
        self.kept.push(found);
        self.kept.last().map(|(_, made)| made)
    }

    /// Orders a picture, unless it is there, or another is being made.
    pub(crate) fn order(&mut self, key: Key) -> Option<Order> {
        if self.made_now.is_some() || self.kept.iter().any(|(order, _)| order.key == key) {
            return None;
        }
        let is_free = |slot: &u32| self.kept.iter().all(|(order, _)| order.slot != *slot);
        let slot = (0..PICTURES).find(is_free).unwrap_or_else(|| self.kept.remove(0).0.slot);
        self.made_now = Some(Order { key, slot });
        self.made_now
    }

    /// Takes what was ordered. What was ordered before everything was forgotten is not taken.
    pub(crate) fn take(&mut self, order: Order, made: Made) {
        if self.made_now == Some(order) {
            self.made_now = None;
            self.kept.push((order, made));
        }
    }

    /// The terminal has forgotten them, or will.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
