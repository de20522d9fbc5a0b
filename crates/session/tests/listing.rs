//! Lists show every session, read little of each, and let nobody's damage hide another.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_session::breadcrumbs::{Breadcrumb, Breadcrumbs, TerminalId, Trail, follow};
use longhand_session::listing::{self, Found, Match, Seen, SessionRow, Status, glance};
use longhand_session::pins::{Pins, pinned_first};
use longhand_session::place::{Landmarks, SessionPlace};
use longhand_session::time::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

fn header(id: &str) -> String {
    json!({"type": "session", "version": 3, "id": id, "cwd": "/w",
        "timestamp": "2026-03-01T10:00:00.000Z"})
    .to_string()
}

fn said(role: &str, text: &str) -> String {
    json!({"type": "message", "id": "m", "parentId": null, "message": {"role": role,
        "content": [{"type": "text", "text": text}], "stopReason": "stop"}})
    .to_string()
}

fn file(lines: &[String]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    fs::write(&path, lines.join("\n") + "\n").expect("a file");
    (folder, path)
}

#[test]
fn rows_tell_what_the_files_say() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session/listing-status.json");
    let data: Value =
        serde_json::from_str(&fs::read_to_string(data).expect("a file")).expect("JSON");
    for case in data["cases"].as_array().expect("cases") {
        let lines: Vec<String> = case["file"]
            .as_array()
            .expect("lines")
            .iter()
            .map(|line| line.as_str().expect("text").to_owned())
            .collect();
        let (_folder, path) = file(&lines);
        let row = glance(&path).expect("a file");
        let told = json!({
            "status": row.status.as_str(),
            "title": row.title,
            "firstMessage": row.first_message.as_deref().unwrap_or("(no messages)"),
            "allMessagesText": row.all_text,
            "messageCount": row.messages,
        });
        assert_eq!(told, case["expected"], "{}", row.id);
    }
}

#[test]
fn windows_may_cut_anywhere() {
    for extra in 0..200 {
        // The window ends within a character, an escape, or a key.
        let text = "\u{20ac}\"\n".repeat(1_500 + extra);
        let (_folder, path) = file(&[header("s"), said("user", &text), said("assistant", "Done")]);
        let row = glance(&path).expect("a file");
        let first = row.first_message.expect("the start of it");
        assert!(text.starts_with(&first) && first.len() > 2_000, "{extra}: {}", first.len());
        assert_eq!((row.status, row.assistant_turns), (Status::Complete, 1), "{extra}");
    }
}

#[test]
fn lines_of_any_length_cost_no_more_than_the_windows() {
    let long = "x".repeat(5_000_000);
    let text = |first: &str| Some(first.to_owned());
    for (case, lines, expected) in [
        ("a first message", [header("s"), said("user", &long)], (text("x"), Status::Unknown)),
        (
            "a header that tells its id first",
            [header("s").replace("\"/w\"", &format!("\"/{long}\"")), said("user", "hi")],
            (None, Status::Pending),
        ),
        ("no header", [long.clone(), header("s")], (None, Status::Damaged)),
    ] {
        let (_folder, path) = file(&lines);
        let row = glance(&path).expect("a file");
        let first = row.first_message.map(|first| first[..1].to_owned());
        assert_eq!((first, row.status), expected, "{case}");
    }
}

#[test]
fn an_answer_in_the_middle_of_a_long_file_is_found() {
    let long = "x".repeat(300_000);
    let lines = [header("s"), said("user", &long), said("assistant", "Yes"), said("user", &long)];
    let (_folder, path) = file(&lines);
    assert_eq!(glance(&path).expect("a file").assistant_turns, 1);
    let (_folder, path) = file(&[header("s"), said("user", &long), said("user", &long)]);
    assert_eq!(glance(&path).expect("a file").assistant_turns, 0);
}

