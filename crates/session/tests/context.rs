//! Contexts rebuilt from entries, and their conversion to the roles that providers take.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::context::{self, DanglingCalls, Leaf, RebuildOptions, SessionContext, View};
use longhand_session::store::{IndexRow, StoreError};
use longhand_session::{Entry, EntryId, EntryReader, Message, llm};
use proptest::prelude::*;
use serde_json::{Value, json};

fn entries(value: &Value) -> Vec<Arc<Entry>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn options(case: &Value) -> RebuildOptions<'static> {
    let is_set = |key: &str| case["options"][key] == true;
    RebuildOptions {
        view: match (is_set("transcript"), is_set("collapseCompactedHistory")) {
            (false, _) => View::Model,
            (true, false) => View::Transcript,
            (true, true) => View::CollapsedTranscript,
        },
        dangling_calls: if is_set("keepDanglingToolCalls") {
            DanglingCalls::Kept
        } else {
            DanglingCalls::Removed
        },
        frames: None,
    }
}

fn leaf(case: &Value) -> Leaf {
    match case.get("leafId") {
        None => Leaf::Last,
        Some(Value::Null) => Leaf::BeforeFirst,
        Some(id) => Leaf::At(id.as_str().unwrap().into()),
    }
}

/// The context in the form of the cases: what is not set is left out.
fn to_json(context: &SessionContext) -> Value {
    let mut value = json!({
        "messages": context.messages,
        "thinkingLevel": context.thinking_level,
        "models": context.models,
        "injectedTtsrRules": context.injected_ttsr_rules,
        "mode": context.mode,
    });
    for (key, member) in [
        ("configuredThinkingLevel", json!(context.configured_thinking_level)),
        ("serviceTier", json!(context.service_tier)),
        ("modeData", json!(context.mode_data)),
        ("cacheMissExplainedAt", json!(context.cache_miss_explained_at)),
    ] {
        if !member.is_null() {
            value[key] = member;
        }
    }
    value
}

/// Takes the text out of `actual` wherever `expected` only says how it starts or ends, after checking that it does.
fn reduce_texts(actual: &mut Value, expected: &Value) {
    match (actual, expected) {
        (Value::Array(actual), Value::Array(expected)) => {
            actual.iter_mut().zip(expected).for_each(|(a, e)| reduce_texts(a, e));
        }
        (Value::Object(actual), Value::Object(expected)) => {
            for key in ["textStartsWith", "textEndsWith"] {
                let Some(part) = expected.get(key) else { continue };
                let whole = actual.remove("text").unwrap_or_default();
                let (whole, part_text) =
                    (whole.as_str().unwrap_or_default(), part.as_str().unwrap());
                let holds = match key {
                    "textStartsWith" => whole.starts_with(part_text),
                    _ => whole.ends_with(part_text),
                };
                assert!(holds, "{whole}");
                actual.insert(key.into(), part.clone());
            }
            for (key, value) in actual {
                if let Some(expected) = expected.get(key) {
                    reduce_texts(value, expected);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_case_rebuilds_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/context");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let case: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        if case["expected"].get("messages").is_none() {
            continue;
        }
        seen += 1;
        let name = &case["name"];
        let context =
            context::build_from_entries(&entries(&case["entries"]), &leaf(&case), &options(&case));
        let mut expected = case["expected"].clone();
        let converted = expected.as_object_mut().unwrap().remove("llm");
        assert_eq!(to_json(&context), expected, "{name}");
        if let Some(expected) = converted {
            let mut actual = json!(llm::convert(&context.messages, &Prompts::default()));
            reduce_texts(&mut actual, &expected);
            assert_eq!(actual, expected, "conversion of {name}");
        }
    }
    assert!(seen >= 75, "only {seen} cases");
}

/// Says which entries were read.
struct Recording<'a> {
    entries: &'a [Arc<Entry>],
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Recording<'a> {
    fn new(entries: &'a [Arc<Entry>]) -> Self {
        Self { entries, read: RefCell::default() }
    }

    fn path(&self) -> Vec<IndexRow> {
        self.entries.iter().map(|entry| IndexRow::from(&**entry)).collect()
    }

    fn ids(self) -> Vec<String> {
        self.read.into_inner().into_iter().collect()
    }
}

impl EntryReader for Recording<'_> {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.read.borrow_mut().extend(ids.iter().map(ToString::to_string));
        let find = |id: &EntryId| {
            let entry = self.entries.iter().find(|entry| entry.id == *id).cloned();
            entry.ok_or_else(|| StoreError::UnknownEntry(id.clone()))
        };
        ids.iter().map(find).collect()
    }
}

