//! Sessions in the database, from the command line: named, searched, converted, thrown away.

use std::fs;

use serde_json::Value;

use crate::home::{Home, text};

const IN_DATABASE: [&str; 2] = ["--set", "sessions.store=sqlite"];

fn json(home: &Home, words: &[&str]) -> Value {
    let output = home.run(words);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn code(home: &Home, words: &[&str]) -> (Option<i32>, String) {
    let output = home.run(words);
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_session_of_the_database_is_a_session_like_any_other() {
    let home = Home::new();
    home.say(&[&IN_DATABASE[..], &["list ."]].concat());
    assert!(home.sessions().is_empty());
    let listed = json(&home, &["sessions", "--json"]);
    let id = listed["sessions"][0]["id"].as_str().expect("an id").to_owned();
    home.say(&["--resume", &id, "list ."]);
    home.say(&["-c", "help"]);
    let inspected = json(&home, &["inspect", &id, "--json"]);
    let file = inspected["session"]["file"].as_str().expect("a place");
    assert!(file.ends_with(&format!("sessions.db#{id}")), "{file}");
    assert_eq!(json(&home, &["inspect", file, "--json"]), inspected);
    let context = home.run(&["context", &id, "--format", "json"]);
    assert_eq!(context.status.code(), Some(0), "{}", text(&context.stderr));

    let found = json(&home, &["sessions", "search", "list", "--json"]);
    assert_eq!(found["sessions"][0]["id"], *id);
    assert_eq!(found["sessions"][0]["passages"][0]["text"], "list .");
    let nothing = json(&home, &["sessions", "search", "\"*(", "--json"]);
    assert_eq!(nothing["sessions"], Value::Array(Vec::new()));
}

#[test]
fn sessions_are_converted_there_and_back() {
    let home = Home::new();
    home.say(&["list ."]);
    home.say(&["help"]);
    let before: Vec<_> = home.sessions();
    let texts: Vec<String> =
        before.iter().map(|path| fs::read_to_string(path).expect("a file")).collect();
    let there =
        json(&home, &["sessions", "convert", "--to", "sqlite", "--all", "--remove", "--json"]);
    let outcomes = there["sessions"].as_array().expect("a list");
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes.iter().all(|one| one["outcome"] == "converted" && one["trash"].is_string()));
    assert!(home.sessions().is_empty());
    let id = outcomes[0]["id"].as_str().expect("an id");

    let (exit, _) = code(&home, &["sessions", "convert", "--to", "jsonl", id]);
    assert_eq!(exit, Some(0));
    let (exit, words) = code(&home, &["sessions", "convert", "--to", "jsonl", id]);
    assert_eq!(exit, Some(1), "{words}");
    assert!(words.contains("is kept that way already"), "{words}");
    let (exit, _) = code(&home, &["sessions", "convert", "--to", "jsonl", "--all"]);
    assert_eq!(exit, Some(0));
    for (path, text) in before.iter().zip(&texts) {
        let back = fs::read_to_string(path).expect("the file is where it was");
        let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&back), lines(text));
    }
}

#[test]
fn a_database_that_is_none_hides_no_session_and_is_left_alone() {
    let home = Home::new();
    home.say(&["list ."]);
    let database = home.path().join("home/sessions/sessions.db");
    fs::write(&database, "dear diary\n").expect("a file");
    let listed = json(&home, &["sessions", "--json"]);
    let statuses: Vec<_> =
        listed["sessions"].as_array().expect("a list").iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses.len(), 2, "{listed}");
    assert!(statuses.iter().any(|status| *status == "damaged"));
    home.say(&["-c", "help"]);
    let (exit, words) =
        code(&home, &[&["-p", "--model", "demo/offline"], &IN_DATABASE[..], &["help"]].concat());
    assert_eq!(exit, Some(5));
    assert!(words.contains("is not a database of sessions; it was not modified"), "{words}");
    assert_eq!(fs::read_to_string(&database).expect("the file"), "dear diary\n");
}

#[test]
fn a_deleted_session_of_the_database_lies_in_the_trash_as_a_file() {
    let home = Home::new();
    home.say(&[&IN_DATABASE[..], &["list ."]].concat());
    let listed = json(&home, &["sessions", "--json"]);
    let id = listed["sessions"][0]["id"].as_str().expect("an id");
    assert_eq!(code(&home, &["sessions", "delete", id]).0, Some(0));
    assert_eq!(json(&home, &["sessions", "--json"])["sessions"], Value::Array(Vec::new()));
    let bin = fs::read_dir(home.path().join("home/trash")).expect("a trash").next();
    let bin = bin.expect("one session").expect("an item").path();
    let mut items = fs::read_dir(bin).expect("a folder").map(|item| item.expect("an item").path());
    let file = items.find(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let file = file.expect("a session file");
    home.say(&["--resume", &file.display().to_string(), "help"]);
}
