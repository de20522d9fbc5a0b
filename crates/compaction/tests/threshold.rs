//! When a context is too large.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

mod vectors;

use longhand_compaction::threshold::{self, Bands};
use longhand_compaction::{Options, options::SmallWindowReserve};
use serde_json::Value;

fn options(settings: &Value) -> Options {
    let mut options = Options::default();
    if let Some(tokens) = settings["reserveTokens"].as_u64() {
        options.reserve_tokens = Some(tokens);
    }
    if let Some(percent) = settings["thresholdPercent"].as_f64() {
        options.threshold_percent = percent;
    }
    if let Some(tokens) = settings["thresholdTokens"].as_f64() {
        options.threshold_tokens = tokens;
    }
    if settings["enabled"] == false {
        options.enabled = false;
    }
    if settings["strategy"] == "off" {
        options.method_order.clear();
    }
    options
}

#[test]
fn reserves_and_thresholds_are_those_of_the_table() {
    for row in vectors::cases("thresholds", "rows") {
        let window = row["context_window"].as_u64().unwrap();
        let options = options(&row["settings"]);
        let required = row.get("threshold_required").unwrap_or(&row["threshold"]);
        let threshold = threshold::resolve(window, &options);
        assert_eq!(
            threshold::effective_reserve(window, &options),
            row["effective_reserve"],
            "{row}"
        );
        assert_eq!(threshold::budget_reserve(window, &options), row["budget_reserve"], "{row}");
        assert_eq!(threshold, *required, "{row}");
        for (tokens, expected) in
            [(threshold, "should_compact_at_threshold"), (threshold + 1, "should_compact_above")]
        {
            let is_due = threshold::should_compact(tokens, window, &options);
            assert_eq!(is_due, row[expected], "{tokens} tokens: {row}");
        }
    }
}

#[test]
fn a_pass_is_due_strictly_above_the_threshold_and_only_where_it_may_run() {
    for row in vectors::cases("thresholds", "should_compact") {
        // A negative window is as unknown as 0.
        let window = row["context_window"].as_u64().unwrap_or(0);
        let tokens = row["context_tokens"].as_u64().unwrap();
        let is_due = threshold::should_compact(tokens, window, &options(&row["settings"]));
        assert_eq!(is_due, row["should_compact"], "{row}");
    }
}

#[test]
fn bands_follow_from_the_threshold() {
    for (window, threshold, lead, speculation_start, recovery, grace_cap) in [
        (16_384, 13_927, 8_192, 5_735, 11_141, 8_192),
        (32_768, 16_384, 8_192, 8_192, 13_107, 24_576),
        (65_536, 49_152, 8_192, 40_960, 39_321, 57_344),
        (100_000, 83_616, 10_452, 73_164, 66_892, 91_808),
        (128_000, 108_800, 13_600, 95_200, 87_040, 119_808),
        (200_000, 170_000, 21_250, 148_750, 136_000, 191_250),
        (272_000, 231_200, 28_900, 202_300, 184_960, 260_100),
        (400_000, 340_000, 32_000, 308_000, 272_000, 372_000),
        (1_000_000, 850_000, 32_000, 818_000, 680_000, 882_000),
    ] {
        let options = Options::default();
        let retry_fit = window - threshold::budget_reserve(window, &options);
        assert_eq!(
            Bands::new(window, &options),
            Bands { threshold, recovery, retry_fit, lead, speculation_start, grace_cap },
            "window {window}"
        );
    }
}

#[test]
fn a_scaled_reserve_leaves_small_windows_a_usable_threshold() {
    let mut options = Options::default();
    options.small_window_reserve = SmallWindowReserve::Scaled;
    for (window, expected) in
        [(19_276, 14_457), (24_000, 18_000), (32_767, 24_576), (32_768, 16_384)]
    {
        assert_eq!(threshold::resolve(window, &options), expected, "window {window}");
    }
    options.reserve_tokens = Some(16_384);
    assert_eq!(threshold::resolve(24_000, &options), 7_616, "a reserve that is set stays");
}

#[test]
fn what_is_kept_is_at_most_half_of_the_threshold() {
    let options = Options::default();
    for (window, expected) in [
        (None, 20_000),
        (Some(0), 20_000),
        (Some(32_768), 8_192),
        (Some(200_000), 20_000),
        (Some(1), 1),
    ] {
        assert_eq!(threshold::keep_recent(window, &options), expected, "window {window:?}");
    }
}
