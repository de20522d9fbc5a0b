//! A database of sessions keeps what it was told, through kills, full disks, foreign hands and damage.

#![cfg(feature = "sqlite")]

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use longhand_session::blob_store::MemoryBlobs;
use longhand_session::persisted::Persistence;
use longhand_session::store::{Adopted, ChangeSet, IndexRow, Opened};
use longhand_session::time::Timestamp;
use longhand_session::{
    DatabaseError, Entry, EntryId, EntryReader, Header, SessionStore, SqliteStore, StoreError,
};
use rusqlite::Connection;
use tempfile::TempDir;

fn entry(id: &str, parent: Option<&str>, text: &str) -> Arc<Entry> {
    let line = serde_json::json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1},
    });
    Arc::new(serde_json::from_str(&line.to_string()).expect("an entry"))
}

fn header(id: &str) -> Header {
    Header::new(id.into(), Timestamp::new("2026-03-01T10:00:00.000Z"), "/w")
}

/// A folder with a database, in which the session `s` has these entries.
fn database_of(entries: &[Arc<Entry>]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    let changes = ChangeSet { append: entries.to_vec(), ..ChangeSet::default() };
    SqliteStore::create(&path, header("s")).rewrite(&changes).expect("room");
    (folder, path)
}

fn reopen(path: &Path) -> (SqliteStore, Opened) {
    let mut store = SqliteStore::resume(path, "s".into());
    let opened = store.open().expect("a session");
    (store, opened)
}

fn all_entries(path: &Path) -> Vec<Arc<Entry>> {
    let (store, opened) = reopen(path);
    let ids: Vec<EntryId> = opened.rows.into_iter().map(|row| row.id).collect();
    store.read(&ids).expect("entries")
}

fn append(store: &mut SqliteStore, entry: &Arc<Entry>) -> Result<Adopted, StoreError> {
    store.append(std::slice::from_ref(entry)).map(|receipt| receipt.adopted)
}

#[test]
fn a_new_session_is_not_in_the_database_before_its_first_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data/sessions.db");
    let mut store = SqliteStore::create(&path, header("s"));
    store.open().expect("new");
    assert!(!path.exists());
    append(&mut store, &entry("a", None, "hi")).expect("room");
    assert_eq!(all_entries(&path), [entry("a", None, "hi")]);
    let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));

    let mut other = SqliteStore::create(&path, header("t"));
    other.open().expect("new");
    assert!(matches!(
        SqliteStore::resume(&path, "t".into()).open(),
        Err(StoreError::Missing { .. })
    ));
    append(&mut other, &entry("a", None, "ids of two sessions may be equal")).expect("room");
}

#[test]
fn a_new_session_takes_no_id_that_is_taken() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    let mut twin = SqliteStore::create(&path, header("s"));
    for refused in [
        twin.open().map(drop),
        append(&mut twin, &entry("b", None, "2")).map(drop),
        twin.fill(Box::new(std::iter::empty())).map(drop),
    ] {
        assert!(matches!(refused, Err(StoreError::Exists { .. })), "{refused:?}");
    }
    assert_eq!(all_entries(&path), [entry("a", None, "1")]);
}

#[test]
fn a_file_that_is_no_database_of_sessions_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).and_then(|db| db.execute_batch("CREATE TABLE t (x)")).expect("room");
    let foreign = fs::read(foreign).expect("a database of somebody else");
    for content in [&b""[..], b"dear diary\n", &[0; 8192], b"SQLite format 3\0torn", &foreign] {
        fs::write(&path, content).expect("a file");
        let found = [
            SqliteStore::resume(&path, "s".into()).open().map(drop),
            SqliteStore::create(&path, header("s")).open().map(drop),
            append(&mut SqliteStore::create(&path, header("s")), &entry("a", None, "1")).map(drop),
        ];
        for refused in found {
            let Err(StoreError::Database(DatabaseError::Foreign { path: named })) = &refused else {
                panic!("{} bytes: {refused:?}", content.len());
            };
            assert_eq!(*named, path);
        }
        assert_eq!(fs::read(&path).expect("the file"), content);
    }
}

