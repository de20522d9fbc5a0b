//! Every reader of foreign bytes, fed with anything: noise, any JSON, and lines of a real shape that were damaged.
//!
//! A few dozen cases each, for every run of the tests; `PROPTEST_CASES=200000 cargo nextest run -p longhand-session --test fuzz` for a
//! night.
#![expect(clippy::unwrap_used, reason = "a failure that no input explains fails the test")]

mod import;
mod loader;
mod strategies;
mod title_slot;
mod tree;

use proptest::test_runner::Config;

/// Cases of each target where `PROPTEST_CASES` does not say otherwise.
const CASES: u32 = 48;

fn config() -> Config {
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config::default();
    Config { cases: if is_set { config.cases } else { CASES }, failure_persistence: None, ..config }
}