fn chain(kinds: &[(&str, Value)]) -> Vec<Arc<Entry>> {
    let mut parent = Value::Null;
    let mut chain = Vec::new();
    for (id, kind) in kinds {
        let mut entry = kind.clone();
        entry["id"] = json!(id);
        entry["parentId"] = parent;
        entry["timestamp"] = json!("2026-03-01T10:00:00.000Z");
        chain.push(entry);
        parent = json!(id);
    }
    entries(&Value::Array(chain))
}

fn user(text: &str) -> Value {
    json!({"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}})
}

fn reply(model: &str) -> Value {
    json!({"type": "message", "message": {"role": "assistant", "provider": "p", "model": model,
        "content": [{"type": "text", "text": "ok"}], "stopReason": "stop", "timestamp": 1}})
}

fn compaction(first_kept: &str) -> Value {
    json!({"type": "compaction", "summary": "S", "firstKeptEntryId": first_kept, "tokensBefore": 1})
}

fn compacted() -> Vec<Arc<Entry>> {
    chain(&[
        ("set", json!({"type": "thinking_level_change", "thinkingLevel": "high"})),
        ("u1", user("old")),
        ("a1", reply("old")),
        ("c0", compaction("a1")),
        ("u2", user("kept")),
        ("a2", reply("kept")),
        ("log", json!({"type": "custom", "customType": "session_exit"})),
        ("c1", compaction("u2")),
        ("u3", user("new")),
    ])
}

#[test]
fn what_a_compaction_replaced_is_not_read() {
    let entries = compacted();
    let reader = Recording::new(&entries);
    let context = context::build(&reader.path(), &reader, &RebuildOptions::default()).unwrap();
    assert_eq!(context.thinking_level, "high");
    assert_eq!(context.models["default"], "p/kept");
    assert_eq!(reader.ids(), ["a2", "c1", "set", "u2", "u3"]);
}

#[test]
fn a_collapsed_transcript_reads_one_reply_of_what_it_hides() {
    let entries = compacted();
    let reader = Recording::new(&entries);
    let options = RebuildOptions { view: View::CollapsedTranscript, ..RebuildOptions::default() };
    let context = context::build(&reader.path(), &reader, &options).unwrap();
    let flags = context.cache_miss_explained_at.unwrap();
    assert_eq!(flags, [false, true, false, false], "the hidden compaction explains the second");
    assert_eq!(reader.ids(), ["a1", "a2", "c1", "set", "u2", "u3"]);
}

#[test]
fn a_compaction_works_on_the_path_from_what_the_last_one_kept() {
    let ids = |entries: &[Arc<Entry>]| {
        let reader = Recording::new(entries);
        let path = reader.path();
        let working = context::working_path(&path, &reader).unwrap();
        (working.iter().map(|row| row.id.to_string()).collect::<Vec<_>>(), reader.ids())
    };
    let entries = compacted();
    assert_eq!(
        ids(&entries),
        (["u2", "a2", "log", "c1", "u3"].map(String::from).into(), vec!["c1".to_owned()])
    );
    assert_eq!(ids(&entries[..3]).0, ["set", "u1", "a1"], "without a compaction");
    let reset = json!({"type": "reset_boundary"});
    let kept_before_reset = chain(&[
        ("u1", user("a")),
        ("r", reset.clone()),
        ("u2", user("b")),
        ("c", compaction("u1")),
    ]);
    assert_eq!(ids(&kept_before_reset).0, ["c"]);
    let reset_last =
        chain(&[("u1", user("a")), ("c", compaction("u1")), ("r", reset), ("u2", user("b"))]);
    assert_eq!(ids(&reset_last).0, ["u2"]);
}

#[test]
fn an_archive_and_the_smaller_one_that_replaced_it_are_one_divider() {
    let archive = |tokens_before: u64| {
        json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "u1", "method": "snapcompact",
            "tokensBefore": tokens_before})
    };
    let record = json!({"type": "custom", "customType": "maintenance_record"});
    let dividers = |kinds: &[(&str, Value)]| {
        let entries = chain(kinds);
        let reader = Recording::new(&entries);
        let options = RebuildOptions { view: View::Transcript, ..RebuildOptions::default() };
        let context = context::build(&reader.path(), &reader, &options).unwrap();
        let is_divider =
            |message: &&Arc<Message>| matches!(***message, Message::CompactionSummary(_));
        context.messages.iter().filter(is_divider).count()
    };
    let first = [("u1", user("a")), ("c1", archive(9))];
    for (later, expected) in [
        (vec![("c2", archive(9))], 1),
        (vec![("r1", record.clone()), ("c2", archive(9)), ("r2", record.clone())], 1),
        (vec![("r1", record.clone()), ("c2", archive(8))], 2),
        (vec![("u2", user("b")), ("c2", archive(9))], 2),
        (vec![("r1", record)], 1),
    ] {
        let kinds: Vec<_> = first.iter().cloned().chain(later).collect();
        assert_eq!(dividers(&kinds), expected, "{kinds:?}");
    }
}

