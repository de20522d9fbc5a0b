//! Earlier states of the text. Typing in one go is one step.

use super::unit::Unit;

/// How many steps are kept.
const MAX_STEPS: usize = 200;

/// A state of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct State {
    pub(super) units: Vec<Unit>,
    pub(super) cursor: usize,
}

/// What a change was, so that changes of a kind can be one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// A character was typed that belongs to the word before it.
    Typed,
    /// Anything else: a step of its own.
    Other,
}

/// States before the present one, and states that were undone.
#[derive(Debug, Default)]
pub(super) struct Undo {
    past: Vec<State>,
    future: Vec<State>,
    last: Option<Change>,
}

impl Undo {
    /// Takes the state before a change.
    pub(super) fn record(&mut self, before: &State, change: Change) {
        self.future.clear();
        if change == Change::Typed && self.last == Some(Change::Typed) {
            return;
        }
        self.last = Some(change);
        if self.past.len() == MAX_STEPS {
            self.past.remove(0);
        }
        self.past.push(before.clone());
    }

    /// The cursor was moved: what is typed next is a new step.
    pub(super) fn end_step(&mut self) {
        self.last = None;
    }

    pub(super) fn undo(&mut self, present: &State) -> Option<State> {
        self.last = None;
        let before = self.past.pop()?;
        self.future.push(present.clone());
        Some(before)
    }

    pub(super) fn redo(&mut self, present: &State) -> Option<State> {
        self.last = None;
        let after = self.future.pop()?;
        self.past.push(present.clone());
        Some(after)
    }
}
