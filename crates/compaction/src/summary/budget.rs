//! How long a summary may become, how much of a conversation one request may hold, and how hard the model may think about it.

use longhand_agent::compaction::Thinking;
use longhand_session::Model;
use longhand_session::model::Effort;

use crate::options::Options;
use crate::threshold::DEFAULT_RESERVE_TOKENS;

/// Longest summary in tokens. Windows of a million tokens would otherwise allow summaries that copy the conversation.
const MAX_SUMMARY_TOKENS: u64 = 16_384;

/// Two or three sentences.
const MAX_SHORT_SUMMARY_TOKENS: u64 = 512;

/// Less leaves room for no answer at all.
const MIN_OUTPUT_TOKENS: u64 = 256;

/// Window of a model of which none is known.
const FALLBACK_WINDOW_TOKENS: u64 = 200_000;

/// Most tokens of each kind of reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Summary of history.
    pub history: u64,
    /// Summary of the dropped start of a turn.
    pub turn_prefix: u64,
    /// Two or three sentences for people.
    pub short: u64,
    /// What a cap may be raised to when a reply was cut off.
    pub limit: u64,
}

impl Caps {
    /// The caps of a model: parts of the reserve as it is set, no more than the model gives and than a quarter of its window,
    /// so that a small window has place for the conversation.
    pub fn new(model: &Model, options: &Options) -> Self {
        let reserve = options.reserve_tokens.unwrap_or(DEFAULT_RESERVE_TOKENS);
        let window = model.context_window.filter(|window| *window > 0);
        let longest_reply = model.max_output_tokens.unwrap_or(u64::MAX);
        let quarter = window.map_or(u64::MAX, |window| window / 4);
        let clamp = |tokens: u64| tokens.min(quarter).max(MIN_OUTPUT_TOKENS).min(longest_reply);
        let part = |numerator: u64| reserve.saturating_mul(numerator) / 10;
        Self {
            history: clamp(part(8).min(MAX_SUMMARY_TOKENS)),
            turn_prefix: clamp(part(5).min(MAX_SUMMARY_TOKENS)),
            short: clamp(part(2).min(MAX_SHORT_SUMMARY_TOKENS)),
            limit: window.map_or(u64::MAX, |window| window / 2).min(longest_reply),
        }
    }
}

/// How much of a conversation one request may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputBudget {
    /// Tokens of the conversation.
    pub tokens: u64,
    /// Below it a request is not worth sending.
    pub least_tokens: u64,
}

/// How much of a conversation fits a request whose reply may have `max_output_tokens`: four fifths of the window, less the reply
/// and as much again for the summary before it and the instructions.
pub fn input_budget(model: &Model, max_output_tokens: u64) -> InputBudget {
    let window = model.context_window.filter(|window| *window > 0);
    let window = window.unwrap_or(FALLBACK_WINDOW_TOKENS);
    let least_tokens = (window / 8).clamp(1_024, 16_384);
    let four_fifths = (window as f64 * 0.8).floor() as u64;
    let rest = four_fifths.saturating_sub(max_output_tokens).saturating_sub(MAX_SUMMARY_TOKENS);
    InputBudget { tokens: rest.max(least_tokens), least_tokens }
}

/// The effort to ask for: that of the session as far as the model has it, and high where nothing was set. A bad summary costs
/// more than the thinking.
pub fn effort(thinking: Thinking, model: &Model) -> Option<Effort> {
    match thinking {
        Thinking::Off => None,
        Thinking::Inherit => model.clamp_effort(Effort::High),
        Thinking::Level(level) => model.clamp_effort(level),
    }
}
