//! What a crash leaves beside a session, or without a header, is found again.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use longhand_session::jsonl::{recover_folder, salvage};
use longhand_session::time::Timestamp;
use longhand_session::{Header, JsonlStore, SessionStore, StoreError};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
const ENTRY: &str = r#"{"type":"custom","id":"a","parentId":null,"customType":"x"}"#;

fn write(path: &Path, lines: &[&str]) {
    fs::write(path, lines.join("\n") + "\n").expect("a file");
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|item| item.expect("an item").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".lock.os"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_session_that_has_only_a_whole_draft_left_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    write(&folder.path().join(".s.jsonl.0123456789abcdef.tmp"), &[HEADER, ENTRY]);
    assert_eq!(JsonlStore::resume(&path).open().expect("a session").rows.len(), 1);
    assert_eq!(names_in(folder.path()), ["s.jsonl"]);
}

#[test]
fn a_draft_that_broke_off_is_no_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let draft = folder.path().join(".s.jsonl.0123456789abcdef.tmp");
    fs::write(&draft, format!("{HEADER}\n{ENTRY}\n{{\"type\":\"cus")).expect("a file");
    assert!(matches!(JsonlStore::resume(&path).open(), Err(StoreError::Missing { .. })));
    assert!(draft.exists(), "somebody may still want to look at it");
}

#[test]
fn a_folder_gets_its_missing_sessions_back_and_loses_old_drafts() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    write(&at("one.jsonl.0001.bak"), &[HEADER]);
    write(&at(".one.jsonl.0002.tmp"), &[HEADER, ENTRY]);
    write(&at(".two.jsonl.0001.tmp"), &[HEADER, ENTRY]);
    write(&at("three.jsonl"), &[HEADER, ENTRY]);
    write(&at(".three.jsonl.0001.tmp"), &[HEADER]);
    write(&at("notes.txt"), &["mine"]);

    let now = SystemTime::now();
    let recovered = recover_folder(folder.path(), now).expect("a folder");
    assert_eq!(recovered, [at("one.jsonl"), at("two.jsonl")]);
    assert_eq!(JsonlStore::resume(at("one.jsonl")).open().expect("the backup").rows.len(), 0);
    assert_eq!(JsonlStore::resume(at("three.jsonl")).open().expect("untouched").rows.len(), 1);
    assert!(at(".three.jsonl.0001.tmp").exists(), "it may still be written");

    let later = now + Duration::from_hours(2);
    assert!(recover_folder(folder.path(), later).expect("a folder").is_empty());
    assert_eq!(names_in(folder.path()), ["notes.txt", "one.jsonl", "three.jsonl", "two.jsonl"]);
}

#[test]
fn entries_of_a_file_without_a_header_go_into_a_new_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, into) = (folder.path().join("s.jsonl"), folder.path().join("new.jsonl"));
    write(&path, &[r#"{"type":"session","ver"#, ENTRY, "17", r#"{"no":"entry"}"#]);
    let refused = JsonlStore::resume(&path).open().expect_err("no header");
    assert_eq!(
        refused.to_string(),
        format!(
            "Cannot resume session \"{}\": the session header is missing or malformed. The file was not modified.",
            path.display()
        )
    );
    let before = fs::read(&path).expect("the file");
    let header = Header::new("new".into(), Timestamp::from_millis(0), "/w");
    salvage(&path, &into, header.clone()).expect("one entry");
    let opened = JsonlStore::resume(&into).open().expect("a session");
    assert_eq!((opened.header.id.as_str(), opened.rows.len()), ("new", 1));
    assert_eq!(fs::read(&path).expect("the file"), before);

    write(&path, &["nothing", "17"]);
    let other = folder.path().join("other.jsonl");
    assert!(matches!(salvage(&path, &other, header), Err(StoreError::NotASession { .. })));
    assert!(!other.exists());
}
