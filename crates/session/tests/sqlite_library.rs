//! The sessions of a database are listed and found without reading them.

#![cfg(feature = "sqlite")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use longhand_session::listing::{SessionRow, Status};
use longhand_session::place::SessionPlace;
use longhand_session::sqlite::{Hit, SqliteLibrary};
use longhand_session::store::ChangeSet;
use longhand_session::time::{Clock, Timestamp};
use longhand_session::{Entry, Header, SequentialIds, SessionStore, SqliteStore};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

const DAY: i64 = 86_400_000;

/// A clock that stands at a time.
struct At(AtomicI64);

impl Clock for At {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn database() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    (folder, path)
}

fn header(id: &str) -> Header {
    Header::new(id.into(), Timestamp::new("2026-03-01T10:00:00.000Z"), "/w")
}

fn session(path: &Path, header: Header, now: i64, entries: &[Arc<Entry>]) -> SqliteStore {
    let clock = Arc::new(At(AtomicI64::new(now)));
    let ids = Arc::<SequentialIds>::default();
    let mut store = SqliteStore::create(path, header).with_sources(ids, clock);
    let changes = ChangeSet { append: entries.to_vec(), ..ChangeSet::default() };
    store.rewrite(&changes).expect("room");
    store
}

fn entry(value: Value) -> Arc<Entry> {
    Arc::new(serde_json::from_value(value).expect("an entry"))
}

fn message(id: &str, message: &Value) -> Arc<Entry> {
    entry(
        json!({"type": "message", "id": id, "parentId": null, "timestamp": "t", "message": message}),
    )
}

fn user(id: &str, text: &str) -> Arc<Entry> {
    message(id, &json!({"role": "user", "content": text, "timestamp": 1}))
}

fn assistant(id: &str, text: &str) -> Arc<Entry> {
    let content =
        json!([{"type": "thinking", "thinking": "unseen"}, {"type": "text", "text": text}]);
    message(
        id,
        &json!({"role": "assistant", "content": content, "stopReason": "stop", "timestamp": 1}),
    )
}

fn library(path: &Path) -> SqliteLibrary {
    SqliteLibrary::open(path).expect("a database").expect("a database")
}

fn search(path: &Path, query: &str) -> Vec<Hit> {
    library(path).search(query, 0, 100).expect("a database")
}

fn found(path: &Path, query: &str) -> Vec<String> {
    search(path, query).iter().map(|hit| hit.session.id.as_str().to_owned()).collect()
}

#[test]
fn a_row_tells_what_a_list_shows() {
    let (_folder, path) = database();
    let titled =
        Header { title: Some("T".into()), parent_session: Some("p".into()), ..header("s") };
    let entries = [
        message("a", &json!({"role": "developer", "content": "be brief", "timestamp": 1})),
        assistant("b", "ready"),
        user("c", "hi"),
        message("d", &json!({"role": "toolResult", "content": [], "timestamp": 1})),
        entry(json!({"type": "custom", "id": "e", "customType": "note"})),
    ];
    session(&path, titled.clone(), 5 * DAY, &entries);
    let lines: u64 = entries.iter().map(|entry| entry.to_line().len() as u64 + 1).sum();
    let expected = SessionRow {
        place: SessionPlace::Database { path: path.clone(), id: "s".into() },
        id: "s".into(),
        cwd: Some("/w".into()),
        title: Some("T".into()),
        parent: Some("p".into()),
        created: Timestamp::new("2026-03-01T10:00:00.000Z"),
        modified: SystemTime::UNIX_EPOCH + Duration::from_hours(5 * 24),
        bytes: titled.to_line().len() as u64 + 1 + lines,
        messages: 4,
        assistant_turns: 1,
        first_message: Some("hi".into()),
        all_text: "ready hi".into(),
        status: Status::Interrupted,
    };
    assert_eq!(library(&path).list().expect("a database"), std::slice::from_ref(&expected));
    assert_eq!(library(&path).find(&"s".into()).expect("a database"), Some(expected));
    assert_eq!(library(&path).find(&"z".into()).expect("a database"), None);
}

#[test]
fn the_last_message_tells_how_a_session_was_left() {
    let reply = |stop: &str, content: Value| {
        message("a", &json!({"role": "assistant", "content": content, "stopReason": stop}))
    };
    let call = json!([{"type": "toolCall", "id": "t", "name": "ls", "arguments": {}}]);
    for (last, expected) in [
        (vec![], Status::Unknown),
        (vec![user("a", "hi")], Status::Pending),
        (vec![assistant("a", "done")], Status::Complete),
        (vec![reply("error", json!([]))], Status::Error),
        (vec![reply("aborted", json!([]))], Status::Aborted),
        (vec![reply("length", json!([]))], Status::Interrupted),
        (vec![reply("toolUse", call)], Status::Interrupted),
        (vec![message("a", &json!({"role": "toolResult", "content": []}))], Status::Interrupted),
        (vec![message("a", &json!({"role": "oracle"}))], Status::Unknown),
    ] {
        let (_folder, path) = database();
        session(&path, header("s"), 0, &last);
        let row = library(&path).find(&"s".into()).expect("a database").expect("a session");
        assert_eq!(row.status, expected, "{last:?}");
    }
}

