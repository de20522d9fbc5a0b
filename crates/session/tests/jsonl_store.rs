//! A session file keeps what it was told, through kills, full disks, foreign hands and damage.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhand_session::jsonl::Disk;
use longhand_session::store::{ChangeSet, Opened};
use longhand_session::time::Timestamp;
use longhand_session::{
    Entry, EntryId, EntryKind, EntryReader, Header, JsonlStore, SessionStore, StoreError, Tree,
};
use proptest::prelude::*;
use tempfile::TempDir;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w"}"#;

fn line(id: &str, parent: Option<&str>, text: &str) -> String {
    let parent = serde_json::json!(parent);
    let text = serde_json::json!(text);
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":{text},"timestamp":1}}}}"#
    )
}

fn entry(id: &str, parent: Option<&str>, text: &str) -> Arc<Entry> {
    Arc::new(serde_json::from_str(&line(id, parent, text)).expect("an entry"))
}

fn header() -> Header {
    Header::new("s".into(), Timestamp::new("2026-03-01T10:00:00.000Z"), "/w")
}

/// A folder with a session file of these lines.
fn file_of(lines: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let text = lines.join("\n") + "\n";
    fs::write(&path, text).expect("a file");
    (folder, path)
}

fn reopen(path: &Path) -> (JsonlStore, Opened) {
    let mut store = JsonlStore::resume(path);
    let opened = store.open().expect("a session");
    (store, opened)
}

fn all_entries(path: &Path) -> Vec<Arc<Entry>> {
    let (store, opened) = reopen(path);
    let ids: Vec<EntryId> = opened.rows.into_iter().map(|row| row.id).collect();
    store.read(&ids).expect("entries")
}

/// The files of a folder, without the lock that stays.
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
fn a_new_session_has_no_file_before_its_first_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bucket/s.jsonl");
    let mut store = JsonlStore::create(&path, header());
    assert!(store.open().expect("new").rows.is_empty());
    assert!(!path.exists());

    store.append(&[entry("a", None, "hi")]).expect("room");
    let text = fs::read_to_string(&path).expect("the file");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(r#"{"type":"title","v":1,"#));
    assert_eq!(lines[0].len(), 255);
    assert_eq!(lines[1..], [HEADER, &line("a", None, "hi")]);
    assert_eq!(names_in(&folder.path().join("bucket")), ["s.jsonl"]);
}

#[test]
fn a_new_session_takes_no_place_that_is_taken() {
    let (_folder, path) = file_of(&[HEADER]);
    let taken = JsonlStore::create(&path, header()).open();
    assert!(matches!(taken, Err(StoreError::Exists { .. })));

    fs::write(&path, "dear diary\n").expect("a file");
    let foreign = JsonlStore::create(&path, header()).open();
    assert!(matches!(foreign, Err(StoreError::NotASession { .. })));

    fs::write(&path, "\n").expect("a file");
    let mut store = JsonlStore::create(&path, header());
    store.rewrite(&ChangeSet::default()).expect("an empty file gives way");
    assert_eq!(reopen(&path).1.header, header());
}

#[test]
fn what_came_between_two_tokens_stays_on_one_line() {
    let (_folder, path) = file_of(&[HEADER]);
    let pretty =
        "{\"type\":\"custom\",\"id\":\"a\",\"customType\":\"x\",\"data\":{\n  \"n\": 1\n}}";
    let (mut store, _) = reopen(&path);
    store.append(&[Arc::new(serde_json::from_str(pretty).expect("an entry"))]).expect("room");
    assert_eq!(all_entries(&path).len(), 1);
}

#[test]
fn a_last_line_without_its_end_gets_it_before_the_next() {
    let (_folder, path) = file_of(&[HEADER]);
    fs::write(&path, format!("{HEADER}\n{}", line("a", None, "1"))).expect("a file");
    let (mut store, opened) = reopen(&path);
    assert!(!opened.needs_rewrite);
    store.append(&[entry("b", Some("a"), "2")]).expect("room");
    assert_eq!(store.read(&["b".into()]).expect("b"), [entry("b", Some("a"), "2")]);
    assert_eq!(all_entries(&path), [entry("a", None, "1"), entry("b", Some("a"), "2")]);
}

