//! A context that grew with its session is the one that a rebuild gives.

use std::sync::Arc;

use longhand_session::context::{Growth, LiveContext, RebuildOptions};
use longhand_session::store::IndexRow;
use longhand_session::{Entry, EntryId, Header, MemoryStore, Message, SessionStore, Tree};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What is appended, without id, parent and time.
fn body() -> impl Strategy<Value = Value> {
    let calls = prop::collection::vec(0..5u8, 0..4);
    let stop = prop::sample::select(vec!["stop", "stop", "stop", "toolUse", "error", "aborted"]);
    prop_oneof![
        4 => Just(json!({"type": "message",
            "message": {"role": "user", "content": "Go on", "timestamp": 1}})),
        8 => (calls, stop, any::<bool>(), any::<bool>()).prop_map(turn),
        10 => (0..5u8).prop_map(|call| json!({"type": "message", "message": {"role": "toolResult",
            "toolCallId": format!("call{call}"), "toolName": "read", "isError": false,
            "content": [{"type": "text", "text": "done"}], "timestamp": 1}})),
        2 => Just(json!({"type": "custom_message", "customType": "interrupted-thinking",
            "content": "I was about to", "display": false})),
        1 => Just(json!({"type": "custom_message", "customType": "note", "content": "N",
            "display": true})),
        1 => Just(json!({"type": "branch_summary", "fromId": "root", "summary": "There"})),
        1 => Just(json!({"type": "thinking_level_change", "thinkingLevel": "high"})),
        1 => Just(json!({"type": "reset_boundary"})),
        1 => any::<prop::sample::Index>().prop_map(|kept| json!({"type": "compaction",
            "summary": "S", "tokensBefore": 9, "kept": kept.index(1_000)})),
    ]
}

fn turn((calls, stop, says, thinks): (Vec<u8>, &str, bool, bool)) -> Value {
    let mut content = Vec::new();
    if thinks {
        content.push(json!({"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}));
    }
    if says {
        content.push(json!({"type": "text", "text": "I say."}));
    }
    content.extend(calls.iter().map(|call| {
        json!({"type": "toolCall", "id": format!("call{call}"), "name": "read", "arguments": {}})
    }));
    json!({"type": "message", "message": {"role": "assistant", "content": content,
        "provider": "p", "model": "m", "stopReason": stop, "timestamp": 1}})
}

/// One step: an entry at the leaf, after the leaf has moved or not.
fn steps() -> impl Strategy<Value = Vec<(Option<prop::sample::Index>, Value)>> {
    let moved = prop_oneof![9 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)];
    prop::collection::vec((moved, body()), 1..80)
}

/// A session in memory with a tree, and a live context of its active branch.
struct Growing {
    store: MemoryStore,
    tree: Tree,
    live: LiveContext,
    rebuilds: usize,
}

impl Growing {
    fn new() -> Self {
        Self {
            store: MemoryStore::new(Header::default()),
            tree: Tree::default(),
            live: LiveContext::default(),
            rebuilds: 0,
        }
    }

    fn path(&self) -> Vec<IndexRow> {
        let path = self.tree.active_path();
        path.iter().map(|id| self.tree.row(id).expect("on the path").clone()).collect()
    }

    fn rebuilt(&self) -> LiveContext {
        LiveContext::rebuild(&self.path(), &self.store, &RebuildOptions::default())
            .expect("a store in memory reads")
    }

    fn move_leaf(&mut self, to: prop::sample::Index) {
        let ids: Vec<EntryId> = self.store.entries().iter().map(|entry| entry.id.clone()).collect();
        if !ids.is_empty() {
            self.tree.set_leaf(Some(&ids[to.index(ids.len())])).expect("it is there");
            self.live = self.rebuilt();
        }
    }

    fn append(&mut self, mut body: Value) {
        let path = self.path();
        if let Some(kept) = body.get("kept").and_then(Value::as_u64) {
            let kept = path.get(kept as usize % path.len().max(1));
            body["firstKeptEntryId"] = json!(kept.map_or("", |row| row.id.as_str()));
        }
        body["id"] = json!(format!("{:08x}", self.store.entries().len()));
        body["parentId"] = json!(self.tree.leaf());
        body["timestamp"] = json!("2026-03-01T10:00:00.000Z");
        let entry: Arc<Entry> = Arc::new(serde_json::from_value(body).expect("an entry"));
        self.store.append(&[Arc::clone(&entry)]).expect("a new id");
        self.tree.append(IndexRow::from(&*entry));
        if self.live.append(&entry) == Growth::NeedsRebuild {
            self.rebuilds += 1;
            self.live = self.rebuilt();
        }
    }

    fn messages(&self) -> Vec<Arc<Message>> {
        self.live.messages().iter().cloned().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_grown_context_is_the_rebuilt_one(steps in steps()) {
        let mut growing = Growing::new();
        for (moved, body) in steps {
            if let Some(to) = moved {
                growing.move_leaf(to);
            }
            growing.append(body.clone());
            let rebuilt: Vec<_> = growing.rebuilt().messages().iter().cloned().collect();
            prop_assert_eq!(growing.messages(), rebuilt, "after {}", body);
        }
    }
}

#[test]
fn turns_with_calls_and_results_never_ask_for_a_rebuild() {
    let mut growing = Growing::new();
    for n in 0..50u8 {
        let calls = vec![n, n + 100];
        growing.append(json!({"type": "message",
            "message": {"role": "user", "content": "Go on", "timestamp": 1}}));
        growing.append(turn((calls.clone(), "toolUse", n % 2 == 0, true)));
        for call in calls {
            growing.append(json!({"type": "message", "message": {"role": "toolResult",
                "toolCallId": format!("call{call}"), "toolName": "read", "isError": false,
                "content": [], "timestamp": 1}}));
        }
    }
    assert_eq!((growing.rebuilds, growing.messages().len()), (0, 200));
}
