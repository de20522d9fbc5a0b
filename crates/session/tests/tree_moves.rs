//! Moves through a tree: what they leave behind, where they end, which calls are open there, and what entries are called.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhand_session::block::ImageBlock;
use longhand_session::store::IndexRow;
use longhand_session::tree::{self, Abandoned, Labels, Landing, Returned};
use longhand_session::{Entry, EntryId, Header, MemoryStore, Tree};
use proptest::prelude::*;
use serde_json::{Value, json};

fn tree_of(entries: &[Arc<Entry>]) -> Tree {
    Tree::new(entries.iter().map(|entry| IndexRow::from(&**entry)))
}

fn optional(value: &Value) -> Option<EntryId> {
    value.as_str().map(EntryId::from)
}

#[test]
fn a_summary_of_a_branch_is_of_what_the_move_leaves_behind() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/context/78-collect-for-branch-summary.json");
    let case: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let entries: Vec<Arc<Entry>> = serde_json::from_value(case["entries"].clone()).unwrap();
    let tree = tree_of(&entries);
    for case in case["expected"]["cases"].as_array().unwrap() {
        let expected = Abandoned {
            entries: serde_json::from_value(case["entryIds"].clone()).unwrap(),
            common: optional(&case["commonAncestorId"]),
        };
        let target = optional(&case["targetId"]).unwrap();
        let actual = tree.abandoned(optional(&case["oldLeafId"]).as_ref(), &target);
        assert_eq!(actual, expected, "{case}");
    }
}

#[test]
fn a_circle_is_left_once() {
    let tree = tree_of(&chain(&[
        json!({ "type": "custom", "id": "a", "parentId": "b" }),
        json!({ "type": "custom", "id": "b", "parentId": "a" }),
        json!({ "type": "custom", "id": "c", "parentId": null }),
    ]));
    let left = tree.abandoned(Some(&"b".into()), &"c".into());
    assert_eq!(left, Abandoned { entries: vec!["a".into(), "b".into()], common: None });
}

/// Entries with what each has of its own; ids `e0`, `e1`, … in a chain where none are given.
fn chain(entries: &[Value]) -> Vec<Arc<Entry>> {
    let entries = entries.iter().enumerate().map(|(n, entry)| {
        let mut base = json!({
            "id": format!("e{n}"),
            "parentId": n.checked_sub(1).map(|before| format!("e{before}")),
            "timestamp": "2026-01-01T00:00:00.000Z",
        });
        base.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        Arc::new(serde_json::from_value(base).unwrap())
    });
    entries.collect()
}

fn message(message: &Value) -> Value {
    json!({ "type": "message", "message": message })
}

fn custom_message(custom_type: &str, attribution: &str) -> Value {
    json!({
        "type": "custom_message", "customType": custom_type, "attribution": attribution,
        "content": [{ "type": "text", "text": "said" }, image()],
    })
}

fn image() -> Value {
    json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" })
}

#[test]
fn a_move_ends_before_what_is_to_be_said_again_and_at_anything_else() {
    let said = |images: usize| {
        let image = ImageBlock {
            data: "AAAA".into(),
            mime_type: "image/png".into(),
            ..ImageBlock::default()
        };
        Some(Returned { text: "said".into(), images: vec![image; images] })
    };
    let user = message(&json!({ "role": "user", "content": "said" }));
    let with_image = json!([{ "type": "text", "text": "said" }, image()]);
    for (target, returned) in [
        (user, said(0)),
        (message(&json!({ "role": "user", "content": with_image })), said(1)),
        (message(&json!({ "role": "developer", "content": "said" })), None),
        (message(&json!({ "role": "assistant", "content": [] })), None),
        (message(&json!({ "role": "toolResult", "toolCallId": "c", "content": [] })), None),
        (custom_message("skill-prompt", "user"), said(1)),
        (custom_message("collab-prompt", "user"), said(1)),
        (custom_message("skill-prompt", "agent"), None),
        (custom_message("collab-prompt", "agent"), said(0)),
        (custom_message("of-an-extension", "user"), said(0)),
        (
            json!({ "type": "compaction", "summary": "s", "firstKeptEntryId": "", "tokensBefore": 1 }),
            None,
        ),
        (json!({ "type": "branch_summary", "fromId": "root", "summary": "s" }), None),
    ] {
        let entries = chain(&[json!({ "type": "custom", "customType": "x" }), target.clone()]);
        let leaf = if returned.is_some() { "e0" } else { "e1" };
        let expected = Landing { leaf: Some(leaf.into()), returned };
        assert_eq!(tree::landing(&tree_of(&entries), &entries[1]), expected, "{target}");
    }
}