#[test]
fn cutting_the_last_record_anywhere_loses_at_most_that_record() {
    let (_folder, path) = file_of(&[HEADER, &line("a", None, "1")]);
    let before = fs::read(&path).expect("the file").len();
    let (mut store, _) = reopen(&path);
    store.append(&[entry("b", Some("a"), "zwei \u{1F642} \"\\")]).expect("room");
    let whole = fs::read(&path).expect("the file");
    let (a, b) = (entry("a", None, "1"), entry("b", Some("a"), "zwei \u{1F642} \"\\"));

    for cut in before..=whole.len() {
        fs::write(&path, &whole[..cut]).expect("a file");
        let is_whole = cut >= whole.len() - 1;
        let kept = if is_whole { vec![a.clone(), b.clone()] } else { vec![a.clone()] };
        assert_eq!(all_entries(&path), kept, "cut at {cut}");

        let (mut store, _) = reopen(&path);
        store.append(&[entry("c", Some("a"), "3")]).expect("room");
        let expected: Vec<_> = kept.into_iter().chain([entry("c", Some("a"), "3")]).collect();
        assert_eq!(all_entries(&path), expected, "cut at {cut}, then appended");
        assert!(reopen(&path).1.damage.is_none(), "cut at {cut}, then appended");
    }
}

#[test]
fn a_repair_keeps_the_damaged_original_beside() {
    let torn = r#"{"type":"message","id":"x","par"#;
    let (folder, path) =
        file_of(&[HEADER, &line("a", None, "1"), torn, &line("b", Some("a"), "2")]);
    let original = fs::read(&path).expect("the file");
    let (mut store, opened) = reopen(&path);
    assert_eq!((opened.damage.lines, opened.needs_rewrite), (vec![3], true));

    store.append(&[entry("c", Some("b"), "3")]).expect("room");
    assert!(reopen(&path).1.damage.is_none());
    assert_eq!(all_entries(&path).len(), 3);
    let names = names_in(folder.path());
    let kept = names.iter().find(|name| name.ends_with(".damaged")).expect("the original");
    assert_eq!(fs::read(folder.path().join(kept)).expect("the original"), original);
    assert_eq!(names.len(), 2);
}

#[test]
fn a_line_that_only_looked_whole_costs_only_itself() {
    let broken = line("b", Some("a"), "x").replace(r#""content":"#, r#""content":: "#);
    let (_folder, path) =
        file_of(&[HEADER, &line("a", None, "1"), &broken, &line("c", Some("b"), "3")]);
    let (mut store, opened) = reopen(&path);
    let tree = Tree::new(opened.rows);
    let read = store.read(&tree.active_path()).expect("the branch");
    assert_eq!(read[0], entry("a", None, "1"));
    assert_eq!(read[2], entry("c", Some("b"), "3"));
    assert_eq!(
        (read[1].parent_id.clone(), read[1].kind.type_name()),
        (Some("a".into()), "damaged")
    );

    store.rewrite(&ChangeSet { remove: vec!["a".into()], ..ChangeSet::default() }).expect("room");
    assert!(fs::read_to_string(&path).expect("the file").contains(&broken));
}

#[test]
fn a_rewrite_leaves_untouched_lines_byte_for_byte() {
    let odd = [
        r#"{"note":"no id", "n": 1.0e2}"#,
        r#"{ "type" : "hologram", "id":"h","parentId":null, "big":123456789012345678901234567890 }"#,
        "{\"id\":\"r\",\"type\":\"message\",\"message\":{\"role\":\"oracle\"}}\r",
    ];
    let (_folder, path) = file_of(&[
        HEADER,
        odd[0],
        &line("a", None, "1"),
        odd[1],
        &line("b", Some("a"), "2"),
        &line("c", Some("b"), "3"),
        odd[2],
    ]);
    let (mut store, opened) = reopen(&path);
    assert_eq!(opened.rows.len(), 5);
    let changes = ChangeSet {
        replace: vec![entry("a", None, "one")],
        remove: vec!["b".into()],
        append: vec![entry("d", Some("c"), "4")],
        header: None,
    };
    store.rewrite(&changes).expect("room");

    let text = fs::read_to_string(&path).expect("the file");
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    let expected = [
        HEADER,
        odd[0],
        &line("a", None, "one"),
        odd[1],
        &line("c", Some("b"), "3"),
        odd[2],
        &line("d", Some("c"), "4"),
    ];
    assert_eq!(lines[1..], expected);
    let ids = ["a", "h", "c", "r", "d"].map(EntryId::from);
    assert_eq!(store.read(&ids).expect("entries"), reopen(&path).0.read(&ids).expect("entries"));
}

#[test]
fn an_earlier_line_with_a_taken_id_survives_under_a_fresh_one() {
    let (_folder, path) = file_of(&[HEADER, &line("a", None, "first"), &line("a", None, "second")]);
    let (mut store, opened) = reopen(&path);
    assert_eq!(opened.damage.duplicate_ids, ["a"]);
    let ids: Vec<EntryId> = opened.rows.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids[1], "a");
    let read = store.read(&ids).expect("both");
    store.append(&[entry("b", Some("a"), "third")]).expect("room");
    assert_eq!(all_entries(&path)[..2], read);
    assert!(reopen(&path).1.damage.is_none());
}