#[test]
fn a_database_of_a_later_version_is_left_as_it_is() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    Connection::open(&path)
        .and_then(|db| db.pragma_update(None, "user_version", 99))
        .expect("a pragma");
    let before = fs::read(&path).expect("the file");
    let opened = SqliteStore::resume(&path, "s".into()).open();
    let Err(StoreError::Database(error @ DatabaseError::TooNew { found: 99, .. })) = opened else {
        panic!("{opened:?}");
    };
    assert!(error.to_string().ends_with("version 99, newest known is 1; it was not modified"));
    assert_eq!(fs::read(&path).expect("the file"), before);
}

#[test]
fn a_damaged_database_is_an_error_and_not_a_new_one() {
    let (_folder, path) = database_of(&[entry("a", None, &"text ".repeat(20_000))]);
    let mut bytes = fs::read(&path).expect("the file");
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xa5;
    }
    fs::write(&path, &bytes).expect("a file");
    let opened = SqliteStore::resume(&path, "s".into()).open();
    let is_told = matches!(&opened, Err(StoreError::Database(DatabaseError::Damaged { .. })));
    assert!(is_told, "{opened:?}");
    assert_eq!(fs::read(&path).expect("the file"), bytes);
}

#[test]
fn a_line_that_a_foreign_hand_broke_costs_only_itself() {
    let (_folder, path) = database_of(&[
        entry("a", None, "1"),
        entry("b", Some("a"), "2"),
        entry("c", Some("b"), "3"),
    ]);
    for broken in ["{torn", "[1,2]", "", "\u{0}"] {
        Connection::open(&path)
            .and_then(|db| db.execute("UPDATE lines SET text = ? WHERE id = 'b'", [broken]))
            .expect("a foreign hand");
        let (mut store, opened) = reopen(&path);
        assert_eq!((opened.damage.lines, opened.rows.len()), (vec![2], 3), "{broken:?}");
        let read = store.read(&["a".into(), "b".into(), "c".into()]).expect("the branch");
        assert_eq!((&read[0], &read[2]), (&entry("a", None, "1"), &entry("c", Some("b"), "3")));
        assert_eq!(
            (read[1].parent_id.clone(), read[1].kind.type_name()),
            (Some("a".into()), "damaged"),
            "{broken:?}"
        );
        let lines: Vec<String> = store.lines().map(|line| line.expect("a line")).collect();
        let stand_in: Entry = serde_json::from_str(&lines[1]).expect("an entry in its place");
        assert_eq!(stand_in, *read[1], "{broken:?}");
        let changes =
            ChangeSet { replace: vec![entry("b", Some("a"), "2")], ..ChangeSet::default() };
        store.rewrite(&changes).expect("a broken line can be replaced");
        assert!(reopen(&path).1.damage.is_none());
    }
}

#[test]
fn a_header_that_a_foreign_hand_broke_is_made_from_what_is_beside_it() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    Connection::open(&path)
        .and_then(|db| db.execute("UPDATE sessions SET header = '{torn', title = 'T'", []))
        .expect("a foreign hand");
    let expected = Header { title: Some("T".into()), ..header("s") };
    assert_eq!(reopen(&path).1.header, expected);
}

