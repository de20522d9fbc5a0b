//! The golden cases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use longhand_agent::compaction::Preparation;
use longhand_compaction::Options;
use longhand_compaction::prepare::{Terms, prepare};
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::{
    Api, ByteEstimate, Entry, EntryId, EntryReader, JsonlStore, Message, Model, ModelRef,
    SessionStore,
};
use serde_json::{Value, json};

use crate::vectors;

fn entries(case: &Value) -> Vec<Arc<Entry>> {
    let entries: Vec<Entry> = serde_json::from_value(case["entries"].clone()).unwrap();
    entries.into_iter().map(Arc::new).collect()
}

fn options(settings: &Value) -> Options {
    let mut options = Options::default();
    options.keep_recent_tokens = settings["keepRecentTokens"].as_u64().unwrap();
    options.remote_enabled = settings["remoteEnabled"] != false;
    options
}

fn model(described: &Value) -> Option<Model> {
    let text = |key: &str| described[key].as_str().unwrap_or_default();
    let name = ModelRef::new(text("provider"), text("id"));
    let api: Api = serde_json::from_value(described.get("api")?.clone()).unwrap();
    let mut model = Model::new(name, api, "");
    model.context_window = described["contextWindow"].as_u64();
    Some(model)
}

/// A preparation in the terms of the golden cases.
fn told(preparation: &Preparation) -> Value {
    let tokens = |messages: &[Arc<Message>]| {
        count_messages(&ByteEstimate, messages, EncryptedReasoning::Counted)
    };
    let first = |messages: &[Arc<Message>]| {
        let message = messages.first();
        message.map(|m| json!({"role": m.role(), "timestamp": m.timestamp()}))
    };
    let lists = preparation.file_operations.lists();
    json!({
        "first_kept_entry_id_with_metadata": preparation.first_kept_entry_id,
        "is_split_turn": preparation.is_split_turn,
        "tokens_before": preparation.tokens_before,
        "messages_to_summarize": preparation.messages_to_summarize.len(),
        "turn_prefix_messages": preparation.turn_prefix_messages.len(),
        "recent_messages": preparation.recent_messages.len(),
        "tokens": {
            "messages_to_summarize": tokens(&preparation.messages_to_summarize),
            "turn_prefix": tokens(&preparation.turn_prefix_messages),
            "recent": tokens(&preparation.recent_messages),
        },
        "previous_summary": preparation.previous_summary,
        "read_files": lists.read_files,
        "modified_files": lists.modified_files,
        "first_summarized": first(&preparation.messages_to_summarize),
        "first_recent": first(&preparation.recent_messages),
    })
}

/// The expectation without what a preparation does not hold: the id of the kept message itself follows from the other, and the
/// time of the summary before is that of its entry.
fn expected(case: &Value) -> Value {
    let mut expected = case.get("expected_required").unwrap_or(&case["expected"]).clone();
    if let Some(members) = expected.as_object_mut() {
        members.remove("first_kept_message_entry_id");
        members.remove("previous_summary_timestamp");
    }
    expected
}

#[test]
fn regions_are_those_of_the_table() {
    for case in vectors::cases("prepare-compaction", "cases") {
        let model = model(&case["active_model"]);
        let options = options(&case["settings"]);
        let terms = Terms {
            options: &options,
            model: model.as_ref(),
            non_message_tokens: 0,
            counter: &ByteEstimate,
        };
        let prepared = prepare(&entries(&case), &terms);
        assert_eq!(json!(prepared.as_ref().map(told)), expected(&case), "{}", case["name"]);
    }
}

/// The figures of a case on a real session, as far as they need no hash.
fn figures(prepared: Option<&Preparation>, expected: &Value) -> (Value, Value) {
    let count = |list: &Value| list["count"].clone();
    let mut actual = json!(prepared.map(told));
    let mut expected = expected.clone();
    if let (Some(actual), Some(expected)) = (actual.as_object_mut(), expected.as_object_mut()) {
        for key in ["read_files", "modified_files"] {
            if let Some(list) = expected.get(key) {
                let files = actual[key].as_array().unwrap().len();
                (actual[key], expected[key]) = (json!(files), count(list));
            }
        }
        // Their texts are told by hash, and the id of the kept message follows from the other.
        for key in ["previous_summary", "previous_summary_timestamp", "first_kept_message_entry_id"]
        {
            expected.remove(key);
        }
        actual.retain(|key, _| expected.contains_key(key));
    }
    (actual, expected)
}

#[test]
fn real_sessions_are_cut_as_expected_where_they_are_at_hand() {
    let Ok(folder) = std::env::var("LONGHAND_REAL_SESSIONS") else {
        println!("skipped: LONGHAND_REAL_SESSIONS names no folder with sessions");
        return;
    };
    let mut loaded = BTreeMap::new();
    for case in vectors::cases("prepare-real-sessions", "cases") {
        // Sums over whole files are checked where tokens are counted.
        if case.get("kind").is_some() {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let entries = loaded.entry(file.to_owned()).or_insert_with(|| load(&folder, file));
        let end = case["path_end_line_index"].as_u64().unwrap() as usize;
        let options = options(&case["settings"]);
        let terms =
            Terms { options: &options, model: None, non_message_tokens: 0, counter: &ByteEstimate };
        let prepared = prepare(&entries[..end], &terms);
        let expected = case.get("expected_required").unwrap_or(&case["expected"]);
        let (actual, mut expected) = figures(prepared.as_ref(), expected);
        if let Some(id) = expected.get_mut("first_kept_entry_id_with_metadata") {
            // The line of the file, header first, that the entry was read from.
            let line: usize = id.as_str().unwrap()[1..].parse().unwrap();
            *id = json!(entries[line - 1].id);
        }
        assert_eq!(actual, expected, "{file} up to line {end}, {}", case["settings"]);
    }
}

/// The entries of a file in its order, migrated.
fn load(folder: &str, file: &str) -> Vec<Arc<Entry>> {
    let scratch = tempfile::tempdir().unwrap();
    let copy = scratch.path().join(file);
    std::fs::copy(Path::new(folder).join(file), &copy).unwrap();
    let mut store = JsonlStore::resume(copy);
    let rows = store.open().unwrap().rows;
    let ids: Vec<EntryId> = rows.into_iter().map(|row| row.id).collect();
    store.read(&ids).unwrap()
}
