//! Time as the view sees it: an input, never read by what folds or draws.

use std::time::Duration;

/// A moment, as time since the view began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Moment(Duration);

impl Moment {
    /// The moment `since_start` after the view began.
    pub(crate) fn new(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// Time from an earlier moment to this one.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment `later` after this one.
    pub(crate) fn after(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }

    /// Which of `frames` pictures an animation shows that changes every `period`.
    pub(crate) fn phase(self, period: Duration, frames: usize) -> usize {
        let steps = self.0.as_millis() / period.as_millis().max(1);
        (steps % frames.max(1) as u128) as usize
    }
}
