//! Lists of foreign sessions: what they show, and that one bad file hides no other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_session::import::{ForeignSession, Origin, list};
use serde_json::{Value, json};

use crate::play::{event, item, lines, says, user};

/// The folder of another program.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn add(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn list(&self, origin: Origin) -> Vec<ForeignSession> {
        list(origin, self.path())
    }

    /// Id, folder, title and first prompt of each session.
    fn rows(&self, origin: Origin) -> Vec<[Option<String>; 4]> {
        let mut rows: Vec<_> = self
            .list(origin)
            .into_iter()
            .map(|row| {
                [
                    Some(row.id),
                    row.cwd.map(|cwd| cwd.display().to_string()),
                    row.title,
                    row.first_prompt,
                ]
            })
            .collect();
        rows.sort();
        rows
    }
}

fn row(id: &str, cwd: &str, title: Option<&str>, prompt: Option<&str>) -> [Option<String>; 4] {
    [Some(id), Some(cwd), title, prompt].map(|text| text.map(str::to_owned))
}

fn uuid(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn in_folder(mut record: Value, cwd: &str) -> Value {
    record["cwd"] = cwd.into();
    record
}

#[test]
fn the_golden_transcript_is_listed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/session/import-claude.json");
    let vector: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let expected = &vector["listRow"];
    let id = expected["id"].as_str().unwrap();
    let home = Home::new();
    home.add(
        &format!("projects/-home-u-proj/{id}.jsonl"),
        lines(vector["records"].as_array().unwrap()),
    );
    home.add(
        "history.jsonl",
        lines(&[
            json!({"sessionId": id, "display": "List the crates.", "project": "/home/u/proj"}),
        ]),
    );
    let [found] = &home.list(Origin::Claude)[..] else { panic!("one session") };
    assert_eq!(
        json!({
            "id": found.id, "cwd": found.cwd, "firstMessage": found.first_prompt, "messageCount": found.prompts,
            // A title that the transcript has is shown, where the golden row has none.
            "title": found.title.as_ref().filter(|title| *title != "My crates"),
        }),
        *expected
    );
}

#[test]
fn one_bad_file_of_claude_code_hides_no_other() {
    let home = Home::new();
    let good = lines(&[in_folder(user("a", None, "Fix the tests"), "/work/a-b")]);
    home.add(&format!("projects/-work-a-b/{}.jsonl", uuid(1)), &good);
    home.add(
        &format!(".projects/-work-a-b/{}.jsonl", uuid(2)),
        [b"\xef\xbb\xbf", &good[..]].concat(),
    );
    home.add(&format!("projects/-work-a-b/{}.jsonl", uuid(3)), [b"\0\0\0\n", &good[..]].concat());
    home.add(&format!("projects/-work-a-b/{}.jsonl", uuid(4)), b"\0garbage");
    home.add(&format!("projects/-work-a-b/{}.jsonl", uuid(5)), b"");
    home.add("projects/-work-a-b/agent-1234.jsonl", &good);
    home.add(&format!("projects/-work-a-b/{}/deeper/{}.jsonl", uuid(6), uuid(6)), &good);
    fs::create_dir_all(home.path().join(format!("projects/-work-a-b/{}.jsonl", uuid(7)))).unwrap();
    home.add("projects/stray.txt", b"");
    let expected: Vec<_> =
        (1..=3).map(|n| row(&uuid(n), "/work/a-b", None, Some("Fix the tests"))).collect();
    assert_eq!(home.rows(Origin::Claude), expected);
}

#[test]
fn the_working_folder_is_found_in_this_order() {
    let home = Home::new();
    let id = uuid(1);
    let name = format!("projects/-work-a-b/{id}.jsonl");
    let cwd = || home.list(Origin::Claude)[0].cwd.clone().unwrap();
    home.add(&name, lines(&[user("a", None, "Hi")]));
    assert_eq!(cwd(), Path::new("/work/a/b"), "the name, decoded");
    home.add(
        ".claude.json",
        json!({"projects": {"/other": {}, "/work/a-b": {"x": 1}}}).to_string(),
    );
    assert_eq!(cwd(), Path::new("/work/a-b"), "a known folder of that name");
    home.add(&name, lines(&[in_folder(user("a", None, "Hi"), "/work/a.b")]));
    assert_eq!(cwd(), Path::new("/work/a.b"), "what a record says");
    home.add(
        "history.jsonl",
        lines(&[json!({"session_id": id, "text": "Hi", "project": "/work/a_b"})]),
    );
    assert_eq!(cwd(), Path::new("/work/a_b"), "what the list of prompts says");
}

#[test]
fn a_title_at_the_end_of_a_long_transcript_is_found() {
    let home = Home::new();
    let long = "x".repeat(200_000);
    let title = json!({"type": "custom-title", "customTitle": "A \u{1b}[1mbold\n title"});
    let records = [in_folder(user("a", None, "Hi"), "/w"), user("b", Some("a"), &long), title];
    home.add(&format!("projects/-w/{}.jsonl", uuid(1)), lines(&records));
    assert_eq!(
        home.rows(Origin::Claude),
        [row(&uuid(1), "/w", Some("A [1mbold title"), Some("Hi"))]
    );
}

fn rollout(home: &Home, folder: &str, n: u64, records: &[Value]) -> PathBuf {
    home.add(&format!("{folder}/rollout-2026-02-01T09-00-00-{}.jsonl", uuid(n)), lines(records))
}

