//! Times as they are stored, and the clock that they come from.

use std::fmt;

use jiff::fmt::temporal::DateTimeParser;
use serde::{Deserialize, Serialize};

/// A time as stored in an entry: ISO-8601 in UTC with milliseconds. Foreign text is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(String);

impl Timestamp {
    /// Takes text as it came.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The time `millis` milliseconds after the epoch. Times outside the calendar become the epoch.
    pub fn from_millis(millis: i64) -> Self {
        let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(format!("{time:.3}"))
    }

    /// Milliseconds since the epoch; `None` where the text is not a time.
    pub fn millis(&self) -> Option<i64> {
        static PARSER: DateTimeParser = DateTimeParser::new();
        PARSER.parse_timestamp(&self.0).ok().map(jiff::Timestamp::as_millisecond)
    }

    /// The text as stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Wall time. A seam, so that tests play it.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch.
    fn now_millis(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_millis(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }
}
