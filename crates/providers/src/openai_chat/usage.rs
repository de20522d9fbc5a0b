//! Tokens and cost that a server reports. What it does not report stays unknown; nothing is estimated here.

use longhand_session::{Model, Usage};
use serde_json::Value;

use crate::cost;

/// The usage of a `usage` object; `None` where it holds no counts.
pub(crate) fn read(reported: &Value, model: &Model) -> Option<Usage> {
    let count = |pointer: &str| reported.pointer(pointer).and_then(Value::as_u64);
    let positive = |pointer: &str| count(pointer).filter(|tokens| *tokens > 0);
    let prompt = count("/prompt_tokens");
    let output = count("/completion_tokens");
    if prompt.is_none() && output.is_none() {
        return None;
    }
    let output = output.unwrap_or(0);
    let cache_read = [
        "/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/prompt_tokens_details/cached_tokens",
        "/cachedContentTokenCount",
    ]
    .into_iter()
    .find_map(positive)
    .unwrap_or(0);
    let cache_write = count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    let input = prompt.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write);
    let mut usage = Usage {
        input,
        output,
        cache_read,
        cache_write,
        total_tokens: input
            .saturating_add(output)
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        reasoning_tokens: count("/completion_tokens_details/reasoning_tokens"),
        ..Usage::default()
    };
    usage.cost = model.price.map(|price| cost::of(&usage, price));
    let stated = reported
        .get("cost")
        .and_then(Value::as_f64)
        .filter(|cost| cost.is_finite() && *cost >= 0.0);
    if let Some(total_usd) = stated {
        usage.cost = Some(cost::stated(total_usd, usage.cost.as_ref()));
    }
    Some(usage)
}