fn meta(n: u64) -> Value {
    json!({"timestamp": "2026-02-01T09:00:00.000Z", "type": "session_meta", "payload": {"id": uuid(n), "cwd": "/w"}})
}

#[test]
fn transcripts_of_codex_are_found_in_all_their_folders() {
    let home = Home::new();
    let typed = event(&json!({"type": "user_message", "message": "Run\nthe tests"}));
    rollout(
        &home,
        "sessions/2026/02/01",
        1,
        &[meta(1), says("user", "<environment_context>"), typed.clone()],
    );
    rollout(&home, ".sessions", 2, &[meta(2), says("user", "Hi")]);
    rollout(&home, "archived_sessions/a/b/c", 3, &[json!({"oddly": "shaped"}), typed.clone()]);
    rollout(&home, "sessions", 4, &[meta(4)]);
    let with_mark = [b"\xef\xbb\xbf", &lines(&[meta(5), typed])[..]].concat();
    home.add("sessions/rollout-5.jsonl", with_mark);
    home.add("sessions/rollout-6.jsonl", b"\0\0\0");
    home.add("sessions/notes.jsonl", b"{}");
    home.add(
        "session_index.jsonl",
        lines(&[
            json!({"id": uuid(2), "thread_name": "Old"}),
            json!({"id": 7}),
            json!({"id": uuid(2), "thread_name": "Greeting"}),
        ]),
    );
    let tests = Some("Run the tests");
    assert_eq!(
        home.rows(Origin::Codex),
        [
            row(&uuid(1), "/w", None, tests),
            row(&uuid(2), "/w", Some("Greeting"), Some("Hi")),
            [Some(uuid(3)), None, None, tests.map(str::to_owned)],
            row(&uuid(5), "/w", None, tests),
        ]
    );
}

#[test]
fn standing_instructions_do_not_hide_the_first_prompt() {
    let home = Home::new();
    let mut first = meta(1);
    first["payload"]["base_instructions"] = json!({"text": "x".repeat(100_000)});
    let image = item(
        &json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
    );
    rollout(&home, "sessions", 1, &[first, image]);
    assert_eq!(home.rows(Origin::Codex), [row(&uuid(1), "/w", None, Some("Hi"))]);
}

#[cfg(feature = "sqlite")]
mod database {
    use rusqlite::Connection;

    use super::*;

    fn database(home: &Home, name: &str) -> Connection {
        let connection = Connection::open(home.path().join(name)).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE threads(id TEXT, rollout_path TEXT, created_at INTEGER, updated_at INTEGER, cwd TEXT, title TEXT,
                 first_user_message TEXT, more TEXT)",
            )
            .unwrap();
        connection
    }

    fn add(connection: &Connection, n: u64, path: &Path, updated: i64) {
        let row = (uuid(n), path.to_str(), updated, "/w", "Named", "What the database knows");
        connection.execute("INSERT INTO threads VALUES(?1,?2,0,?3,?4,?5,?6,NULL)", row).unwrap();
    }

    #[test]
    fn the_newest_database_tells_and_the_folders_add_to_it() {
        let home = Home::new();
        let known = rollout(&home, "sessions", 1, &[meta(1)]);
        rollout(&home, "sessions", 2, &[meta(2), says("user", "Hi")]);
        let old = database(&home, "state_9.sqlite");
        add(&old, 7, &known, 1);
        let new = database(&home, "state_10.sqlite");
        add(&new, 1, &known, 1_769_936_401);
        add(&new, 3, &home.path().join("gone.jsonl"), 1);
        drop((old, new));
        assert_eq!(
            home.rows(Origin::Codex),
            [
                row(&uuid(1), "/w", Some("Named"), Some("What the database knows")),
                row(&uuid(2), "/w", None, Some("Hi")),
            ]
        );
        let first = home.list(Origin::Codex).into_iter().find(|row| row.id == uuid(1)).unwrap();
        assert_eq!(first.modified, SystemTime::UNIX_EPOCH + Duration::from_secs(1_769_936_401));
    }

    #[test]
    fn a_database_that_cannot_be_read_leaves_the_folders() {
        let home = Home::new();
        rollout(&home, "sessions", 1, &[meta(1), says("user", "Hi")]);
        let expected = [row(&uuid(1), "/w", None, Some("Hi"))];
        home.add("state_1.sqlite", b"no database");
        assert_eq!(home.rows(Origin::Codex), expected, "something else");
        Connection::open(home.path().join("state_2.sqlite"))
            .unwrap()
            .execute_batch("CREATE TABLE other(id)")
            .unwrap();
        assert_eq!(home.rows(Origin::Codex), expected, "another shape");
        let locked = database(&home, "state_3.sqlite");
        locked.execute_batch("PRAGMA journal_mode=WAL; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO threads(id) VALUES('x')").unwrap();
        assert_eq!(home.rows(Origin::Codex), expected, "locked");
    }

    #[test]
    fn looking_writes_nothing() {
        let home = Home::new();
        let path = rollout(&home, "sessions", 1, &[meta(1)]);
        let connection = database(&home, "state_1.sqlite");
        connection.execute_batch("PRAGMA journal_mode=WAL").unwrap();
        add(&connection, 1, &path, 1);
        drop(connection);
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(home.path()).unwrap().map(|item| item.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        assert_eq!(home.list(Origin::Codex).len(), 1);
        assert_eq!(names(), before);
    }
}
