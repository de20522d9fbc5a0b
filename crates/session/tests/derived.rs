//! Forks and extractions: what comes along, what is new, and that the original stays as it is.
#![expect(clippy::unwrap_used, reason = "a test fails where a value is missing")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_session::derived::{Birth, Costs, DeriveError, Derived, Fork, ForkLeaf, extract};
use longhand_session::time::Clock;
use longhand_session::tree::{Labels, open_calls};
use longhand_session::{
    Entry, EntryId, EntryReader, Header, JsonlStore, MemoryStore, SequentialIds, SessionStore,
    StoreError, Tree,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Noon;

impl Clock for Noon {
    fn now_millis(&self) -> i64 {
        1_767_268_800_000
    }
}

fn entries(entries: &[Value]) -> Vec<Arc<Entry>> {
    let chained = entries.iter().enumerate().map(|(n, entry)| {
        let mut base = json!({
            "id": format!("e{n}"),
            "parentId": n.checked_sub(1).map(|before| format!("e{before}")),
            "timestamp": "2026-01-01T00:00:00.000Z",
        });
        base.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        Arc::new(serde_json::from_value(base).unwrap())
    });
    chained.collect()
}

fn header() -> Header {
    serde_json::from_value(json!({
        "version": 3, "id": "origin", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w",
        "title": "Work", "titleSource": "user", "previousSessionFiles": ["/old.jsonl"],
        "ofAnotherProgram": 1,
    }))
    .unwrap()
}

fn store(of: &[Value]) -> MemoryStore {
    MemoryStore::with_entries(header(), entries(of))
}

fn fork(source: &mut dyn SessionStore, fork: &Fork) -> Result<Derived, DeriveError> {
    let birth = Birth { ids: &SequentialIds::default(), clock: &Noon, cwd: None };
    fork.of(source, birth, |header| Box::new(MemoryStore::new(header.clone())))
}

fn extraction(source: &mut dyn SessionStore, leaf: &str) -> Result<Derived, DeriveError> {
    let birth = Birth { ids: &SequentialIds::default(), clock: &Noon, cwd: Some("/elsewhere") };
    extract(source, &leaf.into(), birth, |header| Box::new(MemoryStore::new(header.clone())))
}

fn lines(store: &dyn SessionStore) -> Vec<Value> {
    store.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Ids and parents of entries, and what is worth knowing of each.
fn shape(store: &dyn SessionStore) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let shape = lines(store).into_iter().map(|line| {
        let kind = text(line.get("message").map_or(&line["type"], |message| &message["role"]));
        format!("{}<{} {kind}", text(&line["id"]), text(&line["parentId"]))
    });
    shape.collect()
}

fn user() -> Value {
    json!({ "type": "message", "message": { "role": "user", "content": "u" } })
}

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({ "type": "toolCall", "id": id, "name": "bash", "arguments": {} });
    let content: Vec<Value> = ids.iter().map(call).collect();
    let usage = json!({ "input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12,
        "cost": { "input": 0.5, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.75 } });
    json!({ "type": "message", "message": {
        "role": "assistant", "content": content, "stopReason": "toolUse", "usage": usage,
    } })
}

fn result(id: &str) -> Value {
    json!({ "type": "message", "message": {
        "role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [],
    } })
}

fn label(target: &str, label: &str) -> Value {
    json!({ "type": "label", "targetId": target, "label": label })
}

#[test]
fn a_fork_has_everything_and_names_its_origin() {
    let mut elsewhere = user();
    elsewhere["parentId"] = json!("e0");
    let mut source = store(&[user(), calls(&[]), elsewhere, label("e0", "here")]);
    let before = lines(&source);

    let forked = fork(&mut source, &Fork::default()).unwrap();

    assert_eq!(lines(&*forked.store), before);
    assert_eq!(lines(&source), before);
    let expected: Header = serde_json::from_value(json!({
        "version": 3, "id": "00000000-0000-7000-8000-000000000001",
        "timestamp": "2026-01-01T12:00:00.000Z", "cwd": "/w", "title": "Work", "titleSource": "user",
        "parentSession": "origin", "providerPromptCacheKey": "origin", "ofAnotherProgram": 1,
    }))
    .unwrap();
    assert_eq!(forked.header, expected);
}

