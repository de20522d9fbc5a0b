//! A session in memory behaves as one in a file.

use std::sync::Arc;

use longhand_session::entry::{EntryKind, MessageEntry};
use longhand_session::id_source::fresh_entry_id;
use longhand_session::store::ChangeSet;
use longhand_session::time::Timestamp;
use longhand_session::{
    Entry, EntryId, EntryReader, Header, IdSource, MemoryStore, Message, SequentialIds,
    SessionStore, StoreError, SystemIds, Tree,
};

fn entry(id: &str, parent: Option<&str>, text: &str) -> Arc<Entry> {
    Arc::new(Entry {
        id: id.into(),
        parent_id: parent.map(EntryId::from),
        timestamp: Timestamp::default(),
        kind: EntryKind::Message(MessageEntry {
            message: Arc::new(Message::user(text, 1)),
            ..MessageEntry::default()
        }),
    })
}

#[test]
fn what_is_appended_can_be_read_in_any_order() {
    let mut store = MemoryStore::new(Header::default());
    let (a, b) = (entry("a", None, "one"), entry("b", Some("a"), "two"));
    store.append(&[a.clone(), b.clone()]).expect("room");
    assert_eq!(store.read(&["b".into(), "a".into()]).expect("both"), [b, a]);
    let tree = Tree::new(store.open().expect("memory").rows);
    assert_eq!(tree.active_path(), ["a", "b"].map(EntryId::from));
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut store = MemoryStore::new(Header::default());
    store.append(&[entry("a", None, "one")]).expect("room");
    let before = store.entries().to_vec();

    let twice = [entry("b", None, "x"), entry("b", None, "y")];
    assert!(matches!(store.append(&twice), Err(StoreError::DuplicateEntry(_))));
    let changes = ChangeSet {
        replace: vec![entry("a", None, "changed"), entry("gone", None, "x")],
        ..ChangeSet::default()
    };
    assert!(matches!(store.rewrite(&changes), Err(StoreError::UnknownEntry(_))));
    assert_eq!(store.entries(), before);
}

#[test]
fn a_rewrite_replaces_removes_and_appends() {
    let mut store = MemoryStore::new(Header::default());
    store.append(&[entry("a", None, "1"), entry("b", Some("a"), "2")]).expect("room");
    let changes = ChangeSet {
        replace: vec![entry("a", None, "one")],
        remove: vec!["b".into()],
        append: vec![entry("c", Some("a"), "3")],
        header: Some(Header { title: Some("T".into()), ..Header::default() }),
    };
    store.rewrite(&changes).expect("known ids");
    assert_eq!(store.entries(), [entry("a", None, "one"), entry("c", Some("a"), "3")]);
    assert_eq!(store.open().expect("memory").header.title.as_deref(), Some("T"));
}

#[test]
fn an_earlier_entry_with_a_taken_id_keeps_its_content_under_a_fresh_one() {
    let mut store = MemoryStore::with_entries(
        Header::default(),
        [entry("a", None, "first"), entry("a", None, "second")],
    );
    let opened = store.open().expect("memory");
    assert_eq!(opened.damage.duplicate_ids, ["a"]);
    assert_ne!(opened.rows[0].id, opened.rows[1].id);
    assert_eq!(store.read(&["a".into()]).expect("owned"), [entry("a", None, "second")]);
}

#[test]
fn a_source_that_repeats_itself_still_gives_fresh_ids() {
    struct Stuck(SequentialIds);
    impl IdSource for Stuck {
        fn entry_candidate(&self) -> EntryId {
            "cafebabe".into()
        }
        fn snowflake(&self) -> u64 {
            self.0.snowflake()
        }
        fn session_id(&self) -> longhand_session::SessionId {
            self.0.session_id()
        }
    }
    let source = Stuck(SequentialIds::default());
    assert_eq!(fresh_entry_id(&source, |_| false), "cafebabe");
    assert_eq!(fresh_entry_id(&source, |id| *id == "cafebabe"), "0000000000000001");
}

#[test]
fn ids_of_the_system_have_the_form_of_the_format() {
    let ids = SystemIds::default();
    let entry = fresh_entry_id(&ids, |_| false);
    assert_eq!(entry.as_str().len(), 8);
    assert!(entry.as_str().bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    assert_eq!(ids.session_id().as_str().as_bytes()[14], b'7');
    let snowflakes: Vec<u64> = (0..1000).map(|_| ids.snowflake()).collect();
    assert!(snowflakes.is_sorted_by(|a, b| a < b));
}

#[test]
fn objects_without_an_id_keep_their_places_between_entries() {
    let (first, second) = (r#"{"note":1}"#, r#"{"type":"title","id":"t","note":2}"#);
    let lines = [first, &entry("a", None, "1").to_line(), second, &entry("b", None, "2").to_line()]
        .map(str::to_owned);
    let mut store = MemoryStore::new(Header::default());
    store.fill(Box::new(lines.iter().cloned().map(Ok))).expect("an empty session");
    let lines_of = |store: &MemoryStore| {
        store.lines().map(|line| line.expect("memory")).collect::<Vec<String>>()
    };
    assert_eq!(lines_of(&store), lines);

    let changes = ChangeSet {
        remove: vec!["a".into()],
        append: vec![entry("c", None, "3")],
        ..ChangeSet::default()
    };
    store.rewrite(&changes).expect("known ids");
    let (b, c) = (entry("b", None, "2").to_line(), entry("c", None, "3").to_line());
    assert_eq!(lines_of(&store), [first, second, &b, &c]);
}
