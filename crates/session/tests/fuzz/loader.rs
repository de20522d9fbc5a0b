//! Session files: whatever one holds, opening it harms nothing, and what it had before a write it has after it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhand_session::jsonl::JsonlStore;
use longhand_session::store::{ChangeSet, IndexRow};
use longhand_session::{Entry, EntryReader, SessionStore, Tree};
use proptest::prelude::*;

use crate::config;
use crate::import::Unsynced;
use crate::strategies::{any_lines, damaged, noise, session};

fn store(path: &Path) -> JsonlStore {
    JsonlStore::resume(path).with_disk(Arc::new(Unsynced))
}

/// The entries of rows; `None` for one whose line is damaged inside.
fn entries(store: &JsonlStore, rows: &[IndexRow]) -> Vec<Option<Arc<Entry>>> {
    let read = |row: &IndexRow| store.read(std::slice::from_ref(&row.id)).ok()?.pop();
    rows.iter().map(read).collect()
}

fn nothing_is_lost(bytes: &[u8]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    let mut first = store(&path);
    let Ok(opened) = first.open() else {
        prop_assert_eq!(fs::read(&path).unwrap(), bytes, "a refused file is as it was");
        return Ok(());
    };
    let before = entries(&first, &opened.rows);
    prop_assert_eq!(fs::read(&path).unwrap(), bytes, "reading writes nothing");

    let tree = Tree::new(opened.rows.iter().cloned());
    let new: Entry = serde_json::from_value(serde_json::json!({
        "type": "custom", "id": "new entry", "parentId": tree.leaf(), "timestamp": "t", "customType": "note",
    }))
    .unwrap();
    let new = Arc::new(new);
    first.append(&[Arc::clone(&new)]).unwrap();
    let header = longhand_session::Header { title: Some("Renamed".into()), ..opened.header };
    first.rewrite(&ChangeSet { header: Some(header), ..ChangeSet::default() }).unwrap();

    let mut second = store(&path);
    let reopened = second.open().unwrap();
    prop_assert_eq!(reopened.header.title.as_deref(), Some("Renamed"));
    prop_assert!(!reopened.needs_rewrite, "{:?}", reopened.damage);
    let ids = |rows: &[IndexRow]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
    let mut expected = ids(&opened.rows);
    expected.push(new.id.clone());
    prop_assert_eq!(ids(&reopened.rows), expected);
    let mut after = entries(&second, &reopened.rows);
    prop_assert_eq!(after.pop().flatten(), Some(new));
    for (before, after) in before.iter().zip(after).filter(|(before, _)| before.is_some()) {
        prop_assert_eq!(before, &after);
    }
    Ok(())
}

#[test]
fn a_damaged_line_that_shares_its_id_is_written_once_and_for_all() {
    let lines = [
        r#"{"type":"session","version":3,"id":"s"}"#,
        "{\"type\":\"reset_boundary\",\"id\":\"g\",\"parentId\":null\u{1}\"timestamp\":\"t\"}",
        r#"{"type":"reset_boundary","id":"g","parentId":null,"timestamp":"t"}"#,
    ];
    nothing_is_lost((lines.join("\n") + "\n").as_bytes()).unwrap();
}

/// A session of version 1, with this after its first two members.
fn of_version_1(rest: &[u8]) -> Vec<u8> {
    [br#"{"type":"session","id":"s""#, rest].concat()
}

#[test]
fn an_old_file_keeps_what_stands_where_no_entry_should() {
    let said = br#"{"type":"custom","customType":"said"}"#;
    for (claim, rest) in [
        ("a second header", [b"}\n", &said[..], b"\n{\"type\":\"session\",\"id\":\"s\"}\n", said].concat()),
        (
            "a line with ids that is damaged inside",
            [b"}\n{\"type\":\"custom\",\"id\":\"a\",\"parentId\":\"a\",\"timestamp\":\"t\",\"customType\":\"x\"\x01}\n", &said[..]]
                .concat(),
        ),
        ("a version that is no number, in a header that is not UTF-8", [b",\"version\":[],\"x\":\"\xff\"}\n", &said[..]].concat()),
    ] {
        nothing_is_lost(&of_version_1(&rest)).unwrap_or_else(|error| panic!("{claim}: {error}"));
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn noise_is_refused_or_kept(bytes in noise()) {
        nothing_is_lost(&bytes.0)?;
    }

    #[test]
    fn any_json_is_refused_or_kept(bytes in any_lines()) {
        nothing_is_lost(&bytes.0)?;
    }

    #[test]
    fn a_damaged_session_loses_nothing_that_could_be_read(bytes in damaged(session())) {
        nothing_is_lost(&bytes.0)?;
    }
}