#[test]
fn a_fork_of_a_fork_shares_the_first_ones_cache() {
    let origin = Header { provider_prompt_cache_key: Some("first".into()), ..header() };
    let forked = fork(&mut MemoryStore::new(origin), &Fork::default()).unwrap();
    assert_eq!(forked.header.provider_prompt_cache_key.as_deref(), Some("first"));
}

#[test]
fn calls_that_nobody_answered_are_answered_in_the_fork() {
    let mut source = store(&[user(), calls(&["a", "b", "c"]), result("b")]);

    let forked = fork(&mut source, &Fork::default()).unwrap();

    assert_eq!(
        shape(&*forked.store)[3..],
        ["00000001<e2 toolResult", "00000002<00000001 toolResult"]
    );
    let added = lines(&*forked.store).split_off(3);
    let answers: Vec<Value> =
        added.iter().map(|line| line["message"]["toolCallId"].clone()).collect();
    assert_eq!(answers, ["a", "c"]);
    assert!(added.iter().all(|line| line["message"]["isError"] == true));
    assert_eq!(
        forked.closed_calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        ["a", "c"]
    );
}

#[test]
fn a_fork_goes_on_where_it_is_told_to() {
    for (leaf, expected) in [
        (ForkLeaf::OfStore, Some("e2")),
        (ForkLeaf::At("e2".into()), Some("e2")),
        (ForkLeaf::At("e0".into()), Some("e0")),
        (ForkLeaf::BeforeFirst, None),
    ] {
        let mut source = store(&[user(), calls(&[]), user()]);
        let how = Fork { leaf: leaf.clone(), ..Fork::default() };
        let mut forked = fork(&mut source, &how).unwrap();
        let tree = Tree::new(forked.store.open().unwrap().rows);
        let path = tree.active_path();
        let said = path.iter().rfind(|id| id.as_str().starts_with('e'));
        assert_eq!(said.map(EntryId::as_str), expected, "{leaf:?}");
    }
    let unknown = Fork { leaf: ForkLeaf::At("gone".into()), ..Fork::default() };
    let refused = fork(&mut store(&[user()]), &unknown);
    assert!(matches!(refused.err(), Some(DeriveError::Store(StoreError::UnknownEntry(_)))));
}

#[test]
fn a_fork_without_costs_keeps_tokens_and_every_other_byte() {
    let spent = json!({ "type": "model_usage", "purpose": "summary", "api": "x", "provider": "p",
        "model": "m", "stopReason": "stop", "usage": calls(&[])["message"]["usage"] });
    let mut source = store(&[user(), calls(&[]), spent]);
    let how = Fork { costs: Costs::Zeroed, ..Fork::default() };

    let forked = lines(&*fork(&mut source, &how).unwrap().store);

    let nothing = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    let mut expected = lines(&source);
    expected[1]["message"]["usage"]["cost"] = nothing.clone();
    expected[2]["usage"]["cost"] = nothing;
    assert_eq!(forked, expected);
}

#[test]
fn an_extraction_has_one_branch_and_the_names_in_force_on_it() {
    let mut other = user();
    other["parentId"] = json!("e1");
    let mut source = store(&[
        user(),
        label("e0", "old"),
        user(),
        other,
        label("e0", "first"),
        label("e2", "off the branch"),
        label("e3", "second"),
        user(),
    ]);

    let extracted = extraction(&mut source, "e7").unwrap();

    assert_eq!(
        shape(&*extracted.store),
        ["e0<- user", "e3<e0 user", "e7<e3 user", "00000001<e7 label", "00000002<00000001 label",]
    );
    let tree = Tree::new(extracted.store.lines().map(|line| {
        let entry: Entry = serde_json::from_str(&line.unwrap()).unwrap();
        (&entry).into()
    }));
    let labels = Labels::read(&tree, &*extracted.store).unwrap();
    assert_eq!(labels.of(&"e0".into()), Some("first"));
    assert_eq!(labels.of(&"e3".into()), Some("second"));
    assert_eq!(labels.of(&"e2".into()), None);
    assert_eq!(extracted.header.parent_session.as_deref(), Some("origin"));
    assert_eq!(extracted.header.cwd.as_deref(), Some("/elsewhere"));
    assert_eq!(extracted.header.provider_prompt_cache_key, None);
}

