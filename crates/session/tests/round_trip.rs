//! What a line says survives reading and writing, understood or not.

use std::path::PathBuf;

use longhand_session::Entry;
use serde_json::Value;

fn round_trip(line: &str) -> Value {
    let entry: Entry = serde_json::from_str(line).expect("an entry");
    serde_json::from_str(&entry.to_line()).expect("printed entries parse")
}

#[test]
fn unknown_types_members_roles_and_blocks_survive() {
    for line in [
        r#"{"type":"hologram","id":"a","parentId":null,"timestamp":"t","depth":12345678901234567890123,"x":[1,{"y":null}]}"#,
        r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"oracle","says":0.10000000000000000555}}"#,
        r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"user","content":[{"type":"smell","of":"rain"},7],"timestamp":1,"mood":"calm"},"pinned":true}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant","content":[],"usage":{"input":1},"stopReason":"tired","timestamp":"late"}}"#,
        r#"{"type":"compaction","id":"a","parentId":null,"timestamp":"t","summary":"s","tokensBefore":"many","fromHook":true}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t"}"#,
    ] {
        let expected: Value = serde_json::from_str(line).expect("a test line");
        assert_eq!(round_trip(line), expected, "{line}");
    }
}

#[test]
fn digits_of_numbers_survive() {
    let line = r#"{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"n","data":{"n":123456789012345678901234567890.125}}"#;
    let entry: Entry = serde_json::from_str(line).expect("an entry");
    assert_eq!(entry.to_line(), line);
}

#[test]
fn a_lone_surrogate_reads_as_a_replacement_character() {
    let line = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"cut \ud83d off \ud83d\ude42","timestamp":1}}"#;
    let entry: Entry = serde_json::from_str(line).expect("an entry");
    let message = entry.message().expect("a message");
    assert_eq!(**message, longhand_session::Message::user("cut \u{fffd} off 🙂", 1));
}

#[test]
fn every_line_of_a_real_session_survives() {
    let Some(folder) = std::env::var_os("LONGHAND_REAL_SESSIONS").map(PathBuf::from) else {
        eprintln!("skipped: LONGHAND_REAL_SESSIONS names no folder with real sessions");
        return;
    };
    for name in ["before-compaction.jsonl", "large-session.jsonl"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a real session");
        for (number, line) in text.lines().enumerate().skip(1) {
            let mut value: Value = serde_json::from_str(line).expect("a line of JSON");
            value["id"] = "x".into();
            value["parentId"] = Value::Null;
            assert_eq!(round_trip(&value.to_string()), value, "{name}:{}", number + 1);
        }
    }
}
