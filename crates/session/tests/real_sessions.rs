//! Whole sessions of earlier versions, where the files are at hand: the folder in `LONGHAND_REAL_SESSIONS`.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::context::{self, RebuildOptions, View};
use longhand_session::store::IndexRow;
use longhand_session::{JsonlStore, Message, SessionStore, Tree, llm};
use serde_json::{Value, json};

/// What the cases say of a context, without its text.
fn figures(store: &JsonlStore, path: &[IndexRow], view: View) -> Value {
    let options = RebuildOptions { view, ..RebuildOptions::default() };
    let context = context::build(path, store, &options).unwrap();
    let messages = &context.messages;
    let converted = llm::convert(messages, &Prompts::default());
    let names = |part: &[Arc<Message>]| json!(part.iter().map(|m| m.role()).collect::<Vec<_>>());
    json!({
        "messageCount": messages.len(),
        "roles": roles(messages),
        "blockCounts": blocks(messages),
        "llmCount": converted.len(),
        "llmRoles": roles(&converted),
        "thinkingLevel": context.thinking_level,
        "models": context.models,
        "mode": context.mode,
        "injectedTtsrRules": context.injected_ttsr_rules,
        "firstRoles": names(&messages[..5]),
        "lastRoles": names(&messages[messages.len() - 5..]),
        "firstTimestamp": messages[0].timestamp(),
        "lastTimestamp": messages[messages.len() - 1].timestamp(),
    })
}

fn roles(messages: &[Arc<Message>]) -> BTreeMap<String, u64> {
    let mut roles = BTreeMap::new();
    for message in messages {
        *roles.entry(message.role().to_owned()).or_default() += 1;
    }
    roles
}

/// How many blocks of each type all messages hold.
fn blocks(messages: &[Arc<Message>]) -> BTreeMap<String, u64> {
    let mut types = BTreeMap::new();
    for message in json!(messages).as_array().unwrap() {
        for block in message["content"].as_array().into_iter().flatten() {
            *types.entry(block["type"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    types
}

fn check(case: &str, file: &str) {
    let Ok(folder) = std::env::var("LONGHAND_REAL_SESSIONS") else {
        println!("skipped: LONGHAND_REAL_SESSIONS names no folder with `{file}`");
        return;
    };
    let case: Value = serde_json::from_str(case).unwrap();
    let expected = &case["expected"];
    let scratch = tempfile::tempdir().unwrap();
    let copy = scratch.path().join(file);
    fs::copy(Path::new(&folder).join(file), &copy).unwrap();
    let mut store = JsonlStore::resume(copy);
    let opened = store.open().unwrap();
    assert_eq!(opened.needs_rewrite, expected["migrated"] == true);
    assert_eq!(json!(opened.rows.len()), expected["entryCount"]);
    let tree = Tree::new(opened.rows);
    let mut path: Vec<IndexRow> = tree.ancestors(tree.leaf().unwrap()).cloned().collect();
    path.reverse();
    for (key, view) in [
        ("llmContext", View::Model),
        ("transcript", View::Transcript),
        ("collapsedTranscript", View::CollapsedTranscript),
    ] {
        assert_eq!(figures(&store, &path, view), expected[key], "{file}: {key}");
    }
}

#[test]
fn a_session_with_two_compactions_rebuilds() {
    check(include_str!("data/context/76-real-before-compaction.json"), "before-compaction.jsonl");
}

#[test]
fn a_session_with_many_failed_turns_rebuilds() {
    check(include_str!("data/context/77-real-large-session.json"), "large-session.jsonl");
}