#[test]
fn a_compaction_that_keeps_from_a_label_on_keeps_what_follows_it() {
    let compaction = json!({ "type": "compaction", "summary": "s", "tokensBefore": 1,
        "firstKeptEntryId": "e1", "providerReplayThroughEntryId": "e1" });
    let mut source = store(&[user(), label("e0", "x"), user(), compaction]);

    let extracted = lines(&*extraction(&mut source, "e3").unwrap().store);

    assert_eq!(extracted[2]["firstKeptEntryId"], "e2");
    assert_eq!(extracted[2]["providerReplayThroughEntryId"], "e0");
}

#[test]
fn a_leaf_between_a_call_and_its_result_is_completed() {
    let mut source = store(&[user(), calls(&["a"]), result("a")]);
    let extracted = extraction(&mut source, "e1").unwrap();
    assert_eq!(shape(&*extracted.store)[2..], ["00000001<e1 toolResult"]);
    assert_eq!(extracted.closed_calls.len(), 1);
}

#[test]
fn an_entry_that_is_not_there_is_no_branch() {
    let refused = extraction(&mut store(&[user()]), "gone");
    assert!(matches!(refused.err(), Some(DeriveError::Store(StoreError::UnknownEntry(_)))));
}

/// A session in a file, with an artifact.
fn in_a_file(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("s.jsonl");
    JsonlStore::create(&path, header()).append(&entries(&[user(), calls(&["a"])])).unwrap();
    fs::create_dir_all(folder.path().join("s/deep")).unwrap();
    fs::write(folder.path().join("s/0.bash.log"), "output").unwrap();
    fs::write(folder.path().join("s/deep/agent.jsonl"), "more").unwrap();
    path
}

fn fork_file(from: &Path, to: &Path) -> Result<Derived, DeriveError> {
    let birth = Birth { ids: &SequentialIds::default(), clock: &Noon, cwd: None };
    Fork::default().of(&mut JsonlStore::resume(from), birth, |header| {
        Box::new(JsonlStore::create(to, header.clone()))
    })
}

#[test]
fn what_tools_left_behind_comes_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_a_file(&folder);
    let target = folder.path().join("new/t.jsonl");

    drop(fork_file(&path, &target).unwrap());

    assert_eq!(fs::read(folder.path().join("new/t/0.bash.log")).unwrap(), b"output");
    assert_eq!(fs::read(folder.path().join("new/t/deep/agent.jsonl")).unwrap(), b"more");
    assert_eq!(JsonlStore::resume(&target).open().unwrap().rows.len(), 3);
}

#[test]
fn an_extraction_of_a_file_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_a_file(&folder);
    let extracted = extraction(&mut JsonlStore::resume(&path), "e0").unwrap();
    assert_eq!(extracted.header.parent_session, Some(path.display().to_string()));
}

#[test]
fn a_source_that_is_missing_or_no_session_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.jsonl");
    let no_session = folder.path().join("notes.txt");
    fs::write(&no_session, "mine").unwrap();
    for source in [folder.path().join("gone.jsonl"), no_session] {
        assert!(fork_file(&source, &target).is_err(), "{}", source.display());
        assert!(!target.exists());
    }
}

#[test]
fn a_fork_never_takes_the_place_of_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_a_file(&folder);
    let target = folder.path().join("t.jsonl");
    fs::write(&target, "mine").unwrap();

    assert!(fork_file(&path, &target).is_err());

    assert_eq!(fs::read(&target).unwrap(), b"mine");
    assert!(!folder.path().join("t").exists(), "no artifacts without a session");
}

#[test]
fn what_is_copied_stays_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let kept = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
        r#"{"parentId":null, "type":"custom","n":1.000000000000000000001,"id":"a","timestamp":"t"}"#,
        r#"{"type":"of another program","id":"b","parentId":"a","timestamp":"t","x":{"y":[]}}"#,
    ];
    fs::write(&path, kept.join("\n") + "\n").unwrap();
    let copies = [
        fork(&mut JsonlStore::resume(&path), &Fork::default()).unwrap(),
        extraction(&mut JsonlStore::resume(&path), "b").unwrap(),
    ];
    for copy in copies {
        let lines: Vec<String> = copy.store.lines().map(Result::unwrap).collect();
        assert_eq!(lines, kept[1..]);
    }
}