#[test]
fn two_owners_take_turns_and_hear_of_each_other() {
    let (_folder, path) = database_of(&[entry("a", None, "1"), entry("b", Some("a"), "2")]);
    let (mut one, _) = reopen(&path);
    let (mut two, _) = reopen(&path);
    let row = |entry: &Arc<Entry>| IndexRow::from(&**entry);
    let (c, d, e) = (entry("c", Some("b"), "3"), entry("d", Some("b"), "4"), entry("e", None, "5"));

    assert_eq!(append(&mut one, &c).expect("room"), Adopted::default());
    let adopted = append(&mut two, &d).expect("room");
    assert_eq!(adopted, Adopted { rows: vec![row(&c)], changed: vec![] });
    let changes = ChangeSet {
        replace: vec![entry("a", None, "one")],
        remove: vec!["b".into(), "c".into()],
        append: vec![e.clone()],
        header: None,
    };
    let receipt = two.rewrite(&changes).expect("known ids");
    assert_eq!(receipt.adopted, Adopted::default());
    let gone = append(&mut two, &entry("b", None, "again")).expect("the id is free");
    assert_eq!(gone, Adopted::default());

    let f = entry("f", None, "6");
    let adopted = append(&mut one, &f).expect("room");
    let again = row(&entry("b", None, "again"));
    assert_eq!(adopted.rows, [row(&d), row(&e), again]);
    assert_eq!(adopted.changed, ["a", "b", "c"]);
    assert_eq!(one.read(&["a".into()]).expect("a"), [entry("a", None, "one")]);
    let ids: Vec<EntryId> = reopen(&path).1.rows.into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["a", "d", "e", "b", "f"]);

    let taken = append(&mut two, &entry("f", None, "mine"));
    assert!(matches!(taken, Err(StoreError::DuplicateEntry(id)) if id == "f"));
    assert_eq!(append(&mut two, &entry("g", None, "7")).expect("room").rows, [row(&f)]);
}

#[test]
fn a_writer_that_holds_on_is_named_after_half_a_second() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    let (mut store, _) = reopen(&path);
    let other = Connection::open(&path).expect("the database");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let locked = append(&mut store, &entry("b", None, "2"));
    assert!(matches!(&locked, Err(StoreError::Locked { path: named }) if *named == path));
    assert_eq!(all_entries(&path).len(), 1, "a reader waits for nobody");
    other.execute_batch("ROLLBACK").expect("the lock");
    append(&mut store, &entry("b", None, "2")).expect("the lock is free");
    assert_eq!(all_entries(&path).len(), 2);
}

#[test]
fn a_session_that_another_process_deleted_is_missed() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    let (mut store, _) = reopen(&path);
    let mut library = longhand_session::sqlite::SqliteLibrary::open(&path)
        .expect("a database")
        .expect("a database");
    library.delete(&"s".into()).expect("a session");
    let others = SqliteStore::create(&path, header("t")).rewrite(&ChangeSet::default());
    others.expect("a new session takes no number of a deleted one");
    let appended = append(&mut store, &entry("b", None, "2"));
    assert!(matches!(appended, Err(StoreError::Missing { .. })));
    assert!(matches!(library.delete(&"s".into()), Err(StoreError::Missing { .. })));
}

#[test]
fn a_session_whose_database_vanished_is_written_anew_whole() {
    let object = r#"{"note":"no id"}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    let mut store = SqliteStore::create(&path, header("s"));
    let a = entry("a", None, "1");
    store
        .fill(Box::new([Ok(object.to_owned()), Ok(a.to_line())].into_iter()))
        .expect("a new session");
    for name in ["sessions.db", "sessions.db-wal", "sessions.db-shm"] {
        fs::remove_file(folder.path().join(name)).expect("a file");
    }
    let b = entry("b", Some("a"), "2");
    append(&mut store, &b).expect("room");
    store.sync().expect("a device");
    assert_eq!(all_entries(&path), [a.clone(), b.clone()]);
    assert_eq!(reopen(&path).0.lines().next().expect("a line").expect("text"), object);

    drop(store);
    let (mut store, _) = reopen(&path);
    fs::rename(&path, folder.path().join("moved.db")).expect("a new name");
    drop(SqliteStore::create(&path, header("s")).rewrite(&ChangeSet::default()).expect("room"));
    let appended = append(&mut store, &entry("c", None, "3"));
    assert!(matches!(appended, Err(StoreError::Conflict { .. })), "{appended:?}");
}

