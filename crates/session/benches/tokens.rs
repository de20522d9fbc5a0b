//! How fast tokens are counted, on ordinary text and on the worst there is.

use divan::counter::BytesCount;
use longhand_session::tiktoken::O200k;
use longhand_session::{ByteEstimate, Fragment, TokenCounter};

fn main() {
    divan::main();
}

/// A megabyte of prose, code and JSON.
fn mixed() -> String {
    let unit = "The parser keeps every byte of a line it cannot read.\n\
        fn rank(piece: &[u8]) -> Option<u32> { ranks.get(piece).copied() }\n\
        {\"path\":\"src/main.rs\",\"offset\":120,\"limit\":80,\"ok\":true}\n\
        日本語のテキスト and 🙂 emoji, 0x7f3a91, 2026-03-01T10:00:00.000Z\n";
    unit.repeat(1_000_000 / unit.len())
}

fn count(bencher: divan::Bencher<'_, '_>, counter: &dyn TokenCounter, text: &str) {
    counter.count(Fragment::Text("the vocabulary is built before the clock runs"));
    bencher
        .counter(BytesCount::of_str(text))
        .bench_local(|| counter.count(Fragment::Text(divan::black_box(text))));
}

#[divan::bench]
fn o200k_mixed(bencher: divan::Bencher<'_, '_>) {
    count(bencher, &O200k, &mixed());
}

#[divan::bench(args = ["a", " ", "-", "aB3+"])]
fn o200k_one_run(bencher: divan::Bencher<'_, '_>, unit: &str) {
    count(bencher, &O200k, &unit.repeat(1_000_000 / unit.len()));
}

#[divan::bench]
fn estimate_mixed(bencher: divan::Bencher<'_, '_>) {
    count(bencher, &ByteEstimate, &mixed());
}
