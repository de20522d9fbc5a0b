//! A conversation as text.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

mod vectors;

use std::sync::Arc;

use longhand_compaction::serialize::{self, Dialect};
use longhand_session::Message;
use serde_json::{Value, json};

fn messages(value: &Value) -> Vec<Arc<Message>> {
    serde_json::from_value(value.clone()).unwrap()
}

const DIALECTS: [(&str, Dialect); 4] = [
    ("plain", Dialect::Plain),
    ("xml", Dialect::Xml),
    ("anthropic", Dialect::Anthropic),
    ("harmony", Dialect::Harmony),
];

#[test]
fn every_dialect_writes_the_golden_text() {
    for case in vectors::cases("serialize-conversation", "cases") {
        let messages = messages(&case["messages"]);
        for (name, dialect) in DIALECTS {
            let expected = &case["expected"][name];
            // Plain text also shows what the program told the model: see the next test.
            if expected.is_null() || (case.get("deviation").is_some() && name == "plain") {
                continue;
            }
            let context = format!("{}, {name}", case["name"]);
            let plain = serialize::conversation(&messages, dialect);
            assert_eq!(plain, expected["conversation"], "{context}");
            let hardened = serialize::for_summary(&messages, dialect);
            assert_eq!(hardened, expected["for_summary"], "{context}, hardened");
        }
    }
}

#[test]
fn plain_text_shows_what_the_program_told_the_model() {
    let messages = messages(&json!([
        {"role": "developer", "content": "Be brief.", "timestamp": 1},
        {"role": "developer", "content": "", "timestamp": 1},
        {"role": "user", "content": "Fix it.", "timestamp": 1},
    ]));
    let text = serialize::conversation(&messages, Dialect::Plain);
    assert_eq!(text, "[Context]: Be brief.\n\n[User]: Fix it.");
}

#[test]
fn reasoning_that_comes_in_tags_of_its_own_is_wrapped_once() {
    let text = "<thinking>\none\n</thinking>\n<thinking>two</thinking>";
    let messages = messages(&json!([
        {"role": "assistant", "content": [{"type": "thinking", "thinking": text}], "timestamp": 1},
    ]));
    let text = serialize::conversation(&messages, Dialect::Xml);
    assert_eq!(text, "\n\nAssistant: <thinking>\none\ntwo\n</thinking>");
}