#[test]
fn damage_is_listed_and_hides_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &[u8]| {
        fs::write(folder.path().join(name), content).expect("a file");
    };
    let good = format!("{}\n{}\n", header("good"), said("user", "hi"));
    write("a_good.jsonl", good.as_bytes());
    write("b_nul.jsonl", &[good.replace("good", "nul").as_bytes(), &[0; 5_000]].concat());
    write("c_bom.jsonl", &[b"\xef\xbb\xbf", good.replace("good", "bom").as_bytes()].concat());
    write("d_late.jsonl", format!("{{\"x\":1}}\n{}", good.replace("good", "late")).as_bytes());
    write("e_junk.jsonl", b"junk\n");
    write("f_empty.jsonl", b"");
    write("notes.txt", b"mine");
    fs::create_dir(folder.path().join("g_folder.jsonl")).expect("a folder");

    let rows = listing::list(folder.path(), &mut Seen::default()).expect("a folder");
    let mut told: Vec<(&str, Status)> =
        rows.iter().map(|row| (row.id.as_str(), row.status)).collect();
    told.sort_unstable_by_key(|(id, _)| *id);
    assert_eq!(
        told,
        [
            ("bom", Status::Pending),
            ("empty", Status::Damaged),
            ("folder", Status::Damaged),
            ("good", Status::Pending),
            ("junk", Status::Damaged),
            ("late", Status::Pending),
            ("nul", Status::Pending),
        ]
    );
}

#[test]
fn many_files_give_the_rows_that_each_gives_alone() {
    let root = tempfile::tempdir().expect("a folder");
    for n in 0..300 {
        let bucket = root.path().join(format!("bucket-{}", n % 3));
        fs::create_dir_all(bucket.join("artifacts-of-a-session")).expect("a folder");
        let lines = [header(&format!("s{n}")), said("user", &format!("text {n}"))];
        fs::write(bucket.join(format!("{n}.jsonl")), lines.join("\n")).expect("a file");
        fs::write(bucket.join("artifacts-of-a-session/agent.jsonl"), lines.join("\n"))
            .expect("a file of a subagent");
    }
    let mut seen = Seen::default();
    let rows = listing::list_all(root.path(), &mut seen).expect("a root");
    assert_eq!(rows.len(), 300);
    for row in &rows {
        assert_eq!(*row, glance(row.place.file().expect("a file")).expect("a file"));
    }
    assert_eq!(listing::list_all(root.path(), &mut seen).expect("a root"), rows);

    let changed = rows[7].place.file().expect("a file");
    fs::write(changed, format!("{}\n{}\n", header("changed"), said("assistant", "new")))
        .expect("a file");
    let rows = listing::list_all(root.path(), &mut seen).expect("a root");
    assert_eq!(rows.iter().filter(|row| row.id == "changed").count(), 1, "it is read anew");
}

fn row(id: &str, title: Option<&str>, text: &str) -> SessionRow {
    SessionRow {
        place: SessionPlace::File(format!("/s/{id}.jsonl").into()),
        id: id.into(),
        cwd: Some("/work/parser".into()),
        title: title.map(str::to_owned),
        parent: None,
        created: Timestamp::from_millis(0),
        modified: SystemTime::UNIX_EPOCH,
        bytes: 1,
        messages: 1,
        assistant_turns: 1,
        first_message: Some(text.to_owned()),
        all_text: text.to_owned(),
        status: Status::Complete,
    }
}

#[test]
fn a_search_finds_titles_then_words_then_what_resembles_them() {
    let rows = [
        row("1", None, "why does the footer flicker"),
        row("2", Some("Move the footer"), "please"),
        row("3", Some("footer"), "it is too wide"),
        row("4", Some("Startup"), "foo, to err is human"),
        row("5", None, "nothing of it"),
        row("6", None, &format!("{}foo, to err is human", "x".repeat(200))),
    ];
    let found = |query: &str| -> Vec<(usize, Match)> {
        listing::search(&rows, query).iter().map(|Found { at, kind }| (*at, *kind)).collect()
    };
    assert_eq!(
        found("FOOTER"),
        [(2, Match::Title), (1, Match::InTitle), (0, Match::Literal), (3, Match::Fuzzy)]
    );
    assert_eq!(found("footer the")[..2], [(1, Match::InTitle), (0, Match::Literal)]);
    assert_eq!(found("").len(), 6);
    assert_eq!(found("parser").len(), 6, "the folder counts");
    let words = [(3, Match::Literal), (5, Match::Literal)];
    assert_eq!(found("err is")[..2], words, "words count anywhere");
    assert!(found("^!'\\$ zzzz").is_empty());
}