#[test]
fn pictures_are_kept_beside_and_come_back() {
    let (_folder, path) = database_of(&[]);
    let picture = |text: &str| -> Arc<Entry> {
        let line = serde_json::json!({"type": "message", "id": "a", "parentId": null, "timestamp": "t",
            "message": {"role": "user", "timestamp": 1, "content": [{"type": "text", "text": text},
                {"type": "image", "data": "BwcH".repeat(400), "mimeType": "image/png"}]}});
        Arc::new(serde_json::from_value(line).expect("an entry"))
    };
    let blobs = Arc::new(MemoryBlobs::default());
    let persistence = Persistence { blobs: Some(blobs), texts: None };
    let mut store = SqliteStore::resume(&path, "s".into()).with_persistence(persistence.clone());
    append(&mut store, &picture("one")).expect("room");
    let changes = ChangeSet { replace: vec![picture("two")], ..ChangeSet::default() };
    store.rewrite(&changes).expect("a known id");
    let line = reopen(&path).0.lines().next().expect("a line").expect("text");
    assert!(line.contains("blob:sha256:") && !line.contains("BwcH"), "{line}");
    let mut store = SqliteStore::resume(&path, "s".into()).with_persistence(persistence);
    store.open().expect("a session");
    assert_eq!(store.read(&["a".into()]).expect("a"), [picture("two")]);
}

/// What the child of the tests below does: appends for ever, and says the id of each entry that was acknowledged.
#[test]
#[ignore = "the tests below start it"]
fn child_that_appends() {
    let Some(path) = std::env::var_os("LONGHAND_TEST_DATABASE") else { return };
    let mut store = SqliteStore::resume(path, "s".into());
    store.open().expect("a session");
    let mut out = std::io::stdout().lock();
    for n in 0_u64.. {
        let said = match append(&mut store, &entry(&format!("n{n}"), None, &"word ".repeat(300))) {
            Ok(_) => format!("+n{n}"),
            Err(_) => format!("-n{n}"),
        };
        writeln!(out, "\n{said}").expect("a pipe");
        if said.starts_with('-') {
            return;
        }
    }
}

/// Runs the child, kills it after `most` words, and gives all that it said.
fn child_says(path: &Path, shell: &str, most: usize) -> Vec<String> {
    let test = std::env::current_exe().expect("this test");
    let mut child = Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" \"$@\"")])
        .arg(test)
        .args(["--exact", "child_that_appends", "--ignored", "--nocapture"])
        .env("LONGHAND_TEST_DATABASE", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut said = Vec::new();
    for line in lines {
        // Half a word was not acknowledged.
        let line = line.unwrap_or_default();
        if line.starts_with("+n") || line.starts_with("-n") {
            said.push(line);
        }
        if said.len() == most {
            child.kill().expect("SIGKILL");
        }
    }
    child.wait().expect("its end");
    said
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let (_folder, path) = database_of(&[]);
    for most in [1, 40] {
        let said = child_says(&path, "", most);
        let entries = all_entries(&path);
        let ids: Vec<String> = entries.iter().map(|entry| format!("+{}", entry.id)).collect();
        // The child may have got as far as one entry that it could not tell of, and tell of an entry in part.
        let whole = &said[..said.len() - 1];
        assert!(said.len() >= most && ids.starts_with(whole), "{} of {}", ids.len(), said.len());
        assert!(reopen(&path).1.damage.is_none());
        let changes = ChangeSet {
            remove: entries.iter().map(|entry| entry.id.clone()).collect(),
            ..ChangeSet::default()
        };
        reopen(&path).0.rewrite(&changes).expect("room");
    }
}

#[test]
fn an_append_that_finds_no_room_leaves_nothing_of_itself() {
    let (_folder, path) = database_of(&[entry("a", None, "1")]);
    // No file of the child grows beyond this many blocks of 512 bytes.
    let said = child_says(&path, "trap '' XFSZ; ulimit -f 1200;", usize::MAX);
    let (refused, acknowledged) = said.split_last().expect("words");
    assert!(refused.starts_with('-') && !acknowledged.is_empty(), "{refused}");
    let ids: Vec<String> =
        all_entries(&path).iter().skip(1).map(|entry| format!("+{}", entry.id)).collect();
    assert_eq!(ids, acknowledged);
    let (mut store, opened) = reopen(&path);
    assert!(opened.damage.is_none());
    append(&mut store, &entry("b", None, "2")).expect("room again");
}