#[test]
fn what_stands_first_is_said_again_from_before_the_first() {
    for parent in [json!(null), json!("gone"), json!("e0")] {
        let mut first = message(&json!({ "role": "user", "content": "said" }));
        first["parentId"] = parent.clone();
        let entries = chain(&[first]);
        assert_eq!(tree::landing(&tree_of(&entries), &entries[0]).leaf, None, "{parent}");
    }
}

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({ "type": "toolCall", "id": id, "name": "x", "arguments": {} });
    let content: Vec<Value> = ids.iter().map(call).collect();
    message(&json!({ "role": "assistant", "content": content, "stopReason": "toolUse" }))
}

fn result(id: &str) -> Value {
    message(&json!({ "role": "toolResult", "toolCallId": id, "toolName": "x", "content": [] }))
}

#[test]
fn calls_are_open_until_they_are_answered_or_something_else_is_said() {
    let user = || message(&json!({ "role": "user", "content": "u" }));
    let note = || json!({ "type": "custom", "customType": "tool_execution_start" });
    let label = || json!({ "type": "label", "targetId": "e0" });
    let moved = || json!({ "type": "branch_summary", "fromId": "e0", "summary": "" });
    let boundary = || json!({ "type": "reset_boundary" });
    for (name, entries, open) in [
        ("no answer", vec![user(), calls(&["a", "b"])], vec!["a", "b"]),
        ("one answer", vec![user(), calls(&["a", "b"]), note(), result("b")], vec!["a"]),
        ("all answered", vec![calls(&["a"]), result("a")], vec![]),
        ("notes and moves say nothing", vec![calls(&["a"]), note(), label(), moved()], vec!["a"]),
        ("something was said", vec![calls(&["a"]), user()], vec![]),
        ("a newer reply", vec![calls(&["a"]), calls(&["b"])], vec!["b"]),
        ("a fresh start", vec![calls(&["a"]), boundary()], vec![]),
        ("no reply", vec![user(), result("a")], vec![]),
        ("nothing", vec![], vec![]),
    ] {
        let entries = chain(&entries);
        let in_memory: Vec<_> = tree::open_calls_in(&entries).into_iter().map(|c| c.id).collect();
        assert_eq!(in_memory, open, "{name}");
        let path: Vec<IndexRow> = entries.iter().map(|entry| IndexRow::from(&**entry)).collect();
        let store = MemoryStore::with_entries(Header::default(), entries);
        let read: Vec<_> =
            tree::open_calls(&path, &store).unwrap().into_iter().map(|call| call.id).collect();
        assert_eq!(read, open, "{name}");
    }
}

#[test]
fn the_last_name_of_an_entry_counts_and_an_empty_one_takes_it_away() {
    let label =
        |target: &str, label: Value| json!({ "type": "label", "targetId": target, "label": label });
    let entries = chain(&[
        label("a", json!("one")),
        label("b", json!("two")),
        label("a", json!("three")),
        label("b", json!("")),
        label("c", json!("four")),
        label("c", Value::Null),
    ]);
    let store = MemoryStore::with_entries(Header::default(), entries.clone());
    let labels = Labels::read(&tree_of(&entries), &store).unwrap();
    assert_eq!(labels.iter().collect::<Vec<_>>(), [(&"a".into(), "three")]);
    assert_eq!(labels.of(&"b".into()), None);
}

fn any_entries() -> impl Strategy<Value = Vec<Arc<Entry>>> {
    proptest::collection::vec((0..10u8, proptest::option::of(0..12u8)), 0..12).prop_map(|links| {
        let entries: Vec<Value> = links
            .iter()
            .map(|(id, parent)| {
                let parent = parent.map(|parent| parent.to_string());
                json!({ "type": "custom", "id": id.to_string(), "parentId": parent })
            })
            .collect();
        chain(&entries)
    })
}

proptest! {
    #[test]
    fn what_is_left_and_what_is_common_make_up_the_old_branch(
        entries in any_entries(), from in 0..10u8, to in 0..10u8,
    ) {
        let tree = tree_of(&entries);
        let (from, to): (EntryId, EntryId) = (from.to_string().into(), to.to_string().into());
        let left = tree.abandoned(Some(&from), &to);
        let mut whole = left.common.as_ref().map(|id| tree.path(id)).unwrap_or_default();
        whole.extend(left.entries);
        // Within a circle a path depends on where it begins.
        whole.sort();
        whole.dedup();
        let mut path = tree.path(&from);
        path.sort();
        prop_assert!(path.iter().all(|id| whole.contains(id)));
    }
}
