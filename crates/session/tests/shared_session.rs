//! Several processes on one session: nobody's entries are lost, and each hears of the others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use longhand_session::store::{Adopted, ChangeSet, IndexRow};
use longhand_session::time::Timestamp;
use longhand_session::{Entry, EntryId, EntryReader, Header, JsonlStore, SessionStore, StoreError};
use tempfile::TempDir;

fn entry(id: &str, parent: Option<&str>, text: &str) -> Arc<Entry> {
    let entry = serde_json::json!({"type": "message", "id": id, "parentId": parent,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1}});
    Arc::new(serde_json::from_value(entry).expect("an entry"))
}

/// A session with the entry `a`, opened by two stores as if by two processes.
fn shared() -> (TempDir, PathBuf, [JsonlStore; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let header = Header::new("s".into(), Timestamp::from_millis(0), "/w");
    JsonlStore::create(&path, header).append(&[entry("a", None, "first")]).expect("room");
    let stores = [opened(&path), opened(&path)];
    (folder, path, stores)
}

fn opened(path: &Path) -> JsonlStore {
    let mut store = JsonlStore::resume(path);
    store.open().expect("a session");
    store
}

fn ids(path: &Path) -> Vec<EntryId> {
    let opened = JsonlStore::resume(path).open().expect("a session");
    assert!(opened.damage.is_none());
    opened.rows.into_iter().map(|row| row.id).collect()
}

fn adopted(entries: &[Arc<Entry>], changed: &[&str]) -> Adopted {
    let rows = entries.iter().map(|entry| IndexRow::from(&**entry)).collect();
    Adopted { rows, changed: changed.iter().map(|id| EntryId::from(*id)).collect() }
}

#[test]
fn appends_of_both_survive_and_are_told_once() {
    let (_folder, path, [mut one, mut two]) = shared();
    let (b, c, d) =
        (entry("b", Some("a"), "2"), entry("c", Some("a"), "3"), entry("d", Some("c"), "4"));
    one.append(std::slice::from_ref(&b)).expect("room");
    let receipt = two.append(&[c]).expect("room");
    assert_eq!(receipt.adopted, adopted(std::slice::from_ref(&b), &[]));
    assert_eq!(two.append(&[d]).expect("room").adopted, Adopted::default());
    assert_eq!(two.read(&["b".into()]).expect("adopted"), [b]);
    assert_eq!(ids(&path), ["a", "b", "c", "d"]);
}

#[test]
fn a_rewrite_by_one_is_taken_in_by_the_other() {
    let (_folder, path, [mut one, mut two]) = shared();
    let changed = ChangeSet {
        replace: vec![entry("a", None, "pruned")],
        append: vec![entry("b", Some("a"), "2")],
        ..ChangeSet::default()
    };
    one.rewrite(&changed).expect("room");
    let receipt = two.append(&[entry("c", Some("a"), "3")]).expect("room");
    assert_eq!(receipt.adopted, adopted(&changed.append, &["a"]));
    assert_eq!(two.read(&["a".into()]).expect("the entry"), changed.replace);
    assert_eq!(ids(&path), ["a", "b", "c"]);
}

#[test]
fn entries_that_another_program_dropped_come_back() {
    let (_folder, path, [mut one, _]) = shared();
    let stale = fs::read(&path).expect("the file");
    one.append(&[entry("b", Some("a"), "2")]).expect("room");
    // A program that knows no lock puts back the file as it had read it, with an entry of its own.
    let other = path.with_extension("other");
    let z = serde_json::to_string(&*entry("z", Some("a"), "26")).expect("JSON");
    fs::write(&other, [stale, z.into_bytes(), b"\n".to_vec()].concat()).expect("a file");
    fs::rename(&other, &path).expect("a name");

    let receipt = one.append(&[entry("c", Some("b"), "3")]).expect("room");
    assert_eq!(receipt.adopted, adopted(&[entry("z", Some("a"), "26")], &[]));
    assert_eq!(ids(&path), ["a", "z", "b", "c"]);
}

#[test]
fn another_session_in_the_place_is_left_alone_and_the_entries_are_saved_beside() {
    let (_folder, path, [mut one, _]) = shared();
    fs::remove_file(&path).expect("the file");
    let header = Header::new("other".into(), Timestamp::from_millis(0), "/w");
    JsonlStore::create(&path, header).append(&[entry("z", None, "26")]).expect("room");
    let before = fs::read(&path).expect("the file");

    let error = one.append(&[entry("b", Some("a"), "2")]).expect_err("a conflict");
    let StoreError::Replaced { rescued, .. } = error else { panic!("{error}") };
    assert_eq!(fs::read(&path).expect("the file"), before);
    assert_eq!(ids(&rescued), ["a", "b"]);
}

#[test]
fn a_title_of_the_other_is_not_taken_back_by_a_rewrite() {
    let (_folder, path, [mut one, mut two]) = shared();
    let title = || JsonlStore::resume(&path).open().expect("a session").header.title;
    let mut header = JsonlStore::resume(&path).open().expect("a session").header;
    header.title = Some("Named".into());
    one.rewrite(&ChangeSet { header: Some(header), ..ChangeSet::default() }).expect("room");
    two.rewrite(&ChangeSet { append: vec![entry("b", Some("a"), "2")], ..ChangeSet::default() })
        .expect("room");
    assert_eq!(title().as_deref(), Some("Named"));
}

#[test]
fn both_migrate_an_old_session_to_the_same_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let said = |text: &str| {
        format!(
            r#"{{"type":"message","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
        )
    };
    let lines = [r#"{"type":"session","id":"s"}"#.to_owned(), said("one"), said("two")];
    fs::write(&path, lines.join("\n") + "\n").expect("a file");
    let [mut one, mut two] = [opened(&path), opened(&path)];
    one.append(&[entry("b", None, "2")]).expect("room");
    let receipt = two.append(&[entry("c", None, "3")]).expect("room");
    assert_eq!(receipt.adopted.rows, [IndexRow::from(&*entry("b", None, "2"))]);
    assert_eq!(ids(&path).len(), 4);
}

#[test]
fn a_lock_of_a_dead_process_is_removed_and_that_of_a_living_one_is_waited_for() {
    let (_folder, path, [mut one, _]) = shared();
    let lock = path.with_file_name(".s.jsonl.lock");
    let mut child =
        Command::new("true").stdin(Stdio::null()).spawn().expect("a process can be started");
    child.wait().expect("it ends");
    fs::write(&lock, format!("{}:0\n", child.id())).expect("a file");
    one.append(&[entry("b", Some("a"), "2")]).expect("the owner is dead");
    assert!(!lock.exists());

    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("now");
    // Process 1 lives, and has just taken the lock.
    fs::write(&lock, format!("1:{}\n", now.as_millis() + 60_000)).expect("a file");
    let refused = one.append(&[entry("c", Some("b"), "3")]);
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    fs::remove_file(&lock).expect("the lock");
    one.append(&[entry("c", Some("b"), "3")]).expect("free again");
    assert_eq!(ids(&path), ["a", "b", "c"]);
}

const CHILD: &str = "LONGHAND_TEST_WRITER";

/// Does nothing in a run of the tests; the next test starts it again as a process of its own.
#[test]
fn writer_of_the_next_test() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (name, path) = task.split_once(' ').expect("a name and a path");
    let path = Path::new(path);
    let mut store = opened(path);
    // Neither writes before both have read.
    fs::write(path.with_extension(format!("{name}-reads")), "").expect("a file");
    while !["x-reads", "y-reads"].iter().all(|name| path.with_extension(name).exists()) {
        std::thread::yield_now();
    }
    let mut told = 0;
    let mut leaf = "a".to_owned();
    for n in 0..200 {
        let id = format!("{name}{n}");
        let next = entry(&id, Some(&leaf), "appended");
        let receipt = retried(|| store.append(std::slice::from_ref(&next)));
        told += receipt.adopted.rows.len();
        if n % 40 == 39 {
            let replace = vec![entry(&id, Some(&leaf), "changed")];
            let changes = ChangeSet { replace, ..ChangeSet::default() };
            told += retried(|| store.rewrite(&changes)).adopted.rows.len();
        }
        leaf = id;
    }
    fs::write(path.with_extension(name), told.to_string()).expect("a file");
}

