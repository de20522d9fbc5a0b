//! When the next frame is drawn: soon after something changed, never too often, and not at all while nothing moves.

use std::time::Duration;

use super::moment::Moment;

/// The least time between two frames: 60 a second.
const FRAME: Duration = Duration::from_micros(16_667);

/// A size is taken as the last one when this time has passed without another.
const RESIZE: Duration = Duration::from_millis(50);

/// When to draw.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    drawn_at: Option<Moment>,
    /// Since when there is something new to show.
    due: Option<Moment>,
}

impl Pace {
    /// Something changed.
    pub(crate) fn changed(&mut self, now: Moment) {
        let earliest = self.drawn_at.map_or(now, |drawn| drawn.after(FRAME).max(now));
        self.due.get_or_insert(earliest);
    }

    /// The size changed; more changes may follow at once.
    pub(crate) fn resized(&mut self, now: Moment) {
        self.due = Some(now.after(RESIZE));
    }

    /// When to draw because something changed.
    pub(crate) fn due(&self) -> Option<Moment> {
        self.due
    }

    /// When a picture that changes every `period` is next drawn.
    pub(crate) fn next_picture(&self, period: Duration) -> Moment {
        self.drawn_at.map_or(Moment::default(), |drawn| drawn.after(period))
    }

    /// A frame was drawn.
    pub(crate) fn drawn(&mut self, now: Moment) {
        self.drawn_at = Some(now);
        self.due = None;
    }
}