#[test]
fn stored_messages_keep_their_identity() {
    let entries = compacted();
    let context = context::build_from_entries(&entries, &Leaf::Last, &RebuildOptions::default());
    let stored = entries.last().unwrap().message().unwrap();
    assert!(Arc::ptr_eq(context.messages.last().unwrap(), stored));
}

#[test]
fn a_change_in_the_older_form_does_not_choose_the_model_for_good() {
    let change = json!({"type": "model_change", "provider": "p", "modelId": "old-form"});
    let model = |entries: &[Arc<Entry>]| {
        let context = context::build_from_entries(entries, &Leaf::Last, &RebuildOptions::default());
        context.models.get("default").cloned()
    };
    let before = chain(&[("a", reply("m")), ("c", change.clone())]);
    assert_eq!(model(&before).as_deref(), Some("p/old-form"));
    let after = chain(&[("c", change), ("a", reply("m"))]);
    assert_eq!(model(&after).as_deref(), Some("p/m"));
}

#[test]
fn historical_forms_of_the_service_tier_are_understood() {
    for (stored, expected) in [
        (
            json!("priority"),
            json!({"openai": "priority", "anthropic": "priority", "google": "priority"}),
        ),
        (json!("openai-only"), json!({"openai": "priority"})),
        (json!("claude-only"), json!({"anthropic": "priority"})),
        (json!("flex"), json!({"openai": "flex"})),
        (json!({"google": "flex", "openai": "warp", "other": "flex"}), json!({"google": "flex"})),
        (json!("warp"), Value::Null),
        (json!(null), Value::Null),
        (json!(7), Value::Null),
    ] {
        let entries =
            chain(&[("s", json!({"type": "service_tier_change", "serviceTier": stored}))]);
        let context =
            context::build_from_entries(&entries, &Leaf::Last, &RebuildOptions::default());
        assert_eq!(json!(context.service_tier), expected, "{stored}");
    }
}

/// Entries with colliding ids, parents anywhere, and compactions that keep anything.
fn any_entries() -> impl Strategy<Value = Vec<Value>> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d", "e", ""]);
    let call = json!({"type": "toolCall", "id": "t", "name": "read", "arguments": {}});
    let kind = prop_oneof![
        Just(user("u")),
        Just(reply("m")),
        prop::sample::select(vec!["stop", "error", "aborted"]).prop_map(move |stop| {
            json!({"type": "message", "message": {"role": "assistant", "content": [call.clone()],
                "stopReason": stop, "timestamp": 1}})
        }),
        Just(json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "t",
            "toolName": "read", "content": [{"type": "text", "text": "x"}], "isError": false}})),
        Just(json!({"type": "message", "message": 5})),
        Just(json!({"type": "reset_boundary"})),
        Just(json!({"type": "mode_change", "mode": "plan"})),
        Just(json!({"type": "branch_summary", "summary": "b", "fromId": "a"})),
        Just(json!({"type": "custom_message", "customType": "interrupted-thinking", "content": "c"})),
        (id(), prop::sample::select(vec!["soft", "snapcompact"]), id()).prop_map(
            |(kept, method, through)| json!({"type": "compaction", "summary": "s", "method": method,
                "firstKeptEntryId": kept, "tokensBefore": 1, "providerReplayThroughEntryId": through,
                "details": {"kind": "experimental-context-rollover"},
                "preserveData": {"anthropicCompaction": {"provider": "p", "content": "c"}}})
        ),
    ];
    let entry = (id(), prop::option::of(id()), kind).prop_map(|(id, parent, mut entry)| {
        entry["id"] = json!(id);
        entry["parentId"] = json!(parent);
        entry
    });
    prop::collection::vec(entry, 0..12)
}

proptest! {
    #[test]
    fn any_tree_rebuilds(input in any_entries(), leaf in "[a-f]?") {
        let entries = entries(&Value::Array(input));
        for view in [View::Model, View::Transcript, View::CollapsedTranscript] {
            let options = RebuildOptions { view, ..RebuildOptions::default() };
            for leaf in [Leaf::Last, Leaf::At(leaf.as_str().into())] {
                let context = context::build_from_entries(&entries, &leaf, &options);
                if let Some(flags) = &context.cache_miss_explained_at {
                    prop_assert_eq!(flags.len(), context.messages.len());
                }
                let request = llm::request_messages(&context.messages, &Prompts::default());
                let is_neutral = |message: &Arc<Message>| {
                    ["user", "developer", "assistant", "toolResult"].contains(&message.role())
                };
                prop_assert!(request.iter().all(is_neutral));
            }
        }
    }
}