#[test]
fn a_rewrite_changes_what_lists_show() {
    let (_folder, path) = database();
    let entries = [user("a", "first"), user("b", "second"), assistant("c", "answer")];
    let mut store = session(&path, header("s"), 0, &entries);
    let changes = ChangeSet {
        replace: vec![user("b", "2nd")],
        remove: vec!["a".into(), "c".into()],
        ..ChangeSet::default()
    };
    let bytes = store.rewrite(&changes).expect("known ids").bytes;
    let row = library(&path).find(&"s".into()).expect("a database").expect("a session");
    assert_eq!(
        (
            row.messages,
            row.assistant_turns,
            row.first_message.as_deref(),
            &*row.all_text,
            row.status
        ),
        (1, 0, Some("2nd"), "2nd", Status::Pending)
    );
    let expected = header("s").to_line().len() + user("b", "2nd").to_line().len() + 2;
    assert_eq!((row.bytes, bytes), (expected as u64, expected as u64));
}

#[test]
fn sessions_come_last_written_first() {
    let (_folder, path) = database();
    for (id, day) in [("old", 1), ("new", 3), ("middle", 2)] {
        session(&path, header(id), day * DAY, &[]);
    }
    let ids: Vec<_> =
        library(&path).list().expect("a database").into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["new", "middle", "old"]);
}

#[test]
fn a_deleted_session_is_neither_listed_nor_found() {
    let (_folder, path) = database();
    session(&path, header("s"), 0, &[user("a", "gone tomorrow")]);
    session(&path, header("t"), 0, &[user("a", "here tomorrow")]);
    library(&path).delete(&"s".into()).expect("a session");
    assert_eq!(found(&path, "tomorrow"), ["t"]);
    assert_eq!(library(&path).list().expect("a database").len(), 1);
}

#[test]
fn what_user_and_model_said_is_found_and_nothing_else() {
    let (_folder, path) = database();
    let entries = [
        user("a", "Where does the Größe come from?"),
        assistant("b", "From parse_header() in src/frame.rs"),
        message(
            "c",
            &json!({"role": "toolResult", "content": [{"type": "text", "text": "tooloutput"}]}),
        ),
        entry(
            json!({"type": "compaction", "id": "d", "summary": "Goal: a summarised history", "firstKeptEntryId": ""}),
        ),
        entry(
            json!({"type": "branch_summary", "id": "e", "summary": "an abandoned attempt", "fromId": "root"}),
        ),
        message(
            "f",
            &json!({"role": "user", "content": [{"type": "text", "text": "one block"}, {"type": "image"}, {"type": "text", "text": "another"}]}),
        ),
    ];
    session(&path, header("s"), 0, &entries);
    for (query, entry) in [
        ("grosse", None),
        ("GRÖSSE", None),
        ("große", Some("a")),
        ("parse_header", Some("b")),
        ("frame.rs", Some("b")),
        ("header parse", Some("b")),
        ("pars", Some("b")),
        ("summarised", Some("d")),
        ("abandoned", Some("e")),
        ("block another", Some("f")),
        ("größe parse", None),
        ("tooloutput", None),
        ("unseen", None),
        ("assistant", None),
        ("", None),
        ("  ??? ", None),
    ] {
        let hits = search(&path, query);
        let actual = hits.first().map(|hit| hit.entry.clone().expect("an entry"));
        assert_eq!(actual.as_ref().map(longhand_session::EntryId::as_str), entry, "{query:?}");
    }
}

#[test]
fn a_snippet_shows_what_matched() {
    let (_folder, path) = database();
    session(&path, header("s"), 0, &[user("a", "please\nretry the request, then retry again")]);
    let hits = search(&path, "retr");
    let snippet = &hits[0].snippet;
    assert_eq!(snippet.text, "please retry the request, then retry again");
    let matched: Vec<&str> = snippet.matches.iter().map(|at| &snippet.text[at.clone()]).collect();
    assert_eq!((matched, hits[0].passages), (vec!["retry", "retry"], 1));
}

#[test]
fn titles_lead_then_good_matches_then_late_ones() {
    let (_folder, path) = database();
    let titled = |id: &str| Header { title: Some("On retry".into()), ..header(id) };
    let filler = "words that say nothing about it at all, ".repeat(20);
    session(&path, titled("title"), 0, &[]);
    session(&path, header("good"), 0, &[user("a", "retry")]);
    session(&path, header("good-late"), DAY, &[user("a", "retry")]);
    session(&path, header("poor"), 0, &[user("a", &format!("{filler} retry {filler}"))]);
    for n in 0..20 {
        session(&path, header(&format!("other-{n}")), 0, &[user("a", &filler)]);
    }
    assert_eq!(found(&path, "retry"), ["title", "good-late", "good", "poor"]);
    let snippet = search(&path, "retry")[0].snippet.clone();
    assert_eq!(snippet.text, "On retry");
    assert_eq!(snippet.matches.iter().map(|at| (at.start, at.end)).collect::<Vec<_>>(), [(3, 8)]);

    let late = library(&path).search("retry", 365 * DAY, 2).expect("a database");
    assert!(late.len() == 2 && late.iter().all(|hit| hit.score > 0.0));
}

