//! Golden cases: damaged files, older versions, the title slot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_session::store::{ChangeSet, Opened};
use longhand_session::time::Timestamp;
use longhand_session::title_slot::{TitleSlot, TitleSource};
use longhand_session::{EntryReader, JsonlStore, SessionStore, StoreError};
use serde_json::{Value, json};

fn cases(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a vector file")).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What a loader is expected to say, from what ours says.
fn told(result: Result<Opened, StoreError>) -> Value {
    let (ids, title, malformed, invalid) = match result {
        Ok(opened) => {
            let mut ids = vec![json!(opened.header.id)];
            ids.extend(opened.rows.iter().map(|row| json!(row.id)));
            (ids, opened.header.title, Some(opened.damage.lines.len()), false)
        }
        Err(StoreError::Missing { .. }) => (Vec::new(), None, Some(0), false),
        Err(StoreError::NotASession { .. }) => return json!({"invalidHeader": true}),
        Err(error) => panic!("{error}"),
    };
    json!({"entries": ids, "title": title, "malformedRecords": malformed, "invalidHeader": invalid})
}

#[test]
fn a_damaged_file_opens_with_everything_but_the_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    for case in list(&cases("loader.json")["cases"]) {
        let expected = case.get("expectedBeyond").unwrap_or(&case["streamed"]);
        let path = folder.path().join("s.jsonl");
        let content = case["content"].as_str().expect("text");
        std::fs::write(&path, content).expect("a file");

        let actual = told(JsonlStore::resume(&path).open());
        if expected["invalidHeader"] == true {
            assert_eq!(actual["invalidHeader"], true, "{}", case["name"]);
        } else {
            assert_eq!(actual, *expected, "{}", case["name"]);
        }
        let after = std::fs::read_to_string(&path).expect("the file");
        assert_eq!(after, content, "{}: reading wrote", case["name"]);
    }
}

fn write_lines(path: &Path, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(path, lines.join("\n") + "\n").expect("a file");
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The lines with ids of entries as their places: `#1`, `#2`, … (`#0` is the header).
fn with_places_for_ids(mut lines: Vec<Value>) -> Vec<Value> {
    let ids: Vec<Value> = lines.iter().map(|line| line["id"].clone()).collect();
    let place = |id: &Value| ids.iter().position(|known| known == id).map(|at| format!("#{at}"));
    for line in lines.iter_mut().skip(1) {
        for key in ["id", "parentId", "firstKeptEntryId"] {
            if let Some(id) = line.get_mut(key).filter(|id| id.is_string())
                && let Some(place) = place(id)
            {
                *id = place.into();
            }
        }
    }
    lines
}

#[test]
fn an_older_version_migrates_when_it_is_written_and_reads_so_before() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, case) in list(&cases("migration.json")["cases"]).iter().enumerate() {
        let path = folder.path().join(format!("{n}.jsonl"));
        write_lines(&path, list(&case["input"]));
        let expected = with_places_for_ids(list(&case["output"]).to_vec());

        let mut store = JsonlStore::resume(&path);
        let opened = store.open().expect("a session");
        assert_eq!(Value::from(opened.needs_rewrite), case["changed"], "case {n}");

        let ids: Vec<_> = opened.rows.iter().map(|row| row.id.clone()).collect();
        let read = store.read(&ids).expect("entries");
        let mut lines = vec![json!(null)];
        lines.extend(read.iter().map(|entry| serde_json::to_value(&**entry).expect("JSON")));
        assert_eq!(with_places_for_ids(lines)[1..], expected[1..], "case {n}, read");
        assert_eq!(read_lines(&path), list(&case["input"]), "case {n}: reading wrote");

        store.rewrite(&ChangeSet::default()).expect("room");
        let lines = read_lines(&path);
        assert_eq!(lines[0]["type"], "title", "case {n}");
        assert_eq!(with_places_for_ids(lines[1..].to_vec()), expected, "case {n}, written");
        assert_eq!(store.read(&ids).expect("entries"), read, "case {n}, read again");
    }
}

#[test]
fn a_title_slot_is_written_byte_for_byte() {
    for case in list(&cases("title-slot.json")["cases"]) {
        let slot = TitleSlot {
            title: case["title"].as_str().unwrap_or_default().to_owned(),
            source: case["source"].as_str().and_then(TitleSource::from_name),
            updated_at: Timestamp::new(case["updatedAt"].as_str().expect("a time")),
        };
        let line = slot.to_line();
        assert_eq!(line, case["line"].as_str().expect("text"));
        let stored = TitleSlot::from_line(line.as_bytes()).expect("a slot");
        assert_eq!(stored.title, case["storedTitle"].as_str().expect("text"));
        assert_eq!((stored.source, stored.updated_at), (slot.source, slot.updated_at));
    }
}

#[test]
fn what_only_resembles_a_slot_is_none() {
    let rejected = &cases("title-slot.json")["rejected"];
    assert!(!list(rejected).is_empty());
    for line in list(rejected) {
        let line = line["line"].as_str().expect("text");
        assert_eq!(TitleSlot::from_line(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn every_entry_of_a_real_old_session_is_equal_but_for_what_migrates() {
    let Some(folder) = std::env::var_os("LONGHAND_REAL_SESSIONS").map(PathBuf::from) else {
        eprintln!("skipped: LONGHAND_REAL_SESSIONS names no folder with real sessions");
        return;
    };
    let scratch = tempfile::tempdir().expect("a folder");
    for name in ["before-compaction.jsonl", "large-session.jsonl"] {
        let path = scratch.path().join(name);
        std::fs::copy(folder.join(name), &path).expect("a real session");
        let old = read_lines(&path);
        let mut store = JsonlStore::resume(&path);
        let opened = store.open().expect("a session");
        assert!(opened.damage.is_none());
        store
            .append(&[Arc::new(serde_json::from_str(r#"{"type":"x","id":"new"}"#).expect("entry"))])
            .expect("room");

        let lines = read_lines(&path);
        assert_eq!(lines.len(), old.len() + 2, "slot and one entry more");
        let mut parent = Value::Null;
        for (old, new) in old.iter().zip(&lines[1..]).skip(1) {
            let mut expected = old.clone();
            expected["id"] = new["id"].clone();
            expected["parentId"] = parent;
            if let Some(at) =
                expected.as_object_mut().expect("object").remove("firstKeptEntryIndex")
            {
                let at = at.as_u64().expect("a place") as usize;
                expected["firstKeptEntryId"] = lines[at + 1]["id"].clone();
            }
            if expected["message"]["role"] == "hookMessage" {
                expected["message"]["role"] = "custom".into();
            }
            assert_eq!(*new, expected);
            parent = new["id"].clone();
        }
        let kept = path.with_file_name(format!("{name}.v1.orig"));
        let original = std::fs::read(folder.join(name)).expect("a real session");
        assert_eq!(std::fs::read(kept).expect("the original"), original);
    }
}
