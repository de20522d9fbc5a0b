//! Sessions of other programs on the command line, and files of the same format.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::home::{Home, text};

const ID: &str = "11111111-2222-3333-4444-555555555555";

/// A session of Claude Code, in its own place.
fn claude(home: &Home, id: &str) -> PathBuf {
    let records = [
        json!({"type": "user", "uuid": "a", "parentUuid": null, "cwd": home.work(), "message": {"content": "What is \u{1b}[1mhere?"}}),
        json!({"type": "progress", "uuid": "p", "parentUuid": "a"}),
        json!({"type": "assistant", "uuid": "b", "parentUuid": "p", "message":
            {"id": "m", "model": "claude-x", "content": [{"type": "text", "text": "Nothing."}], "stop_reason": "end_turn"}}),
    ];
    let folder = home.path().join("claude/projects/-work");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{id}.jsonl"));
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(&path, lines + "{\"torn").expect("a transcript");
    path
}

fn run(home: &Home, words: &[&str]) -> Output {
    let mut command = home.command(words);
    command.env("CLAUDE_CONFIG_DIR", home.path().join("claude"));
    command.output().expect("the program starts")
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn foreign_sessions_are_listed_planned_and_imported() {
    let home = Home::new();
    claude(&home, ID);
    let listed = run(&home, &["import", "claude", "--list"]);
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
    assert!(text(&listed.stdout).contains(&ID[..8]), "{}", text(&listed.stdout));
    assert!(!text(&listed.stdout).contains('\u{1b}'), "no escape reaches the terminal");
    assert_eq!(
        json_of(&run(&home, &["import", "claude", "--list", "--json"]))["sessions"][0]["id"],
        ID
    );

    let planned = run(&home, &["import", "claude", ID, "--dry-run"]);
    let plan = text(&planned.stdout);
    for part in ["1 assistant", "1 user", "1 progress", "damaged lines: 1"] {
        assert!(plan.contains(part), "{part} in {plan}");
    }
    assert!(home.sessions().is_empty(), "a plan writes nothing");

    let imported = run(&home, &["import", "claude", "1111"]);
    assert_eq!(imported.status.code(), Some(0), "{}", text(&imported.stderr));
    let new = text(&imported.stdout);
    let (id, _) = new.split_once(' ').expect("an id first");
    assert!(home.sessions()[0].display().to_string().contains(id));
    let again = json_of(&run(&home, &["import", "claude", "--all", "--json"]));
    assert_eq!(again["sessions"][0]["importedBefore"], true);
    assert_eq!(again["sessions"][0]["id"], id);
    assert_eq!(home.sessions().len(), 1);
    run(&home, &["import", "claude", "--all", "--again"]);
    assert_eq!(home.sessions().len(), 2);
}

#[test]
fn one_session_that_fails_does_not_stop_the_others() {
    let home = Home::new();
    let path = claude(&home, ID);
    let output = run(
        &home,
        &["import", "claude", "nobody", &path.display().to_string(), "--out", "here", "--json"],
    );
    assert_eq!(output.status.code(), Some(5));
    let document = json_of(&output);
    assert_eq!(document["failed"][0]["session"], "nobody");
    let place = document["sessions"][0]["place"].as_str().expect("a place");
    assert!(
        place.starts_with(
            &home.work().canonicalize().expect("work").join("here").display().to_string()
        ),
        "{place}"
    );
    for words in [
        &["import"][..],
        &["import", "claude"],
        &["import", "emacs", "x"],
        &["import", "claude", "--list", "x"],
    ] {
        assert_eq!(run(&home, words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn a_launch_imports_and_goes_on() {
    let home = Home::new();
    claude(&home, ID);
    let say =
        |words: &[&str]| run(&home, &[words, &["-p", "--model", "demo/offline", "hello"]].concat());
    let first = say(&["--from-claude", "1111"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let [file] = &home.sessions()[..] else { panic!("one session") };
    let session = fs::read_to_string(file).expect("a session");
    assert!(session.contains("foreign_session_import") && session.contains("\"hello\""));
    let second = say(&["--from-claude", "1111"]);
    assert!(text(&second.stderr).contains("--again"), "{}", text(&second.stderr));
    assert_eq!(home.sessions().len(), 1);

    let unnamed = run(&home, &["--from-claude", "-p"]);
    assert_eq!(unnamed.status.code(), Some(2));
    assert!(text(&unnamed.stderr).contains(&ID[..8]));
    assert_eq!(say(&["--from-claude", "nobody"]).status.code(), Some(5));
    assert_eq!(say(&["--from-claude", "1111", "-c"]).status.code(), Some(2));
}

#[test]
fn a_compacted_session_of_codex_goes_on_without_a_warning() {
    let home = Home::new();
    let said = |text: &str| {
        json!({"type": "response_item", "payload":
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}})
    };
    let history =
        [&said("before")["payload"], &json!({"type": "compaction", "encrypted_content": "E"})];
    let records = [
        json!({"type": "session_meta", "payload": {"id": "c-1", "cwd": home.work()}}),
        said("before"),
        json!({"type": "compacted", "payload": {"message": "", "replacement_history": history}}),
        said("after"),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(home.work().join("rollout-1.jsonl"), lines).expect("a transcript");
    let output =
        run(&home, &["--from-codex", "rollout-1.jsonl", "-p", "--model", "demo/offline", "hello"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let context = text(&run(&home, &["context", "--model", "demo/offline"]).stdout);
    assert!(context.contains("User:\nbefore") && context.contains("after"), "{context}");
}

/// A file of version 1, as its own program left it.
fn old_file(home: &Home) -> PathBuf {
    let lines = [
        json!({"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": home.work(),
            "provider": "p", "modelId": "m", "thinkingLevel": "off"}),
        json!({"type": "message", "timestamp": "2025-01-01T00:00:01.000Z",
            "message": {"role": "user", "content": "before", "timestamp": 1}}),
        json!({"type": "mystery", "timestamp": "2025-01-01T00:00:02.000Z", "number": 12_345_678_901_234_567_890_u64}),
    ];
    let path = home.work().join("old.jsonl");
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())
        .expect("a file");
    path
}

#[test]
fn a_file_of_an_older_version_is_opened_by_its_path_and_stays_what_it_was() {
    let home = Home::new();
    let path = old_file(&home);
    let before = fs::read(&path).expect("the file");
    let inspected = home.run(&["inspect", "old.jsonl", "--json"]);
    assert_eq!(inspected.status.code(), Some(0), "{}", text(&inspected.stderr));
    assert_eq!(json_of(&inspected)["session"]["entries"], 2);
    assert_eq!(fs::read(&path).expect("the file"), before, "looking writes nothing");

    home.say(&["--resume", "old.jsonl", "hello"]);
    let lines: Vec<Value> = fs::read_to_string(&path)
        .expect("the file")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["type"], "title");
    assert_eq!((&lines[1]["version"], &lines[1]["provider"]), (&json!(3), &json!("p")));
    assert_eq!(lines[3]["number"], json!(12_345_678_901_234_567_890_u64));
    let entries = &lines[2..];
    let mut parent = Value::Null;
    for entry in entries {
        assert!(entry["id"].is_string() && entry["timestamp"].is_string(), "{entry}");
        assert_eq!(entry["parentId"], parent, "one chain");
        parent = entry["id"].clone();
    }
    assert!(entries.iter().any(|entry| entry["message"]["role"] == "assistant"));
    assert_eq!(fs::read(home.work().join("old.jsonl.v1.orig")).expect("the original"), before);
    assert!(home.sessions().is_empty(), "it goes on where it lies");
}