#[test]
fn state_that_copilot_refuses_to_take_back_stays_in_the_file_and_is_not_used() {
    let turn = |provider: &str| {
        format!(
            r#"{{"type":"message","id":"{provider}","parentId":null,"message":{{"role":"assistant","provider":"{provider}","model":"m","stopReason":"stop","content":[{{"type":"thinking","thinking":"hm","thinkingSignature":"s"}}],"providerPayload":{{"type":"openaiResponsesHistory","items":[]}},"timestamp":1}}}}"#
        )
    };
    let (copilot, other) = (turn("github-copilot"), turn("openai"));
    let (_folder, path) = file_of(&[HEADER, &copilot, &other]);
    let (mut store, _) = reopen(&path);
    let read = store.read(&["github-copilot".into(), "openai".into()]).expect("entries");
    let texts: Vec<String> = read.iter().map(|entry| entry.to_line()).collect();
    assert!(!texts[0].contains("thinkingSignature") && !texts[0].contains("providerPayload"));
    assert!(texts[1].contains("thinkingSignature") && texts[1].contains("providerPayload"));
    store.rewrite(&ChangeSet::default()).expect("room");
    assert!(fs::read_to_string(&path).expect("the file").contains(&copilot));
}

#[test]
fn a_file_that_vanished_is_written_anew_whole() {
    let (_folder, path) = file_of(&[HEADER, &line("a", None, "1")]);
    let (mut store, _) = reopen(&path);
    fs::remove_file(&path).expect("the file");
    store.append(&[entry("b", Some("a"), "2")]).expect("room");
    assert_eq!(all_entries(&path), [entry("a", None, "1"), entry("b", Some("a"), "2")]);
}

#[test]
fn a_title_is_written_where_it_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let mut store = JsonlStore::create(&path, header());
    store.append(&[entry("a", None, "hi")]).expect("room");
    let before = fs::read(&path).expect("the file");

    let titled =
        Header { title: Some("Fix retry".into()), title_source: Some("auto".into()), ..header() };
    store
        .rewrite(&ChangeSet { header: Some(titled.clone()), ..ChangeSet::default() })
        .expect("room");
    let after = fs::read(&path).expect("the file");
    assert_eq!(before[256..], after[256..]);
    store.append(&[entry("b", Some("a"), "2")]).expect("the file is still ours");
    assert_eq!(reopen(&path).1.header, titled);

    let moved = Header { cwd: Some("/other".into()), ..titled };
    store
        .rewrite(&ChangeSet { header: Some(moved.clone()), ..ChangeSet::default() })
        .expect("room");
    assert_eq!(reopen(&path).1.header, moved);
}

/// Fails one operation, the `nth` that is tried, after writing half of it.
#[derive(Debug)]
struct FailingDisk {
    operations_left: AtomicUsize,
}

impl FailingDisk {
    fn nth(nth: usize) -> Arc<Self> {
        Arc::new(Self { operations_left: AtomicUsize::new(nth) })
    }

    fn is_due(&self) -> bool {
        self.operations_left.fetch_sub(1, Ordering::Relaxed) == 1
    }

