//! How long a context takes to rebuild after a compaction, by the length of the session.

use std::sync::Arc;

use longhand_session::context::{self, LiveContext, RebuildOptions};
use longhand_session::store::IndexRow;
use longhand_session::{Entry, Header, MemoryStore, llm};
use serde_json::json;

fn main() {
    divan::main();
}

/// A session of `turns` messages whose newest compaction keeps the last hundred.
fn session(turns: usize) -> Vec<Arc<Entry>> {
    let timestamp = "2026-03-01T10:00:00.000Z";
    let mut entries: Vec<serde_json::Value> = (0..turns)
        .map(|turn| {
            let parent = turn.checked_sub(1).map(|before| format!("{before:08}"));
            let text = "word ".repeat(100);
            let message = if turn % 2 == 0 {
                json!({"role": "user", "content": text, "timestamp": turn})
            } else {
                json!({"role": "assistant", "content": [{"type": "text", "text": text}],
                    "provider": "p", "model": "m", "stopReason": "stop", "timestamp": turn})
            };
            json!({"type": "message", "id": format!("{turn:08}"), "parentId": parent,
                "timestamp": timestamp, "message": message})
        })
        .collect();
    entries.push(json!({"type": "compaction", "id": "c", "parentId": format!("{:08}", turns - 1),
        "timestamp": timestamp, "summary": "S", "firstKeptEntryId": format!("{:08}", turns - 100),
        "tokensBefore": 1}));
    serde_json::from_value(entries.into()).expect("entries of the known form")
}

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn after_a_compaction(bencher: divan::Bencher<'_, '_>, turns: usize) {
    let entries = session(turns);
    let path: Vec<IndexRow> = entries.iter().map(|entry| IndexRow::from(&**entry)).collect();
    let store = MemoryStore::with_entries(Header::default(), entries);
    bencher.bench_local(|| {
        context::build(divan::black_box(&path), &store, &RebuildOptions::default())
            .expect("all entries are in memory")
    });
}

#[divan::bench]
fn request_of_a_thousand_messages(bencher: divan::Bencher<'_, '_>) {
    let entries = session(1_000);
    let messages: Vec<_> =
        entries.iter().filter_map(|entry| entry.message()).map(Arc::clone).collect();
    let prompts = longhand_prompts::Prompts::default();
    bencher.bench_local(|| llm::request_messages(divan::black_box(&messages), &prompts));
}

/// A session without a compaction, so that all of it is seen: a turn with a call, and the result of it.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn after_an_append(bencher: divan::Bencher<'_, '_>, turns: usize) {
    let mut entries = session(turns);
    entries.pop();
    let grown = LiveContext::of_entries(&entries, &RebuildOptions::default());
    let message = |message: serde_json::Value| -> Entry {
        let entry = json!({"type": "message", "id": "new", "message": message});
        serde_json::from_value(entry).expect("an entry of the known form")
    };
    let call = message(json!({"role": "assistant", "stopReason": "toolUse", "content": [
        {"type": "toolCall", "id": "call", "name": "read", "arguments": {}}]}));
    let result = message(json!({"role": "toolResult", "toolCallId": "call", "toolName": "read",
        "content": [{"type": "text", "text": "done"}], "isError": false}));
    bencher.with_inputs(|| grown.clone()).bench_local_values(|mut live| {
        let grew = [live.append(divan::black_box(&call)), live.append(&result)];
        (live, grew)
    });
}

/// The same entries by a whole rebuild.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn whole_after_an_append(bencher: divan::Bencher<'_, '_>, turns: usize) {
    let mut entries = session(turns);
    entries.pop();
    let path: Vec<IndexRow> = entries.iter().map(|entry| IndexRow::from(&**entry)).collect();
    let store = MemoryStore::with_entries(Header::default(), entries);
    bencher.bench_local(|| {
        context::build(divan::black_box(&path), &store, &RebuildOptions::default())
            .expect("all entries are in memory")
    });
}