#[test]
fn a_branch_whose_entries_stand_before_their_parents_ends_at_its_leaf() {
    let entry = |id: &str, parent: &str| json!({ "type": "custom", "id": id, "parentId": parent });
    let mut source =
        store(&[entry("c", "b"), entry("b", "a"), entry("a", "gone"), entry("x", "a")]);
    let mut extracted = extraction(&mut source, "c").unwrap().store;
    assert_eq!(shape(&*extracted), ["a<gone custom", "b<a custom", "c<b custom"]);
    let tree = Tree::new(extracted.open().unwrap().rows);
    assert_eq!(tree.leaf(), Some(&"c".into()));
}

#[cfg(feature = "sqlite")]
#[test]
fn a_session_is_copied_from_any_store_into_any_other() {
    use longhand_session::SqliteStore;

    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("sessions.db");
    let ids = SequentialIds::default();
    let birth = Birth { ids: &ids, clock: &Noon, cwd: None };
    let mut file = JsonlStore::resume(in_a_file(&folder));
    let mut first = Fork::default()
        .of(&mut file, birth, |header| Box::new(SqliteStore::create(&database, header.clone())))
        .unwrap();
    let back = folder.path().join("back.jsonl");
    let second = extract(&mut *first.store, &"e1".into(), birth, |header| {
        Box::new(JsonlStore::create(&back, header.clone()))
    });
    assert_eq!(
        shape(&*second.unwrap().store),
        ["e0<- user", "e1<e0 assistant", "00000002<e1 toolResult"]
    );
    assert_eq!(fs::read(folder.path().join("back/0.bash.log")).unwrap(), b"output");
}

/// A tree of messages whose replies call, with labels in between.
fn any_session() -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec((0..5u8, proptest::option::of(0..12usize)), 1..14).prop_map(|kinds| {
        let entries = kinds.iter().enumerate().map(|(n, (kind, parent))| {
            let call = format!("c{}", n.saturating_sub(1));
            let mut entry = match kind {
                0 => user(),
                1 => calls(&[&format!("c{n}")]),
                2 => result(&call),
                3 => label(&format!("e{}", n / 2), "name"),
                _ => json!({ "type": "custom", "customType": "tool_execution_start" }),
            };
            if let Some(parent) = parent.filter(|parent| *parent < n) {
                entry["parentId"] = json!(format!("e{parent}"));
            }
            entry
        });
        entries.collect()
    })
}

proptest! {
    #[test]
    fn an_extraction_is_the_branch_and_leaves_no_call_open(session in any_session(), at in 0..14usize) {
        let mut source = store(&session);
        let leaf = format!("e{}", at % session.len());
        let tree = Tree::new(source.open().unwrap().rows);
        let is_label = |id: &EntryId| source.read(std::slice::from_ref(id)).unwrap()[0].kind.type_name() == "label";
        let branch: Vec<EntryId> =
            tree.path(&leaf.as_str().into()).into_iter().filter(|id| !is_label(id)).collect();

        let mut extracted = extraction(&mut source, &leaf).unwrap().store;

        let tree = Tree::new(extracted.open().unwrap().rows);
        let path = tree.active_path();
        prop_assert_eq!(&path[..branch.len()], &branch[..]);
        prop_assert_eq!(path.len(), tree.len());
        let rows = tree.leaf().map(|leaf| tree.path_rows(leaf)).unwrap_or_default();
        prop_assert!(open_calls(&rows, &*extracted).unwrap().is_empty());
    }

    #[test]
    fn a_fork_loses_nothing_and_goes_on_at_the_same_leaf(session in any_session()) {
        let mut source = store(&session);
        let tree = Tree::new(source.open().unwrap().rows);
        let mut forked = fork(&mut source, &Fork::default()).unwrap().store;
        prop_assert_eq!(&lines(&*forked)[..session.len()], &lines(&source)[..]);
        let after = Tree::new(forked.open().unwrap().rows);
        prop_assert!(after.active_path().starts_with(&tree.active_path()));
    }
}
