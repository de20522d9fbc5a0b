//! How many tokens a reply may have: what was asked for, what the model can, and what the window leaves.
//!
//! Pure arithmetic. The prompt's size is a local estimate and is said to be one.

use longhand_agent::{ErrorKind, ModelError};

/// Cap where nobody chose a limit and the service is shared.
pub(crate) const SHARED_CAP_TOKENS: u64 = 64_000;

/// Least that is kept free between prompt, reply and window: estimates err, and servers add tokens of their own.
const MARGIN_TOKENS: u64 = 1_024;

/// The same as a share of the prompt, for prompts whose error is larger.
const MARGIN_PERCENT: u64 = 2;

/// A reply shorter than this helps nobody: the context is too full. Callers who ask for less get less.
const LEAST_TOKENS: u64 = 1_024;

/// Margin and least reply are at most this part of the window each. Together they stay below the 15 % that a compaction threshold
/// leaves free, so that a session in a small window is compacted before it is refused.
const LARGEST_PART: u64 = 16;

/// What decides a reply's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// What the caller asks for.
    pub(crate) wanted: Option<u64>,
    /// What the model can.
    pub(crate) model_max: Option<u64>,
    /// Cap on a limit that the caller did not choose.
    pub(crate) default_cap: Option<u64>,
    /// What prompt and reply share.
    pub(crate) window: Option<u64>,
    /// Estimate of the prompt.
    pub(crate) prompt_tokens: u64,
}

/// The limit to send; `None` leaves it to the server.
///
/// # Errors
/// The window does not leave enough for a reply: [`ErrorKind::ContextOverflow`], without a request.
pub(crate) fn decide(limits: Limits) -> Result<Option<u64>, ModelError> {
    let Limits { wanted, model_max, default_cap, window, prompt_tokens } = limits;
    let chosen = match (wanted, model_max) {
        (Some(wanted), Some(max)) => Some(wanted.min(max)),
        (Some(wanted), None) => Some(wanted),
        (None, Some(max)) => Some(default_cap.map_or(max, |cap| max.min(cap))),
        (None, None) => None,
    };
    let Some(window) = window else { return Ok(chosen) };
    let room = room(window, prompt_tokens);
    let least = LEAST_TOKENS.min(window / LARGEST_PART);
    let least = chosen.map_or(least, |chosen| chosen.min(least));
    if room < least {
        return Err(ModelError::new(
            ErrorKind::ContextOverflow,
            format!(
                "the prompt, about {prompt_tokens} tokens by our own count, leaves too little of the context window of {window} tokens for a reply"
            ),
        ));
    }
    Ok(chosen.map(|chosen| chosen.min(room)))
}

/// What a window leaves for the reply after a prompt and a margin.
pub(crate) fn room(window: u64, prompt_tokens: u64) -> u64 {
    let margin = MARGIN_TOKENS.min(window / LARGEST_PART);
    let margin = margin.max(prompt_tokens.saturating_mul(MARGIN_PERCENT) / 100);
    window.saturating_sub(prompt_tokens).saturating_sub(margin)
}

#[cfg(test)]
mod tests {
    use super::{Limits, decide};

    #[test]
    fn a_reply_is_never_asked_to_be_longer_than_the_window_leaves() {
        let base = Limits {
            wanted: None,
            model_max: Some(32_000),
            default_cap: Some(64_000),
            window: Some(128_000),
            prompt_tokens: 1_000,
        };
        for (limits, expected) in [
            (base, Some(Some(32_000))),
            (Limits { model_max: Some(100_000), ..base }, Some(Some(64_000))),
            (Limits { model_max: Some(100_000), default_cap: None, ..base }, Some(Some(100_000))),
            (Limits { wanted: Some(50_000), ..base }, Some(Some(32_000))),
            (Limits { wanted: Some(500), ..base }, Some(Some(500))),
            (Limits { model_max: None, ..base }, Some(None)),
            (Limits { model_max: None, wanted: Some(7), ..base }, Some(Some(7))),
            (Limits { prompt_tokens: 110_000, ..base }, Some(Some(128_000 - 110_000 - 2_200))),
            (Limits { prompt_tokens: 126_000, ..base }, None),
            (Limits { prompt_tokens: 125_000, wanted: Some(300), ..base }, Some(Some(300))),
            (Limits { prompt_tokens: 200_000, ..base }, None),
            (Limits { prompt_tokens: 200_000, window: None, ..base }, Some(Some(32_000))),
            (
                Limits {
                    window: Some(4_096),
                    model_max: Some(4_096),
                    prompt_tokens: 2_000,
                    ..base
                },
                Some(Some(1_840)),
            ),
            (Limits { window: Some(4_096), prompt_tokens: 3_482, ..base }, Some(Some(358))),
            (Limits { window: Some(4_096), prompt_tokens: 3_600, ..base }, None),
        ] {
            assert_eq!(decide(limits).ok(), expected, "{limits:?}");
        }
    }
}
