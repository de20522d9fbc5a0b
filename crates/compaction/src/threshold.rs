//! When a context is too large: the numbers that decide it, from a window and the options.
//!
//! Pure arithmetic. `window` is the context window of the model in tokens; 0 stands for an unknown one, over which nothing is ever
//! too large. Nothing here measures a context.

use crate::options::{Options, SmallWindowReserve};

/// Tokens that are left to the reply where nothing else is set.
pub const DEFAULT_RESERVE_TOKENS: u64 = 16_384;

/// Part of the window that is left to the reply at least.
const RESERVE_SHARE: f64 = 0.15;

/// What is left to the reply: the reserve that is set, and no less than 15 % of the window. May be more than the window.
pub fn effective_reserve(window: u64, options: &Options) -> u64 {
    share_of(window).max(options.reserve_tokens.unwrap_or(DEFAULT_RESERVE_TOKENS))
}

/// What is left to the reply when a budget is made of it: 15 % of the window where the effective reserve would leave nothing.
pub fn budget_reserve(window: u64, options: &Options) -> u64 {
    let effective = effective_reserve(window, options);
    let proportional = share_of(window).max(1);
    let is_unset = options.reserve_tokens.is_none();
    if effective >= window || (is_unset && effective >= window - proportional) {
        return proportional;
    }
    match options.small_window_reserve {
        SmallWindowReserve::Scaled if is_unset && effective > window / 2 => {
            proportional.max(window / 4)
        }
        SmallWindowReserve::Scaled | SmallWindowReserve::Fixed => effective,
    }
}

/// The size that a context may have: above it, a pass is due. Always below the window.
pub fn resolve(window: u64, options: &Options) -> u64 {
    let largest = window.saturating_sub(1);
    if let Some(tokens) = set(options.threshold_tokens) {
        return (tokens.floor() as u64).max(1).min(largest);
    }
    if let Some(percent) = set(options.threshold_percent) {
        return (window as f64 * (percent.clamp(1.0, 99.0) / 100.0)).floor() as u64;
    }
    window.saturating_sub(budget_reserve(window, options)).min(largest)
}

/// Whether a context of `context_tokens` is too large, and an automatic pass may do something about it.
pub fn should_compact(context_tokens: u64, window: u64, options: &Options) -> bool {
    options.enabled
        && !options.method_order.is_empty()
        && window > 0
        && context_tokens > resolve(window, options)
}

/// How many of the newest tokens stay verbatim. At most half of the threshold: what is kept would otherwise fill the context
/// again at once.
pub fn keep_recent(window: Option<u64>, options: &Options) -> u64 {
    match window {
        Some(window) if window > 0 => {
            options.keep_recent_tokens.min(resolve(window, options) / 2).max(1)
        }
        _ => options.keep_recent_tokens,
    }
}

/// Sizes of a context, in tokens, at which maintenance decides something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bands {
    /// Above it, a pass is due.
    pub threshold: u64,
    /// A pass that ends at or below it was worth it; above it, the next one would follow at once.
    pub recovery: u64,
    /// A failed request may be sent again at or below it.
    pub retry_fit: u64,
    /// How far ahead of the threshold a pass may be prepared.
    pub lead: u64,
    /// From here up to the threshold, a pass may be prepared ahead of need.
    pub speculation_start: u64,
    /// While a prepared pass is unfinished, the context may grow up to here.
    pub grace_cap: u64,
}

impl Bands {
    /// The bands of a window.
    pub fn new(window: u64, options: &Options) -> Self {
        let threshold = resolve(window, options);
        let lead = (threshold / 8).clamp(MIN_LEAD_TOKENS, MAX_LEAD_TOKENS);
        Self {
            threshold,
            recovery: (threshold as f64 * RECOVERY_SHARE).floor() as u64,
            retry_fit: window.saturating_sub(budget_reserve(window, options)),
            lead,
            speculation_start: threshold.saturating_sub(lead),
            grace_cap: (threshold + lead).min(window.saturating_sub(GRACE_RESERVE_TOKENS)),
        }
    }
}

/// A pass must end this far under the threshold, or the next turn would start another.
const RECOVERY_SHARE: f64 = 0.8;

/// A few large tool results: less would leave a prepared pass no time to finish.
const MIN_LEAD_TOKENS: u64 = 8_192;

/// More would prepare passes that a short session never needs.
const MAX_LEAD_TOKENS: u64 = 32_000;

/// What the reply keeps of the window while a prepared pass is unfinished.
const GRACE_RESERVE_TOKENS: u64 = 8_192;

fn share_of(window: u64) -> u64 {
    (window as f64 * RESERVE_SHARE).floor() as u64
}

/// A number of the options that is set.
fn set(number: f64) -> Option<f64> {
    (number.is_finite() && number > 0.0).then_some(number)
}
