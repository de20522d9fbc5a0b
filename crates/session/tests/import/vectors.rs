//! Golden transcripts, and what becomes of them.

use longhand_session::import::{Origin, Replay};
use longhand_session::time::Timestamp;
use serde_json::{Value, json};

use crate::play::{self, NOW};

fn vector(name: &str) -> Value {
    let path = format!("{}/tests/data/session/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn imported(origin: Origin, vector: &Value) -> Value {
    let mut transcript = play::lines(vector["records"].as_array().unwrap());
    transcript.extend(vector["tornTail"].as_str().unwrap_or_default().as_bytes());
    let imported = play::import(origin, &transcript, Replay::Possible);
    let title = imported.facts.title.unwrap();
    let mut entries = serde_json::to_value(&imported.entries).unwrap();
    let last = entries.as_array_mut().unwrap().last_mut().unwrap();
    assert_eq!(last["timestamp"], Timestamp::from_millis(NOW).as_str());
    last["timestamp"] = "<now>".into();
    last["id"] = "<generated>".into();
    json!({
        "cwd": imported.facts.cwd, "title": title.text, "titleSource": title.source.as_str(), "entries": entries,
    })
}

fn assert_same(found: &Value, expected: &Value) {
    let entries = |value: &Value| value["entries"].as_array().unwrap().clone();
    for (found, expected) in entries(found).iter().zip(entries(expected)) {
        assert_eq!(*found, expected);
    }
    assert_eq!(found, expected);
}

#[test]
fn a_claude_code_transcript_becomes_a_tree() {
    let vector = vector("import-claude");
    assert_same(&imported(Origin::Claude, &vector), &vector["expectedBeyond"]);
}

#[test]
fn a_codex_transcript_becomes_a_chain() {
    let vector = vector("import-codex");
    assert_same(&imported(Origin::Codex, &vector), &vector["expected"]);
}
