//! Commands on session files: what they show, and what they leave as it is.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::{Home, text};

/// A session of version 1 with turns enough to compact.
fn old_session() -> String {
    let mut lines = vec![
        json!({"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/gone"}),
    ];
    for turn in 0..40 {
        let user = json!({"role": "user", "content": format!("question {turn} {}", "word ".repeat(400)), "timestamp": turn});
        let assistant = json!({"role": "assistant", "content": [{"type": "text", "text": "answer ".repeat(300)}],
            "api": "x", "provider": "x", "model": "x", "stopReason": "stop", "timestamp": turn,
            "usage": {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}});
        for message in [user, assistant] {
            lines.push(json!({"type": "message", "timestamp": "2025-01-01T00:00:01.000Z", "message": message, "mood": turn}));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn lines(path: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a session");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Entries as they were before ids were given.
fn without_links(entries: &[Value]) -> Vec<Value> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        if let Some(members) = entry.as_object_mut() {
            members.remove("id");
            members.remove("parentId");
        }
    }
    entries
}

#[test]
fn an_old_session_is_migrated_and_compacted_and_nothing_of_it_is_lost() {
    let home = Home::new();
    let path = home.work().join("old.jsonl");
    fs::write(&path, old_session()).expect("the session");
    let before = lines(&path);
    let output = home.run(&["compact", "old.jsonl", "--method", "soft", "--demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let original = home.work().join("old.jsonl.v1.orig");
    assert_eq!(fs::read_to_string(original).expect("the original is kept"), old_session());
    let after = lines(&path);
    let entries: Vec<Value> = after
        .iter()
        .filter(|line| !["title", "session"].contains(&line["type"].as_str().unwrap_or("")))
        .cloned()
        .collect();
    let old = before.len() - 1;
    assert_eq!(without_links(&entries[..old]), without_links(&before[1..]));

    let compactions: Vec<&Value> =
        entries.iter().filter(|entry| entry["type"] == "compaction").collect();
    assert_eq!(compactions.len(), 1);
    let kept = entries.iter().find(|entry| entry["id"] == compactions[0]["firstKeptEntryId"]);
    let kept = kept.expect("the first kept entry exists");
    assert!(
        ["user", "assistant"].contains(&kept["message"]["role"].as_str().unwrap_or("")),
        "{kept}"
    );

    let bytes = fs::read(&path).expect("the session");
    let again = home.run(&["compact", "old.jsonl", "--method", "soft", "--demo"]);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert_eq!(fs::read(&path).expect("the session"), bytes, "nothing to do writes nothing");
    let allowed = home.run(&["compact", "old.jsonl", "--demo", "--allow-noop"]);
    assert_eq!(allowed.status.code(), Some(0));
}

#[test]
fn a_second_compaction_leaves_all_earlier_bytes() {
    let home = Home::new();
    let path = home.work().join("old.jsonl");
    fs::write(&path, old_session()).expect("the session");
    assert_eq!(home.run(&["compact", "old.jsonl", "--demo"]).status.code(), Some(0));
    let before = fs::read(&path).expect("the session");
    let name = path.display().to_string();
    for _ in 0..2 {
        home.say(&["--resume", &name, &"tell me more ".repeat(4_000)]);
    }
    assert_eq!(home.run(&["compact", "old.jsonl", "--demo"]).status.code(), Some(0));
    assert!(fs::read(&path).expect("the session").starts_with(&before));
}

#[test]
fn a_compaction_into_another_file_leaves_the_original() {
    let home = Home::new();
    let path = home.work().join("old.jsonl");
    fs::write(&path, old_session()).expect("the session");
    let out = home.run(&["compact", "old.jsonl", "--demo", "--out", "new.jsonl", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let document: Value = serde_json::from_slice(&out.stdout).expect("one JSON document");
    assert!(document["tokensAfter"].as_u64() < document["tokensBefore"].as_u64(), "{document}");
    assert_eq!(fs::read_to_string(&path).expect("the original"), old_session());
    assert!(home.work().join("new.jsonl").exists());
    let dry = home.run(&["compact", "old.jsonl", "--demo", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry.stderr));
    assert_eq!(fs::read_to_string(&path).expect("the original"), old_session());
}

#[test]
fn a_context_is_the_same_bytes_each_time_and_in_each_format() {
    let home = Home::new();
    fs::write(home.work().join("old.jsonl"), old_session()).expect("the session");
    for format in ["text", "json", "wire:openai-chat"] {
        let show = || home.run(&["context", "old.jsonl", "--format", format]);
        let (first, second) = (show(), show());
        assert_eq!(first.status.code(), Some(0), "{format}: {}", text(&first.stderr));
        assert_eq!(text(&first.stdout), text(&second.stdout));
    }
    let document: Value =
        serde_json::from_slice(&home.run(&["context", "old.jsonl", "--format", "json"]).stdout)
            .expect("one JSON document");
    let third = document["messages"][2]["entry"].as_str().expect("messages name their entries");
    let at = home.run(&["context", "old.jsonl", "--format", "json", "--at", third]);
    let at: Value = serde_json::from_slice(&at.stdout).expect("one JSON document");
    assert_eq!(at["messageCount"], 3);
    let wire: Value = serde_json::from_slice(
        &home.run(&["context", "old.jsonl", "--format", "wire:openai-chat"]).stdout,
    )
    .expect("one JSON document");
    assert_eq!(wire["messages"].as_array().map(Vec::len), Some(80));
}

#[test]
fn an_inspection_counts_what_is_there() {
    let home = Home::new();
    fs::write(home.work().join("old.jsonl"), old_session()).expect("the session");
    let output = home.run(&["inspect", "old.jsonl", "--json", "--model", "demo/offline"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["session"]["entries"], 80);
    assert_eq!(document["window"]["context_window"], 128_000);
    assert_eq!(document["entries"].as_array().map(Vec::len), Some(80));
    let methods = document["methods"].as_array().expect("a list of methods");
    let soft = methods.iter().find(|row| row["method"] == "soft").expect("it is built in");
    assert!(soft["freed"].as_u64() > Some(10_000), "{soft}");
    assert!(methods.iter().any(|row| row["method"] == "snapcompact"), "{}", document["methods"]);
}

#[test]
fn every_message_that_was_told_of_is_on_the_disk_after_a_kill() {
    let home = Home::new();
    for told_before_the_kill in 1..=12 {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("longhand"));
        command.args([
            "-p",
            "--mode",
            "json",
            "--model",
            "demo/offline",
            "list .",
            "list .",
            "list .",
        ]);
        command.current_dir(home.work()).env_clear().env("LONGHAND_HOME", home.path().join("home"));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let lines =
            BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut events = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let header = events.next().expect("the header comes first");
        let ids = events.filter_map(|event| Some(event.get("entryId")?.as_str()?.to_owned()));
        let told: Vec<String> = ids.take(told_before_the_kill).collect();
        child.kill().and_then(|()| child.wait()).expect("it is killed");
        assert_eq!(told.len(), told_before_the_kill);

        let id = header["id"].as_str().expect("the header has an id");
        let file = home.sessions().into_iter().find(|path| path.display().to_string().contains(id));
        let file =
            fs::read_to_string(file.expect("the session is on the disk")).expect("the session");
        for entry in told {
            assert_eq!(
                file.matches(&format!("\"id\":\"{entry}\"")).count(),
                1,
                "entry {entry} of {id}"
            );
        }
        home.say(&["--resume", id, "list ."]);
    }
}

#[test]
fn real_sessions_show_the_messages_that_they_should() {
    let Some(folder) = std::env::var_os("LONGHAND_REAL_SESSIONS").map(PathBuf::from) else {
        eprintln!("skipped: LONGHAND_REAL_SESSIONS names no folder with real sessions");
        return;
    };
    let home = Home::new();
    for (name, messages) in [("before-compaction", 439), ("large-session", 892)] {
        let path = home.work().join(format!("{name}.jsonl"));
        // Read and written, so that the copy may be changed where the original may not.
        fs::write(&path, fs::read(folder.join(format!("{name}.jsonl"))).expect("a real session"))
            .expect("a copy");
        let path = path.display().to_string();
        let count = |format: &str| {
            let output = home.run(&["context", &path, "--format", format]);
            serde_json::from_slice::<Value>(&output.stdout).expect("one JSON document")
        };
        assert_eq!(count("json")["messageCount"], messages, "{name}");
        let output = home.run(&["compact", &path, "--demo"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        let shorter = count("json");
        assert!(shorter["messageCount"].as_u64() < Some(messages), "{name}");
        assert_eq!(shorter, count("json"), "{name}: a reload gives the same context");
    }
}