#[test]
fn whole_files_are_searched_for_what_was_said() {
    let lines = [
        header("s"),
        said("user", "Look at PARSER.rs and the l\u{e4}nge of it"),
        json!({"type": "message", "id": "r", "message": {"role": "toolResult", "content": [
            {"type": "text", "text": "parser in a result"}]}})
        .to_string(),
        "{torn parser".to_owned(),
        json!({"type": "compaction", "id": "c", "summary": "The parser is done", "tokensBefore": 1})
            .to_string(),
    ];
    let (_folder, path) = file(&lines);
    let found = |query: &str| {
        let mut found = Vec::new();
        listing::search_text(&path, query, |passage| {
            found.push((passage.entry.to_string(), passage.text));
            ControlFlow::Continue(())
        })
        .expect("a file");
        found
    };
    let first = ("m".to_owned(), "Look at PARSER.rs and the l\u{e4}nge of it".to_owned());
    assert_eq!(found("parser"), [first.clone(), ("c".into(), "The parser is done".into())]);
    assert_eq!(found("L\u{c4}NGE parser"), [first]);
    assert!(found("absent").is_empty() && found("").is_empty());
}

#[test]
fn pins_come_first_and_survive_two_writers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data/session-pins.json");
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let pins = Pins::at(&file);
            scope.spawn(move || {
                for n in 0..20 {
                    pins.pin(&format!("{writer}-{n}").into()).expect("room");
                }
            });
        }
    });
    let pins = Pins::at(&file);
    assert_eq!(pins.read().expect("pins").len(), 40);
    pins.unpin(&"0-3".into()).expect("room");
    let pinned = pins.read().expect("pins");
    assert_eq!(pinned.len(), 39);

    let mut rows =
        [row("x", None, ""), row("1-7", None, ""), row("y", None, ""), row("0-0", None, "")];
    pinned_first(&mut rows, &pinned);
    assert_eq!(rows.each_ref().map(|row| row.id.as_str()), ["1-7", "0-0", "x", "y"]);

    fs::write(&file, "{").expect("a file");
    assert!(pins.pin(&"z".into()).is_err(), "a file that is not understood is not replaced");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "{");
}

/// A folder for the rules of breadcrumbs: a directory, another one, and a session.
struct Trails {
    folder: TempDir,
}

