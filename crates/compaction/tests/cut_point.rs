//! Where history is cut.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

mod vectors;

use longhand_compaction::cut_point::{self, Candidate, Cut, Place};
use longhand_session::context::message_of;
use longhand_session::tokens::{EncryptedReasoning, count_message};
use longhand_session::{ByteEstimate, Entry};
use serde_json::{Value, json};

/// The candidates of a case, with the cost of what is a message.
fn candidates(case: &Value) -> Vec<Candidate> {
    let entries: Vec<Entry> = serde_json::from_value(case["entries"].clone()).unwrap();
    entries.iter().map(candidate).collect()
}

fn candidate(entry: &Entry) -> Candidate {
    let message = message_of(entry);
    let count = |message: &_| count_message(&ByteEstimate, message, EncryptedReasoning::Counted);
    let tokens = message.as_deref().map_or(0, count);
    Candidate { place: Place::of(&entry.kind), tokens }
}

#[test]
fn cuts_are_those_of_the_table() {
    for case in vectors::cases("cut-points", "cases") {
        let start = case["start"].as_u64().unwrap() as usize;
        let end = case["end"].as_u64().unwrap() as usize;
        let keep_tokens = case["keep_recent_tokens"].as_u64().unwrap();
        let cut = cut_point::find(&candidates(&case)[start..end], keep_tokens);
        let turn_start = cut.split_turn_start.map_or(json!(-1), |at| json!(start + at));
        let actual = json!({
            "first_kept_entry_index": start + cut.first_kept,
            "turn_start_index": turn_start,
            "is_split_turn": cut.split_turn_start.is_some(),
        });
        assert_eq!(actual, case["expected"], "{}", case["name"]);
    }
}

#[test]
fn a_group_larger_than_what_should_be_kept_is_kept_when_it_is_the_newest() {
    let turn = [(Place::TurnStart, 10), (Place::CutPoint, 10), (Place::Inside, 400)];
    let turn = turn.map(|(place, tokens)| Candidate { place, tokens });
    let cut = cut_point::find(&[turn, turn].concat(), 20);
    assert_eq!(cut, Cut { first_kept: 4, split_turn_start: Some(3) });
}
