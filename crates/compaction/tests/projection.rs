//! How large a context will be after a compaction.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::sync::Arc;

use longhand_agent::Branch;
use longhand_agent::compaction::CompactionResult;
use longhand_agent::shared_list::SharedList;
use longhand_compaction::Options;
use longhand_compaction::prepare::{Terms, prepare};
use longhand_compaction::projection::{self, Scale};
use longhand_session::{ByteEstimate, Entry, Epoch, Generation, SessionId};
use serde_json::json;

/// Four messages of ten tokens each.
fn branch() -> Branch {
    let entry = |(at, role): (usize, &str)| {
        let content = json!([{"type": "text", "text": "x".repeat(40)}]);
        let message = json!({"role": role, "content": content, "timestamp": 1});
        let entry = json!({"type": "message", "id": format!("e{at}"), "message": message});
        Arc::new(serde_json::from_value::<Entry>(entry).unwrap())
    };
    let roles = ["user", "assistant", "user", "assistant"];
    Branch {
        session: SessionId::from("s"),
        leaf: None,
        epoch: Epoch(0),
        generation: Generation(0),
        entries: roles.into_iter().enumerate().map(entry).collect(),
        live: SharedList::default(),
    }
}

#[test]
fn a_context_after_a_compaction_is_summary_kept_messages_and_what_is_always_sent() {
    let branch = branch();
    let mut options = Options::default();
    options.keep_recent_tokens = 20;
    let terms =
        Terms { options: &options, model: None, non_message_tokens: 0, counter: &ByteEstimate };
    let preparation = prepare(&branch.entries, &terms).unwrap();
    for (first_kept, kept_tokens) in [("e2", 20), ("e1", 30), ("e3", 10), ("elsewhere", 0)] {
        let result = CompactionResult {
            summary: "y".repeat(400),
            first_kept_entry_id: first_kept.into(),
            ..CompactionResult::default()
        };
        let tokens =
            projection::project(&branch, &preparation, &result, &Scale::new(&ByteEstimate, 1_000));
        assert_eq!(tokens, 1_000 + 100 + kept_tokens, "keeping from {first_kept}");
    }
}