impl Trails {
    fn new() -> Self {
        let trails = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(trails.at("work")).expect("a folder");
        fs::create_dir(trails.at("other")).expect("a folder");
        fs::write(trails.at("s.jsonl"), header("s")).expect("a file");
        trails
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn session(&self, name: &str) -> SessionPlace {
        SessionPlace::File(self.at(name))
    }

    fn crumb(&self, cwd: &str, session: &str) -> Breadcrumb {
        Breadcrumb::new(&self.at(cwd), self.session(session), is_kept)
    }

    fn follow(&self, crumb: &Breadcrumb, directory: &str) -> Trail {
        follow(crumb, &self.at(directory), is_kept)
    }
}

fn is_kept(place: &SessionPlace) -> bool {
    match place {
        SessionPlace::File(file) => file.is_file(),
        SessionPlace::Database { id, .. } => *id == "kept",
    }
}

#[test]
fn a_breadcrumb_leads_back_to_the_session_of_its_terminal() {
    let trails = Trails::new();
    let here = Trail::Here(trails.session("s.jsonl"));
    let crumb = trails.crumb("work", "s.jsonl");
    let fresh = trails.crumb("work", "none.jsonl");
    let lost = Breadcrumb { is_fresh: false, ..fresh.clone() };
    fs::create_dir_all(trails.at("s/deep")).expect("artifacts");
    fs::write(trails.at("s/deep/agent.jsonl"), header("agent")).expect("a file");
    for (case, crumb, directory, expected) in [
        ("its directory", &crumb, "work", here.clone()),
        ("another directory, while its own is there", &crumb, "other", Trail::Elsewhere),
        ("nothing was kept yet", &fresh, "work", Trail::Fresh),
        ("the same, elsewhere", &fresh, "other", Trail::Elsewhere),
        ("the session has gone", &lost, "work", Trail::Elsewhere),
        ("a subagent", &trails.crumb("work", "s/deep/agent.jsonl"), "work", here),
    ] {
        assert_eq!(trails.follow(crumb, directory), expected, "{case}");
    }
    fs::rename(trails.at("work"), trails.at("renamed")).expect("a name");
    let moved = Trail::Moved(trails.session("s.jsonl"));
    assert_eq!(trails.follow(&crumb, "renamed"), moved);
    assert_eq!(trails.follow(&crumb, "other"), Trail::Elsewhere, "gone alone is not moved");
    let unmarked = Breadcrumb { cwd_identity: None, ..crumb };
    assert_eq!(trails.follow(&unmarked, "renamed"), Trail::Elsewhere, "nobody can know");
}

#[test]
fn a_breadcrumb_is_read_as_it_was_left() {
    let trails = Trails::new();
    let terminal = TerminalId::find(Some(Path::new("/dev/pts/3")), |_| None).expect("a terminal");
    let crumbs = Breadcrumbs::at(trails.at("terminal-sessions"));
    assert_eq!(crumbs.read(&terminal), None);
    let in_database = |id: &str| SessionPlace::Database { path: "/s.db".into(), id: id.into() };
    for crumb in [
        trails.crumb("work", "s.jsonl"),
        trails.crumb("gone", "none.jsonl"),
        Breadcrumb::new(&trails.at("work"), in_database("kept"), is_kept),
        Breadcrumb::new(&trails.at("work"), in_database("new"), is_kept),
    ] {
        crumbs.leave(&terminal, &crumb).expect("room");
        assert_eq!(crumbs.read(&terminal), Some(crumb));
    }
    assert!(trails.at("terminal-sessions/pts-3").is_file());
    fs::write(trails.at("terminal-sessions/pts-3"), "/work\n").expect("a file");
    assert_eq!(crumbs.read(&terminal), None, "half of one is none");
}

#[test]
fn a_terminal_without_a_device_goes_by_its_variable() {
    let find =
        |name: &'static str| TerminalId::find(None, move |asked| (asked == name).then_some("%1/x"));
    let tmux = find("TMUX_PANE").expect("a terminal");
    assert_ne!(Some(tmux), find("KITTY_WINDOW_ID"));
    assert_eq!(find("HOME"), None);
}

#[test]
fn an_old_bucket_is_taken_over_and_nothing_in_the_new_one_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = fs::canonicalize(folder.path()).expect("a path").join("home");
    let work = home.join("work");
    fs::create_dir_all(&work).expect("a folder");
    let landmarks = Landmarks::new(&home, Path::new("/no/temp"));
    let root = folder.path().join("sessions");
    let old_name = format!("--{}--", work.display().to_string()[1..].replace('/', "-"));
    let write = |bucket: &str, name: &str, text: &str| {
        fs::create_dir_all(root.join(bucket)).expect("a folder");
        fs::write(root.join(bucket).join(name), text).expect("a file");
    };
    write(&old_name, "a.jsonl", "old a");
    landmarks.adopt_old_bucket(&root, &work);
    assert_eq!(fs::read_to_string(root.join("-work/a.jsonl")).expect("moved"), "old a");

    write(&old_name, "a.jsonl", "other a");
    write(&old_name, "b.jsonl", "b");
    landmarks.adopt_old_bucket(&root, &work);
    assert_eq!(fs::read_to_string(root.join("-work/a.jsonl")).expect("kept"), "old a");
    assert_eq!(fs::read_to_string(root.join("-work/b.jsonl")).expect("moved"), "b");
    assert_eq!(fs::read_to_string(root.join(old_name).join("a.jsonl")).expect("stays"), "other a");
}

#[test]
fn the_newest_come_first() {
    let mut rows = [row("1", None, ""), row("2", None, ""), row("3", None, "")];
    rows[1].modified += Duration::from_secs(1);
    rows[2].created = Timestamp::from_millis(5);
    listing::sort_newest_first(&mut rows);
    assert_eq!(rows.each_ref().map(|row| row.id.as_str()), ["2", "3", "1"]);
}