/// The other one may have the lock for longer than a writer waits, on a slow machine.
fn retried<T>(mut write: impl FnMut() -> Result<T, StoreError>) -> T {
    loop {
        match write() {
            Err(StoreError::Locked { .. }) => {}
            written => return written.expect("a write"),
        }
    }
}

#[test]
fn two_processes_write_two_hundred_entries_each_and_all_are_there() {
    let (_folder, path, _) = shared();
    let program = std::env::current_exe().expect("this program");
    let children = ["x", "y"].map(|name| {
        Command::new(&program)
            .args(["--exact", "writer_of_the_next_test"])
            .env(CHILD, format!("{name} {}", path.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process can be started")
    });
    for child in children {
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{ended:?}");
    }
    let mut found = ids(&path);
    assert_eq!(found.len(), 401);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 401, "each is there once");

    let told: usize = ["x", "y"]
        .iter()
        .map(|name| fs::read_to_string(path.with_extension(name)).expect("its count"))
        .map(|count| count.parse::<usize>().expect("a number"))
        .sum();
    // What one wrote after the other's last write is not told any more.
    assert!((200..=400).contains(&told), "{told} of 400 were told");
    let store = opened(&path);
    let changed = store.read(&["x199".into(), "y39".into()]).expect("both");
    assert_eq!(
        changed,
        [entry("x199", Some("x198"), "changed"), entry("y39", Some("y38"), "changed")]
    );
}
