//! Who is waited for, and how long, when a request fails for a passing reason.

use std::time::Duration;

use longhand_agent::compaction::Trigger;
use longhand_agent::{ErrorKind, ModelError};

use crate::options::Options;

/// A wait above this is not worth it while another model can be asked, or while someone waits for the answer.
const LONG_WAIT: Duration = Duration::from_secs(30);

/// How long failures are waited out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    retries: u32,
    base_delay: Duration,
    /// The doubling stops here.
    longest_backoff: Duration,
    /// A wait above this gives up.
    longest_wait: Duration,
}

impl Patience {
    /// The patience of a pass. A pass that the user asked for tries three times and keeps nobody waiting; one that runs by itself
    /// follows the options, but turns to another candidate before it waits long.
    pub fn new(trigger: Trigger, has_other_candidate: bool, options: &Options) -> Self {
        match trigger {
            Trigger::Manual => Self {
                retries: 2,
                base_delay: Duration::from_millis(500),
                longest_backoff: Duration::from_secs(8),
                longest_wait: LONG_WAIT,
            },
            Trigger::Threshold | Trigger::Overflow | Trigger::Incomplete | Trigger::Idle => Self {
                retries: if options.retry.enabled { options.retry.max_retries } else { 0 },
                base_delay: options.retry.base_delay,
                longest_backoff: Duration::MAX,
                longest_wait: if has_other_candidate {
                    LONG_WAIT.min(options.retry.max_delay)
                } else {
                    options.retry.max_delay
                },
            },
        }
    }

    /// How long to wait before the request is sent again, after it failed `failures` times, the last time so. `None`: not again.
    pub fn delay(&self, failures: u32, error: &ModelError) -> Option<Duration> {
        if failures > self.retries || !is_passing(error) {
            return None;
        }
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let backoff = self.base_delay.saturating_mul(doubled).min(self.longest_backoff);
        let delay = backoff.max(error.hint.unwrap_or_default());
        (delay <= self.longest_wait).then_some(delay)
    }
}

/// Whether the same model may answer the same request later. A reply without text was paid for, and the next may be one too.
fn is_passing(error: &ModelError) -> bool {
    const LASTING: [ErrorKind; 5] = [
        ErrorKind::ContextOverflow,
        ErrorKind::AuthFailed,
        ErrorKind::Timeout,
        ErrorKind::EmptyResponse,
        ErrorKind::Aborted,
    ];
    error.is_retryable() && !LASTING.iter().any(|kind| error.is(*kind))
}
