//! The bitmap archive: what of it is valid, the blocks it becomes, and data URLs in its text.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::collections::HashMap;

use longhand_session::archive::{self, Archive, FrameBudget, FrameSource, history_blocks};
use longhand_session::data_url::{self, Origin};
use longhand_session::{Block, Json};
use serde_json::{Value, json};

fn cases(text: &str, key: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    let cases = file[key].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

/// `<N>` in a case stands for N characters.
fn written_out(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let count = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
            count
                .and_then(|count| count.parse().ok())
                .map_or_else(|| value.clone(), |count| Value::String("x".repeat(count)))
        }
        Value::Array(items) => items.iter().map(written_out).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), written_out(value))).collect()
        }
        other => other.clone(),
    }
}

fn read(archive: &Value) -> Option<Archive> {
    Archive::read(&Json::from(json!({ "snapcompact": archive })))
}

/// Frames by reference: how long they are. Their content is always the same.
struct Lengths(HashMap<String, Option<u64>>);

impl FrameSource for Lengths {
    fn encoded_bytes(&self, reference: &str) -> Option<u64> {
        *self.0.get(reference)?
    }

    fn read(&self, _: &str) -> Option<String> {
        Some("RRRRRRRR".into())
    }
}

/// The sentence in the middle of a budget note is our own: compare its number of frames and its size.
fn without_own_words(blocks: &Value) -> Value {
    let lines = |text: &str| -> Vec<String> {
        let mut in_note = false;
        let mut lines = Vec::new();
        for line in text.split('\n') {
            let line = if in_note { numbers(line) } else { line.to_owned() };
            in_note = line == "-------------- snapcompact image middle omitted";
            lines.push(line);
        }
        lines
    };
    let blocks = blocks.as_array().unwrap().iter().map(|block| match block["text"].as_str() {
        Some(text) => json!(lines(text)),
        None => block.clone(),
    });
    blocks.collect()
}

fn numbers(sentence: &str) -> String {
    let is_size = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit()) || ["KB", "MB", "B"].contains(word)
    };
    sentence.split(' ').filter(is_size).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_archive_becomes_text_and_pictures_in_order() {
    for case in cases(include_str!("data/snapcompact/history_blocks.json"), "cases") {
        let case = written_out(&case);
        let lengths = case
            .get("resolver")
            .map(|lengths| Lengths(serde_json::from_value(lengths.clone()).unwrap()));
        let budget = case["options"]["maxFrameDataBytes"]
            .as_u64()
            .map_or(FrameBudget::Unlimited, FrameBudget::Bytes);
        let source = lengths.as_ref().map(|lengths| lengths as &dyn FrameSource);
        let blocks = history_blocks(&read(&case["archive"]).unwrap(), budget, source);
        assert_eq!(
            without_own_words(&json!(blocks)),
            without_own_words(&case["blocks"]),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn only_what_is_valid_of_an_archive_is_read() {
    for case in cases(include_str!("data/snapcompact/preserved_archive.json"), "cases") {
        let preserve_data = Json::from(case["preserveData"].clone());
        let archive = Archive::read(&preserve_data);
        assert_eq!(json!(archive), case["archive"], "{}", case["name"]);
        let text = archive.and_then(|archive| archive.source_text());
        assert_eq!(json!(text), case["source_text"], "{}", case["name"]);
        assert_eq!(json!(archive::strip(&preserve_data)), case["stripped"], "{}", case["name"]);
    }
}

#[test]
fn data_urls_are_replaced_by_a_note() {
    for case in cases(include_str!("data/snapcompact/truncate_dataurl.json"), "data_urls") {
        let origin = match case["context"].as_str().unwrap() {
            "source" => Origin::Source,
            _ => Origin::Archive,
        };
        let text = case["text"].as_str().unwrap();
        assert_eq!(data_url::elide(text, origin), case["out"].as_str().unwrap(), "{text}");
    }
}

#[test]
fn a_written_archive_is_read_back_beside_the_other_slots() {
    let archive = read(&json!({"frames": [{"data": "QQ", "mimeType": "image/png", "cols": 1,
        "rows": 2, "chars": 3, "key": "unknown"}], "text": "t"}))
    .unwrap();
    let written = archive.write(Some(&json!({"other": 1}).into()));
    assert_eq!(Archive::read(&written), Some(archive));
    assert_eq!(archive::strip(&written), Some(json!({"other": 1}).into()));
}

#[test]
fn a_frame_that_was_cut_when_it_was_stored_is_not_used() {
    let cut = "QUJD\n\n[Session persistence truncated large content]";
    let frame = |data: &str| json!({"data": data, "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1});
    let frames = json!([frame("QQ"), frame(cut)]);
    let with_text = read(&json!({"frames": frames, "text": "all", "textTail": "tail"})).unwrap();
    assert_eq!((with_text.frames.len(), with_text.text_head.as_deref()), (0, Some("all")));
    assert_eq!(with_text.text_tail, None);
    let without_text = read(&json!({"frames": frames})).unwrap();
    assert_eq!(without_text.frames.len(), 1);
    assert_eq!(read(&json!({"frames": [frame(cut)]})), None);
}

#[test]
fn an_archive_of_the_oldest_kind_that_made_providers_fail_shows_no_frame() {
    let budget = |frames: usize, frame: Value, rest: Value| {
        let mut archive = rest;
        archive["frames"] = json!(vec![frame; frames]);
        archive::model_budget(&read(&archive).unwrap(), None)
    };
    let old = json!({"data": "QQ", "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1});
    let mut new = old.clone();
    new["font"] = json!("8x13");
    let mut heavy = old.clone();
    heavy["data"] = json!("x".repeat(3_000_000));
    let full = FrameBudget::Bytes(3_000_000);
    let none = FrameBudget::Bytes(0);
    assert_eq!(budget(15, old.clone(), json!({})), full);
    assert_eq!(budget(16, old, json!({})), none);
    assert_eq!(budget(16, new, json!({})), full);
    assert_eq!(budget(1, heavy.clone(), json!({})), full);
    assert_eq!(budget(1, heavy.clone(), json!({"truncatedChars": 1_000_000})), none);
    assert_eq!(budget(1, heavy, json!({"text": "x".repeat(250_000)})), none);
}

#[test]
fn a_frame_that_cannot_be_read_leaves_a_note() {
    struct Unreadable;
    impl FrameSource for Unreadable {
        fn encoded_bytes(&self, _: &str) -> Option<u64> {
            Some(1)
        }
        fn read(&self, _: &str) -> Option<String> {
            None
        }
    }
    let archive = read(&json!({"frames": [{"data": "blob:sha256:0", "mimeType": "image/png",
        "cols": 1, "rows": 1, "chars": 1}]}))
    .unwrap();
    let blocks = history_blocks(&archive, FrameBudget::Unlimited, Some(&Unreadable));
    let note = "-------------- 1 archived image frame unavailable here --------------";
    assert_eq!(blocks, [Block::text(note)]);
}

#[test]
fn eliding_is_linear_in_brackets_and_prefixes() {
    for unit in
        ["](data:a/b;base64,", "[", "![x](data:image/png;base64,AAAA ", "data:a/b;a=b", "]("]
    {
        let text = unit.repeat(1_000_000 / unit.len());
        let out = data_url::elide(&text, Origin::Archive);
        assert!(out.len() <= text.len() * 4, "{unit}");
    }
}
