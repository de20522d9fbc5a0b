//! What of a branch is replaced, and what is kept.

mod vectors;

use std::sync::Arc;

use longhand_agent::compaction::Preparation;
use longhand_compaction::Options;
use longhand_compaction::prepare::{Terms, prepare};
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::{Api, ByteEstimate, Entry, Message, Model, ModelRef};
use serde_json::{Value, json};

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