#[test]
fn a_renamed_session_is_found_by_its_new_title_alone() {
    let (_folder, path) = database();
    let mut store = session(&path, Header { title: Some("alpha".into()), ..header("s") }, 0, &[]);
    let renamed = Header { title: Some("beta".into()), ..header("s") };
    store.rewrite(&ChangeSet { header: Some(renamed), ..ChangeSet::default() }).expect("room");
    assert_eq!((found(&path, "alpha").len(), found(&path, "beta").len()), (0, 1));
}

#[test]
fn a_session_without_a_title_goes_by_its_name_or_its_newest_compaction() {
    let info =
        |id: &str, name: &str| entry(json!({"type": "session_info", "id": id, "name": name}));
    let compaction = |id: &str, short: Value| {
        entry(json!({"type": "compaction", "id": id, "summary": "s", "shortSummary": short}))
    };
    let (_folder, path) = database();
    let mut store = session(&path, header("s"), 0, &[compaction("a", json!("first"))]);
    let title = || library(&path).find(&"s".into()).expect("a database").expect("s").title;
    assert_eq!(title().as_deref(), Some("first"));
    store.append(&[compaction("b", Value::Null), info("c", "named")]).expect("room");
    assert_eq!(title().as_deref(), Some("named"));
    let unnamed = ChangeSet { remove: vec!["c".into()], ..ChangeSet::default() };
    store.rewrite(&unnamed).expect("a known id");
    assert_eq!(title().as_deref(), Some("first"));
    let titled = Header { title: Some("T".into()), ..header("s") };
    store.rewrite(&ChangeSet { header: Some(titled), ..ChangeSet::default() }).expect("room");
    assert_eq!(title().as_deref(), Some("T"));
}

/// All words of a search index, with their places.
fn words(connection: &rusqlite::Connection, index: &str) -> Vec<(String, i64, i64)> {
    let sql = format!("SELECT term, doc, offset FROM temp.{index}_words ORDER BY 2, 3");
    let mut statement = connection.prepare(&sql).expect("an index");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.expect("words").map(|row| row.expect("a word")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_query_is_an_error_and_snippets_are_whole(
        texts in proptest::collection::vec(any::<String>(), 1..4),
        query in prop_oneof![any::<String>(), "[\"*^():+\\-{}a-zA-Z ]{0,20}", "(a|OR|AND|NOT|NEAR|\"|\\*| ){1,8}"],
    ) {
        let (_folder, path) = database();
        let entries: Vec<_> =
            texts.iter().enumerate().map(|(n, text)| user(&format!("e{n}"), text)).collect();
        session(&path, header("s"), 0, &entries);
        let words = texts[0].split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        for query in [&query, &words] {
            for hit in library(&path).search(query, 0, 10).expect("no error") {
                prop_assert!(hit.snippet.matches.iter().all(|at| hit.snippet.text.get(at.clone()).is_some()));
                prop_assert!(hit.score > 0.0);
            }
        }
    }

    #[test]
    fn the_search_index_says_what_the_lines_say(
        steps in proptest::collection::vec(("[a-d]", "[a-c ]{0,6}", 0..4_u8), 1..16)
    ) {
        let (_folder, path) = database();
        let mut store = session(&path, header("s"), 0, &[]);
        for (id, text, what) in steps {
            let mut changes = ChangeSet::default();
            match what {
                0 => changes.append = vec![user(&id, &text)],
                1 => changes.replace = vec![assistant(&id, &text)],
                2 => changes.remove = vec![id.as_str().into()],
                _ => changes.header = Some(Header { title: Some(text), ..header("s") }),
            }
            // Ids that are taken or unknown are refused.
            let _ = store.rewrite(&changes);
        }
        let connection = rusqlite::Connection::open(&path).expect("the database");
        for (view, text) in [("passages", "body"), ("titles", "title")] {
            let index = format!("{}_search", &view[..view.len() - 1]);
            let fresh = format!(
                "CREATE VIRTUAL TABLE temp.fresh_{view} USING fts5 (
                     t, tokenize = 'unicode61 remove_diacritics 2'
                 );
                 INSERT INTO fresh_{view} (rowid, t) SELECT {key}, {text} FROM {view};
                 CREATE VIRTUAL TABLE temp.{view}_words USING fts5vocab ('main', '{index}', 'instance');
                 CREATE VIRTUAL TABLE temp.fresh_{view}_words
                     USING fts5vocab ('temp', 'fresh_{view}', 'instance');",
                key = if view == "passages" { "line" } else { "session" },
            );
            connection.execute_batch(&fresh).expect("a fresh index");
            prop_assert_eq!(words(&connection, view), words(&connection, &format!("fresh_{view}")));
        }
        let whole: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check");
        prop_assert_eq!(whole, "ok");
    }
}
