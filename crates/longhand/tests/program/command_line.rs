//! Exit codes, single-shot runs, and what nonsense gets for an answer.

use std::fs;

use serde_json::Value;

use crate::home::{Home, text};

#[test]
fn help_and_version_touch_nothing() {
    let home = Home::new();
    for flag in ["--help", "--version"] {
        assert_eq!(home.run(&[flag]).status.code(), Some(0));
    }
    assert!(!home.path().join("home").exists());
}

#[test]
fn an_exit_code_says_what_kind_of_failure_it_was() {
    let home = Home::new();
    fs::write(home.work().join("picture.png"), [0x89, b'P', b'N', b'G', 0, 0]).expect("a file");
    fs::write(home.work().join("empty"), "").expect("a file");
    for (words, code, says) in [
        (&["--frobnicate"][..], 2, "unknown flag: --frobnicate"),
        (&["-c", "--no-session", "-p", "x"], 2, "cannot be used with"),
        (&["-p"], 2, "there is no prompt"),
        (&["-p", "x"], 4, "no model is configured"),
        (&["-p", "--model", "nobody/knows", "x"], 4, "there is no model `nobody/knows`"),
        (&["-p", "--model", "demo/offline", "--tools", "dig", "x"], 2, "there is no tool `dig`"),
        (&["inspect", "missing.jsonl"], 5, "no session"),
        (&["inspect", "."], 5, ""),
        (&["inspect", "picture.png"], 5, "picture.png"),
        (&["inspect", "empty"], 5, "empty"),
        (&["-p", "--model", "demo/offline", "--resume", "picture.png", "x"], 5, "picture.png"),
    ] {
        let output = home.run(words);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {error}");
        assert!(error.contains(says), "{words:?}: {error}");
        assert!(!error.contains("panicked"), "{words:?}: {error}");
    }
    let picture = fs::read(home.work().join("picture.png")).expect("the picture is still there");
    assert_eq!(picture, [0x89, b'P', b'N', b'G', 0, 0]);
}

#[test]
fn a_prompt_runs_real_tools_and_prints_the_answer() {
    let home = Home::new();
    fs::write(home.work().join("a.txt"), "hello from the file\n").expect("a file");
    let answer = home.say(&["read a.txt"]);
    assert!(answer.contains("hello from the file"), "{answer}");
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn a_conversation_continues_where_it_was() {
    let home = Home::new();
    home.say(&["list ."]);
    home.say(&["-c", "list ."]);
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 1);
    let lines = fs::read_to_string(&sessions[0]).expect("the session");
    assert_eq!(lines.matches(r#""role":"user""#).count(), 2);
    let name = sessions[0].display().to_string();
    home.say(&["--resume", &name, "list ."]);
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn without_a_session_nothing_is_kept() {
    let home = Home::new();
    home.say(&["--no-session", "list ."]);
    assert_eq!(home.sessions(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_prompt_may_come_through_a_pipe() {
    let home = Home::new();
    fs::write(home.work().join("a.txt"), "piped\n").expect("a file");
    let mut command = home.command(&["-p", "--model", "demo/offline"]);
    let output = command.write_stdin("read a.txt").output().expect("the program starts");
    assert!(text(&output.stdout).contains("piped"), "{}", text(&output.stderr));
}

#[test]
fn json_is_a_header_and_one_event_a_line() {
    let home = Home::new();
    let output = home.run(&["-p", "--mode", "json", "--model", "demo/offline", "list ."]);
    let lines = text(&output.stdout);
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!((&events[0]["type"], &events[0]["schema"]), (&"session".into(), &1.into()));
    let sequence: Vec<u64> =
        events[1..].iter().map(|event| event["seq"].as_u64().expect("a number")).collect();
    assert!(sequence.is_sorted_by(|a, b| a < b), "{sequence:?}");
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    for name in ["agent_start", "message_update", "tool_execution_end", "turn_end", "agent_end"] {
        assert!(types.contains(&name), "{name} is missing in {types:?}");
    }
    for update in events.iter().filter(|event| event["type"] == "message_update") {
        assert_eq!(update.get("partial"), None, "an update carries only what is new");
    }
}

#[test]
fn a_call_that_nobody_can_approve_is_refused_with_a_way_out() {
    let home = Home::new();
    let output = home.run(&["-p", "--mode", "json", "--model", "demo/offline", "run touch made"]);
    assert!(text(&output.stdout).contains("--approval-mode"), "{}", text(&output.stdout));
    assert!(!home.work().join("made").exists());
    home.say(&["--auto-approve", "run touch made"]);
    assert!(home.work().join("made").exists());
}

#[test]
fn damaged_lines_cost_only_themselves() {
    let home = Home::new();
    home.say(&["list ."]);
    let path = &home.sessions()[0];
    let mut bytes = fs::read(path).expect("the session");
    bytes.extend(b"\0\0\0\0\n{\"type\":\"message\",\"id\":\"torn");
    fs::write(path, &bytes).expect("the damage");
    let output = home.run(&["inspect"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("2 damaged lines"), "{}", text(&output.stderr));
    assert_eq!(fs::read(path).expect("the session"), bytes, "looking changes nothing");
    home.say(&["-c", "list ."]);
    let repaired = fs::read_to_string(path).expect("the session");
    assert_eq!(repaired.matches(r#""role":"user""#).count(), 2);
    assert!(repaired.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_setting_that_does_not_exist_is_told_with_the_closest() {
    let home = Home::new();
    let output =
        home.run(&["-p", "--model", "demo/offline", "--set", "compaction.enable=false", "list ."]);
    let error = text(&output.stderr);
    assert!(error.contains("compaction.enabled"), "{error}");
}
