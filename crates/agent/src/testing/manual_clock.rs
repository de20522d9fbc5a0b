use std::sync::atomic::{AtomicI64, Ordering};

use longhand_session::time::Clock;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
}

impl ManualClock {
    /// Stands at `millis` milliseconds since the epoch.
    pub fn at(millis: i64) -> Self {
        Self { millis: AtomicI64::new(millis) }
    }

    /// Moves on, in milliseconds.
    pub fn advance(&self, millis: i64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_millis(&self) -> i64 {
        self.millis.load(Ordering::Relaxed)
    }
}