    fn refuse(&self) -> io::Result<()> {
        if self.is_due() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Disk for FailingDisk {
    fn write(&self, mut file: &fs::File, bytes: &[u8]) -> io::Result<usize> {
        use io::Write;
        if self.is_due() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write(bytes)
    }

    fn sync(&self, _: &fs::File) -> io::Result<()> {
        self.refuse()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.refuse().and_then(|()| fs::rename(from, to))
    }

    fn keep(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.refuse().and_then(|()| fs::hard_link(file, name))
    }
}

#[test]
fn a_failing_write_leaves_the_file_as_it_was_and_the_next_one_works() {
    let current = file_of(&[HEADER, &line("a", None, "1")]);
    let damaged = file_of(&[HEADER, &line("a", None, "1"), "{torn"]);
    let old = file_of(&[r#"{"type":"session","id":"s"}"#, r#"{"type":"x"}"#]);
    let mut failures = 0;
    for (folder, path) in [current, damaged, old] {
        let original = fs::read(&path).expect("the file");
        for nth in 1..8 {
            for name in names_in(folder.path()) {
                fs::remove_file(folder.path().join(name)).expect("a file");
            }
            fs::write(&path, &original).expect("a file");
            let mut store = JsonlStore::resume(&path).with_disk(FailingDisk::nth(nth));
            store.open().expect("a session");
            if store.append(&[entry("b", None, "2")]).is_ok() {
                continue;
            }
            failures += 1;
            assert_eq!(fs::read(&path).expect("the file"), original, "operation {nth}");
            assert_eq!(names_in(folder.path()), ["s.jsonl"], "operation {nth}");
            assert!(matches!(store.read(&["b".into()]), Err(StoreError::UnknownEntry(_))));

            store.append(&[entry("b", None, "2")]).expect("room again");
            assert_eq!(all_entries(&path).len(), 2, "operation {nth}");
        }
    }
    assert_eq!(failures, 1 + 4 + 4, "an append writes; a rewrite writes, syncs, keeps, renames");
}

#[derive(Debug)]
struct BrokenDisk;

impl Disk for BrokenDisk {
    fn write(&self, mut file: &fs::File, bytes: &[u8]) -> io::Result<usize> {
        use io::Write;
        if bytes.len() > 60 && !bytes.starts_with(br#"{"type":"title""#) {
            return file.write(&bytes[..20]).and(Err(io::ErrorKind::StorageFull.into()));
        }
        file.write(bytes)
    }

    fn truncate(&self, _: &fs::File, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn an_append_that_cannot_be_taken_back_is_removed_by_the_next() {
    let (_folder, path) = file_of(&[HEADER, &line("a", None, "1")]);
    let mut store = JsonlStore::resume(&path).with_disk(Arc::new(BrokenDisk));
    store.open().expect("a session");
    let torn = store.append(&[entry("b", Some("a"), "2")]);
    assert!(matches!(torn, Err(StoreError::TornAppend { .. })));
    store.append(&[entry("b", Some("a"), "2")]).expect("a new file");
    assert_eq!(all_entries(&path), [entry("a", None, "1"), entry("b", Some("a"), "2")]);
    assert!(reopen(&path).1.damage.is_none());
}

#[test]
fn deep_and_wide_garbage_is_read_in_linear_time() {
    let fused = r#"{"type":"x","id":"i","y":"#.repeat(20_000);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let (_folder, path) = file_of(&[HEADER, &fused, &deep, &line("a", None, "1")]);
    assert_eq!(reopen(&path).1.damage.lines, [2, 3]);
}

#[test]
fn a_torn_message_gives_back_the_entry_that_grew_onto_it() {
    let torn = r#"{"type":"message","id":"x","parentId":null,"timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"#;
    let fused = format!("{torn}{}", line("b", None, "2"));
    let (_folder, path) = file_of(&[HEADER, &fused]);
    assert_eq!(all_entries(&path), [entry("b", None, "2")]);
}

fn any_entry() -> impl Strategy<Value = (String, String)> {
    ("[a-z0-9]{1,6}", any::<String>())
}

fn any_garbage() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "[\\[\\]{}\":,a-z0-9\\\\ ]{0,40}".prop_map(String::into_bytes),
        (0usize..90).prop_map(|cut| line("torn", None, "text").as_bytes()[..cut].to_vec()),
    ]
    .prop_map(|bytes| bytes.into_iter().filter(|byte| *byte != b'\n').collect())
}

proptest! {
    #[test]
    fn what_was_appended_is_there_after_reopening(groups in proptest::collection::vec(
        proptest::collection::vec(any_entry(), 0..4), 0..4)
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        let mut store = JsonlStore::create(&path, header());
        store.rewrite(&ChangeSet::default()).expect("room");
        let mut expected = Vec::new();
        for group in groups {
            let group: Vec<_> = group
                .into_iter()
                .enumerate()
                .map(|(n, (id, text))| entry(&format!("{id}-{}-{n}", expected.len()), None, &text))
                .collect();
            store.append(&group).expect("room");
            expected.extend(group);
        }
        let ids: Vec<EntryId> = expected.iter().map(|entry| entry.id.clone()).collect();
        prop_assert_eq!(store.read(&ids).expect("entries"), expected.clone());
        prop_assert_eq!(all_entries(&path), expected);
    }

    #[test]
    fn garbage_costs_only_itself(garbage in proptest::collection::vec(any_garbage(), 0..6)) {
        let (_folder, path) = file_of(&[HEADER]);
        let mut text = format!("{HEADER}\n").into_bytes();
        for (n, bytes) in garbage.iter().enumerate() {
            text.extend_from_slice(line(&format!("good-{n}"), None, "kept").as_bytes());
            text.push(b'\n');
            text.extend_from_slice(bytes);
            text.push(b'\n');
        }
        fs::write(&path, &text).expect("a file");
        let good = |entries: &[Arc<Entry>]| entries
            .iter()
            .filter(|entry| entry.id.as_str().starts_with("good-"))
            .filter(|entry| matches!(entry.kind, EntryKind::Message(_)))
            .count();
        prop_assert_eq!(good(&all_entries(&path)), garbage.len());

        let (mut store, _) = reopen(&path);
        store.append(&[entry("new", None, "new")]).expect("room");
        prop_assert_eq!(good(&all_entries(&path)), garbage.len());
        prop_assert!(reopen(&path).1.damage.is_none());
    }
}
