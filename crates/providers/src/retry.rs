//! Whether and when a client sends a request again by itself. Pure bookkeeping; the waiting is the caller's.
//!
//! All reasons together share one bound, so that they never multiply. After a piece of the reply has reached the caller nothing is
//! sent again here.

use std::time::Duration;

use longhand_agent::{ErrorKind, ModelError};

/// Requests in all, the first included.
const MAX_REQUESTS: u32 = 6;
/// Replays of a reply that broke off, or never came, before it said anything.
const MAX_REPLAYS: u32 = 1;
/// Replays of a reply that ended properly but said nothing.
const MAX_EMPTY: u32 = 2;
/// The first wait; each later one is twice as long.
const BASE: Duration = Duration::from_millis(500);
/// Longest wait. A provider that asks for more gets its say reported instead.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Where a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the server accepted it.
    Sending,
    /// The server refused it for a reason that lasts longer than any wait here.
    RefusedForLong,
    /// In the reply, before it said anything.
    Reply,
}

/// The tries of one request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tries {
    failed: u32,
    replays: u32,
    empty: u32,
}

impl Tries {
    /// How long to wait before the next try; `None` when there is none.
    pub(crate) fn next(&mut self, error: &ModelError, stage: Stage) -> Option<Duration> {
        self.failed += 1;
        if stage == Stage::RefusedForLong
            || !error.is(ErrorKind::Transient)
            || !error.is_retryable()
            || self.failed >= MAX_REQUESTS
        {
            return None;
        }
        // A server that fell silent may still be at work on the request, and bill for it.
        if stage == Stage::Reply || error.is(ErrorKind::Timeout) {
            let (used, max) = if error.is(ErrorKind::EmptyResponse) {
                (&mut self.empty, MAX_EMPTY)
            } else {
                (&mut self.replays, MAX_REPLAYS)
            };
            *used += 1;
            if *used > max {
                return None;
            }
        }
        wait(self.failed - 1, error.hint)
    }
}

/// The wait before try number `failed + 2`: a hint is its lower bound, a hint of zero means now.
fn wait(failed: u32, hint: Option<Duration>) -> Option<Duration> {
    let backoff = BASE.saturating_mul(2_u32.saturating_pow(failed)).min(MAX_WAIT);
    match hint {
        None => Some(backoff),
        Some(Duration::ZERO) => Some(Duration::ZERO),
        Some(hint) if hint > MAX_WAIT => None,
        Some(hint) => Some(backoff.max(hint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(error: &ModelError, stage: Stage) -> Vec<u64> {
        let mut tries = Tries::default();
        std::iter::from_fn(|| tries.next(error, stage))
            .map(|wait| wait.as_millis() as u64)
            .collect()
    }

    #[test]
    fn waits_double_and_end() {
        let error = ModelError::new(ErrorKind::Transient, "busy");
        assert_eq!(waits(&error, Stage::Sending), [500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(waits(&error, Stage::Reply), [500]);
    }

    #[test]
    fn a_silent_server_is_asked_once_more() {
        let mut error = ModelError::new(ErrorKind::Transient, "silent");
        error.kinds.push(ErrorKind::Timeout);
        assert_eq!(waits(&error, Stage::Sending), [500]);
    }

    #[test]
    fn an_empty_reply_is_asked_for_twice_more() {
        let mut error = ModelError::new(ErrorKind::Transient, "empty");
        error.kinds.push(ErrorKind::EmptyResponse);
        assert_eq!(waits(&error, Stage::Reply), [500, 1_000]);
    }

    #[test]
    fn a_hint_is_the_least_wait_and_a_long_one_is_reported() {
        let hinted = |seconds| ModelError {
            hint: Some(Duration::from_secs(seconds)),
            ..ModelError::new(ErrorKind::Transient, "busy")
        };
        assert_eq!(waits(&hinted(3), Stage::Sending), [3_000, 3_000, 3_000, 4_000, 8_000]);
        assert_eq!(waits(&hinted(0), Stage::Sending), [0; 5]);
        assert_eq!(waits(&hinted(61), Stage::Sending), [0; 0]);
    }

    #[test]
    fn lasting_failures_are_not_tried_again() {
        let error = ModelError::new(ErrorKind::Transient, "busy");
        assert_eq!(waits(&error, Stage::RefusedForLong), [0; 0]);
        for kind in [
            ErrorKind::AuthFailed,
            ErrorKind::ContextOverflow,
            ErrorKind::UsageLimit,
            ErrorKind::ContentBlocked,
        ] {
            assert_eq!(waits(&ModelError::new(kind, "no"), Stage::Sending), [0; 0], "{kind:?}");
        }
    }
}
