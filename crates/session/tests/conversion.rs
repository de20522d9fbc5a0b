//! A session goes from any store into any other and is the same there.

#![cfg(feature = "sqlite")]

use std::fs;
use std::path::{Path, PathBuf};

use longhand_session::conversion::{self, Copied, CopyError};
use longhand_session::store::Damage;
use longhand_session::{Header, JsonlStore, MemoryStore, SessionStore, SqliteStore, StoreError};
use proptest::prelude::*;
use tempfile::TempDir;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w","hologram":1.50}"#;

fn file_of(lines: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    fs::write(&path, lines.join("\n") + "\n").expect("a file");
    (folder, path)
}

fn lines_of(path: &Path) -> Vec<String> {
    let mut store = JsonlStore::resume(path);
    store.open().expect("a session");
    store.lines().map(|line| line.expect("a line")).collect()
}

/// Copies a file through a database and memory into another file.
fn there_and_back(folder: &Path, original: &Path) -> Result<[Copied; 3], CopyError> {
    let database = folder.join("sessions.db");
    let back = folder.join("back.jsonl");
    let mut file = JsonlStore::resume(original);
    let (mut in_database, first) = conversion::copy(&mut file, |header| {
        Box::new(SqliteStore::create(&database, header.clone()))
    })?;
    let (mut in_memory, second) =
        conversion::copy(&mut *in_database, |header| Box::new(MemoryStore::new(header.clone())))?;
    let (_, third) = conversion::copy(&mut *in_memory, |header| {
        Box::new(JsonlStore::create(&back, header.clone()))
    })?;
    Ok([first, second, third])
}

#[test]
fn a_session_comes_back_from_a_database_as_it_went() {
    let lines = [
        HEADER,
        r#"{"note":"no id","n":1.0e2}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"},"x":[1.10]}"#,
        r#"{"id":"b","type":"hologram","parentId":7,"n":123456789012345678901234567890}"#,
    ];
    let (folder, path) = file_of(&lines);
    let copied = there_and_back(folder.path(), &path).expect("copies");
    assert!(copied.iter().all(|copy| copy.objects == 3 && copy.unread.is_empty()));
    let back = fs::read_to_string(folder.path().join("back.jsonl")).expect("a file");
    assert_eq!(back.lines().skip(1).collect::<Vec<_>>(), lines);
}

#[test]
fn an_old_file_arrives_in_the_version_of_today() {
    let (folder, path) = file_of(&[
        r#"{"type":"session","id":"s","timestamp":"t","provider":"p"}"#,
        r#"{"type":"message","message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"message","message":{"role":"hookMessage","content":"yo"}}"#,
    ]);
    let before = fs::read(&path).expect("the file");
    there_and_back(folder.path(), &path).expect("copies");
    assert_eq!(fs::read(&path).expect("the file"), before, "the original is only read");
    let opened = JsonlStore::resume(folder.path().join("back.jsonl")).open().expect("a session");
    assert!(!opened.needs_rewrite);
    assert_eq!(opened.rows[1].parent_id.as_ref(), Some(&opened.rows[0].id));
}

#[test]
fn what_cannot_be_read_comes_along_as_text() {
    let broken = r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"user","content":: 1}}"#;
    let (folder, path) = file_of(&[
        HEADER,
        r#"{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"x"}"#,
        broken,
        "{torn",
        r#"{"type":"custom","id":"c","parentId":"b","timestamp":"t","customType":"x"}"#,
    ]);
    let [first, second, third] = there_and_back(folder.path(), &path).expect("copies");
    assert_eq!((first.objects, first.unread), (3, vec![2]));
    assert_eq!(first.damage, Damage { lines: vec![4], duplicate_ids: vec![] });
    assert!(second.unread.is_empty() && third.damage.is_none());
    let lines = lines_of(&folder.path().join("back.jsonl"));
    let stand_in: serde_json::Value = serde_json::from_str(&lines[1]).expect("JSON");
    assert_eq!(
        stand_in,
        serde_json::json!({"type": "damaged", "id": "b", "parentId": "a", "timestamp": "", "text": broken})
    );
}

#[test]
fn a_long_title_is_cut_by_a_file_and_kept_by_a_database() {
    let title = "title ".repeat(100);
    let header = Header {
        title: Some(title.clone()),
        title_source: Some("oracle".into()),
        ..Header::from_line(HEADER).expect("a header")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut memory = MemoryStore::new(header.clone());
    let (mut database, _) = conversion::copy(&mut memory, |header| {
        Box::new(SqliteStore::create(folder.path().join("sessions.db"), header.clone()))
    })
    .expect("a copy");
    assert_eq!(database.open().expect("a session").header, header);
    let (mut file, _) = conversion::copy(&mut *database, |header| {
        Box::new(JsonlStore::create(folder.path().join("s.jsonl"), header.clone()))
    })
    .expect("a copy");
    let cut = file.open().expect("a session").header.title.expect("a title");
    assert!(title.starts_with(&cut) && cut.len() > 100);
}

#[test]
fn a_copy_takes_no_place_that_is_taken() {
    let (folder, path) = file_of(&[HEADER]);
    there_and_back(folder.path(), &path).expect("copies");
    let again = there_and_back(folder.path(), &path);
    assert!(matches!(again, Err(CopyError::Store(StoreError::Exists { .. }))), "{again:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_file_is_changed_by_going_through_a_database(
        lines in proptest::collection::vec(prop_oneof![
            ("[a-f]{1,2}", any::<String>()).prop_map(|(id, text)| serde_json::json!(
                {"type": "message", "id": id, "parentId": null, "message": {"role": "user", "content": text}}
            ).to_string()),
            any::<String>().prop_map(|text| serde_json::json!({"text": text}).to_string()),
            "[{}\":a-c, ]{0,20}",
        ], 0..8)
    ) {
        let lines: Vec<&str> = std::iter::once(HEADER).chain(lines.iter().map(String::as_str)).collect();
        let (folder, path) = file_of(&lines);
        let copied = there_and_back(folder.path(), &path).expect("copies");
        prop_assert!(copied.iter().all(|copy| copy.objects == copied[0].objects));
        let once = lines_of(&folder.path().join("back.jsonl"));
        prop_assert_eq!(once.len() as u64, copied[0].objects);
        let (again, path) = file_of(&[&[HEADER], &once.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
        there_and_back(again.path(), &path).expect("copies");
        prop_assert_eq!(lines_of(&again.path().join("back.jsonl")), once);
    }
}
