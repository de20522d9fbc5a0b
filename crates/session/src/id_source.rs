//! Where new ids come from: the seam between a session and chance.
//!
//! Sources give candidates; [`fresh_entry_id`] makes one that its session does not have yet. Nothing here remembers ids.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::ids::{EntryId, SessionId};
use crate::time::{Clock, SystemClock};

/// Makes ids. A seam, so that tests can name them beforehand.
pub trait IdSource: Send + Sync {
    /// Eight hexadecimal digits, which an entry may already have.
    fn entry_candidate(&self) -> EntryId;

    /// A number that this source has not given before, growing with time.
    fn snowflake(&self) -> u64;

    /// The id of a new session.
    fn session_id(&self) -> SessionId;
}

/// How often a taken candidate is tried again. Chance alone takes 100 candidates in a row only in a session of billions of
/// entries; a source that repeats itself does it at once.
const MAX_CANDIDATES: usize = 100;

/// An id that no entry of the session has: a candidate, or a snowflake of 16 digits where all candidates are taken.
pub fn fresh_entry_id(source: &dyn IdSource, is_taken: impl Fn(&EntryId) -> bool) -> EntryId {
    let candidate = std::iter::repeat_with(|| source.entry_candidate()).take(MAX_CANDIDATES);
    if let Some(id) = candidate.into_iter().find(|id| !is_taken(id)) {
        return id;
    }
    loop {
        let id = EntryId::from(format!("{:016x}", source.snowflake()));
        if !is_taken(&id) {
            return id;
        }
    }
}

/// 2015-01-01 in milliseconds after 1970: the format counts from there.
const SNOWFLAKE_EPOCH: i64 = 1_420_070_400_000;

/// Random entry ids, session ids that sort by time.
#[derive(Debug, Default)]
pub struct SystemIds {
    last_snowflake: AtomicU64,
}

impl IdSource for SystemIds {
    fn entry_candidate(&self) -> EntryId {
        let random = Uuid::new_v4().as_u128() as u32;
        EntryId::from(format!("{random:08x}"))
    }

    fn snowflake(&self) -> u64 {
        let elapsed = SystemClock.now_millis().saturating_sub(SNOWFLAKE_EPOCH);
        let earliest = u64::try_from(elapsed).unwrap_or(0) << 22;
        let next = |last: u64| earliest.max(last.wrapping_add(1));
        // The closure never refuses, so both arms carry the number before it.
        let last =
            match self
                .last_snowflake
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)))
            {
                Ok(last) | Err(last) => last,
            };
        next(last)
    }

    fn session_id(&self) -> SessionId {
        SessionId::from(Uuid::now_v7().to_string())
    }
}

/// Counts: entries `00000001`, `00000002`, …, and sessions likewise. For tests and for output that must be the same twice.
#[derive(Debug, Default)]
pub struct SequentialIds {
    entries: AtomicU64,
    snowflakes: AtomicU64,
    sessions: AtomicU64,
}

impl IdSource for SequentialIds {
    fn entry_candidate(&self) -> EntryId {
        EntryId::from(format!("{:08x}", next(&self.entries)))
    }

    fn snowflake(&self) -> u64 {
        next(&self.snowflakes)
    }

    fn session_id(&self) -> SessionId {
        SessionId::from(format!("00000000-0000-7000-8000-{:012x}", next(&self.sessions)))
    }
}

fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}
