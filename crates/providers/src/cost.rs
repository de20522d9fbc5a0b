//! What a reply cost, from its tokens and the model's prices.

use longhand_session::Usage;
use longhand_session::json::Number;
use longhand_session::model::Price;
use longhand_session::usage::Cost;

/// The cost of a reply in USD.
pub fn of(usage: &Usage, price: Price) -> Cost {
    let part = |tokens: u64, usd_per_million: f64| tokens as f64 / 1e6 * usd_per_million;
    let input = part(usage.input, price.input);
    let output = part(usage.output, price.output);
    let cache_read = part(usage.cache_read, price.cache_read);
    let cache_write = part(usage.cache_write, price.cache_write);
    cost(input, output, cache_read, cache_write)
}

/// The cost that a provider stated, in the proportions of our own estimate; all of it on the prompt where there is none.
pub fn stated(total_usd: f64, estimate: Option<&Cost>) -> Cost {
    let Some(estimate) = estimate.filter(|estimate| estimate.total.0 > 0.0) else {
        return Cost { input: Number(total_usd), total: Number(total_usd), ..Cost::default() };
    };
    let scale = total_usd / estimate.total.0;
    let parts = [estimate.input, estimate.output, estimate.cache_read, estimate.cache_write];
    let [input, output, cache_read, cache_write] = parts.map(|part| part.0 * scale);
    Cost { total: Number(total_usd), ..cost(input, output, cache_read, cache_write) }
}

fn cost(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Cost {
    Cost {
        input: Number(input),
        output: Number(output),
        cache_read: Number(cache_read),
        cache_write: Number(cache_write),
        total: Number(input + output + cache_read + cache_write),
        ..Cost::default()
    }
}
