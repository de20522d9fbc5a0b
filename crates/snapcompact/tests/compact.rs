//! Archives that grow, against a table of chains.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_prompts::Prompts;
use longhand_session::{FileOperations, Json, Message};
use longhand_snapcompact::compact::{Compacted, Input, Options, compact};
use longhand_snapcompact::serialize::Reasoning;
use longhand_snapcompact::{Renderer, ShapeChoice};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

mod generated;

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn prose(length: u64, seed: u64) -> String {
    generated::text(length as usize, seed).replace('█', "\n")
}

/// Turns of a user, a model that thinks, speaks and reads a file, and the file.
fn turns(input: &Value) -> Vec<Arc<Message>> {
    let (count, length) = (number(input, "count"), number(input, "n"));
    (0..count)
        .flat_map(|turn| {
            [
                json!({"role": "user", "content": format!("request {turn}: {}", prose(length, 100 + turn))}),
                json!({"role": "assistant", "content": [
                    {"type": "thinking", "thinking": format!("reason {turn} {}", prose(80, 300 + turn))},
                    {"type": "text", "text": prose(length, 200 + turn)},
                    {"type": "toolCall", "id": format!("c{turn}"), "name": "read",
                     "arguments": {"path": format!("src/f{turn}.rs"), "i": "Read file"}},
                ]}),
                json!({"role": "toolResult", "toolCallId": format!("c{turn}"), "toolName": "read", "isError": false,
                       "content": [{"type": "text", "text": prose(number(input, "tool"), 400 + turn)}]}),
            ]
        })
        .map(|message| Arc::new(serde_json::from_value(message).expect("a message")))
        .collect()
}

fn files(case: &Value) -> FileOperations {
    let mut files = FileOperations::default();
    if case["options"]["noFiles"] != true {
        files.read.insert("a.rs".into());
        files.edited.insert("b.rs".into());
    }
    files
}

fn options(case: &Value, input: &Value) -> Options {
    let mut options = Options::default();
    if let Some(name) = case["options"]["variant"].as_str() {
        options.shape = name.parse::<ShapeChoice>().expect("a shape");
    }
    options.frame_size = case["options"]["frameSize"].as_u64().map(|px| px as usize);
    if let Some(most) = input["max_frames"].as_u64() {
        options.max_frames = most as usize;
    }
    if case["options"]["includeThinking"] == false {
        options.serialize.reasoning = Reasoning::Excluded;
    }
    options
}

fn rgb(data: &str) -> Vec<u8> {
    let png = BASE64_STANDARD.decode(data).expect("base64");
    image::load_from_memory(&png).expect("a picture").to_rgb8().into_raw()
}

/// What a table tells of an archive.
fn told(made: &Compacted) -> Value {
    let archive = &made.archive;
    let frames: Vec<Value> = archive
        .frames
        .iter()
        .map(|frame| {
            let mut frame = serde_json::to_value(frame).expect("JSON");
            let members = frame.as_object_mut().expect("a frame is an object");
            members.retain(|key, _| !["data", "width", "height", "key"].contains(&key.as_str()));
            frame
        })
        .collect();
    let length = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
    let hash = |text: &Option<String>| text.as_ref().map(|text| hex(text.as_bytes()));
    json!({
        "frame_count": frames.len(), "frames": frames,
        "totalChars": archive.total_chars, "truncatedChars": archive.truncated_chars,
        "text_len": length(&archive.text), "text_sha256": hash(&archive.text),
        "textHead_len": length(&archive.text_head), "textHead_sha256": hash(&archive.text_head),
        "textTail_len": length(&archive.text_tail), "textTail_sha256": hash(&archive.text_tail),
        "first_frame_rgb": archive.frames.first().map(|frame| hex(&rgb(&frame.data))),
        "last_frame_rgb": archive.frames.last().map(|frame| hex(&rgb(&frame.data))),
        "last_frame_height": archive.frames.last().and_then(|frame| frame.height),
    })
}

/// Where history goes, what the user said in it is kept, so that the middle is not that of the table. All else is.
fn compare_shortened(made: &Value, table: &Value, name: &str) {
    for key in ["frame_count", "textHead_sha256", "textTail_sha256", "first_frame_rgb"] {
        assert_eq!(made[key], table[key], "{key} of {name}");
    }
    let all = |archive: &Value| number(archive, "text_len") + number(archive, "truncatedChars");
    assert_eq!(all(made), all(table), "{name}");
}

#[test]
fn chains_of_compactions_are_those_of_the_table() {
    let table: Value =
        serde_json::from_str(include_str!("data/snapcompact/recompact.json")).expect("JSON");
    for case in table["cases"].as_array().expect("cases") {
        let mut before: Option<Json> = None;
        for (at, step) in case["steps"].as_array().expect("steps").iter().enumerate() {
            let input = &step["input"];
            let messages = turns(input);
            let input = Input {
                messages: &messages,
                previous_summary: case["options"]["prevSummary"].as_str().filter(|_| at == 0),
                previous_preserve_data: before.as_ref(),
                file_operations: &files(case),
                extra_context: &[],
                api: input["model"]["api"].as_str().expect("an API"),
                model_id: input["model"]["id"].as_str().expect("an id"),
            };
            let options = options(case, &step["input"]);
            let made = compact(&input, &options, &Renderer::default(), &Prompts::default())
                .expect("an archive");
            let name = format!("{} step {at}", case["name"]);
            if number(&step["archive"], "truncatedChars") > 0 {
                compare_shortened(&told(&made), &step["archive"], &name);
            } else {
                assert_eq!(told(&made), step["archive"], "{name}");
                assert_eq!(
                    Some(made.short_summary.as_str()),
                    step["shortSummary"].as_str(),
                    "{name}"
                );
            }
            assert_eq!(made.details, Json::from(step["details"].clone()), "{name}");
            assert_eq!(
                made.summary == "No prior history.",
                step["summary_is_no_prior_history"] == true,
                "{name}"
            );
            before = Some(made.preserve_data);
        }
    }
}

/// Many turns for a model that gets no reasoning to read.
fn history(count: u64) -> Vec<Arc<Message>> {
    turns(&json!({"count": count, "n": 800, "tool": 2500}))
}

fn archived(
    messages: &[Arc<Message>],
    before: Option<&Json>,
    extra: &[String],
    options: &Options,
) -> Compacted {
    let input = Input {
        messages,
        previous_summary: None,
        previous_preserve_data: before,
        file_operations: &FileOperations::default(),
        extra_context: extra,
        api: "anthropic-messages",
        model_id: "claude-opus-4-8",
    };
    compact(&input, options, &Renderer::default(), &Prompts::default()).expect("an archive")
}

fn without_reasoning() -> Options {
    let mut options = Options::default();
    options.serialize.reasoning = Reasoning::Excluded;
    options
}

#[test]
fn only_frames_whose_page_changed_are_drawn_again() {
    let messages = history(120);
    let first = archived(&messages[..300], None, &[], &without_reasoning());
    assert_eq!((first.reused, first.drawn), (0, first.archive.frames.len()));
    let second = archived(&messages[300..], Some(&first.preserve_data), &[], &without_reasoning());
    let whole = archived(&messages, None, &[], &without_reasoning());
    assert_eq!(second.archive.frames, whole.archive.frames);
    assert_eq!(second.reused, first.archive.frames.len() - 1, "all but the last page stay");
    assert_eq!(second.drawn, second.archive.frames.len() - second.reused);
}

#[test]
fn frames_that_lie_elsewhere_are_kept_as_references() {
    let messages = history(60);
    let mut first = archived(&messages, None, &[], &without_reasoning());
    for (at, frame) in first.archive.frames.iter_mut().enumerate() {
        frame.data = format!("blob:sha256:{at:064x}");
    }
    let moved = first.archive.write(Some(&first.preserve_data));
    let again = archived(&[], Some(&moved), &[], &without_reasoning());
    assert_eq!(again.archive.frames, first.archive.frames);
    assert_eq!(again.drawn, 0);
}

#[test]
fn without_reasoning_not_a_word_is_said_of_it() {
    let made = archived(&history(40), None, &[], &without_reasoning());
    let told = format!("{} {}", made.summary, made.archive.text.expect("a text")).to_lowercase();
    for word in ["think", "thought", "reason 1", "reasoning"] {
        assert!(!told.contains(word), "{word}");
    }
    let with = archived(&history(40), None, &[], &Options::default());
    assert!(with.summary.contains("¶think:"));
}

#[test]
fn lines_of_extensions_become_part_of_the_history() {
    let extra = ["the staging database is down".to_owned()];
    let made = archived(&history(1), None, &extra, &Options::default());
    assert!(
        made.archive
            .text
            .expect("a text")
            .ends_with("[Additional context] the staging database is down")
    );
}

#[test]
fn secrets_are_neither_printed_nor_listed() {
    let secret = format!("sk-{}", "a1B2c3D4".repeat(6));
    let message = json!({"role": "user", "content": format!("use {secret} for it")});
    let messages = [Arc::new(serde_json::from_value(message).expect("a message"))];
    let made = archived(&messages, None, &[], &Options::default());
    assert!(!made.preserve_data.compact().contains(&secret));
    assert!(!made.summary.contains(&secret));
}

#[test]
fn secrets_of_an_earlier_archive_do_not_travel_on() {
    let secret = format!("sk-{}", "a1B2c3D4".repeat(6));
    let text = format!("¶user:use {secret}█and the next line");
    let previous =
        json!({"snapcompact": {"frames": [], "totalChars": 1, "truncatedChars": 0, "text": text}})
            .into();
    let made = archived(&[], Some(&previous), &[], &Options::default());
    assert!(!made.preserve_data.compact().contains(&secret));
    assert!(made.archive.text.is_some_and(|text| text.ends_with("█and the next line")));
}

#[test]
fn exact_spellings_of_the_imaged_middle_are_listed_as_text() {
    let id = "req_9f8e7d6c5b4a";
    let mut messages = history(60);
    let call = json!({"role": "user", "content": format!("the failing request was {id}")});
    messages.insert(60, Arc::new(serde_json::from_value(call).expect("a message")));
    let made = archived(&messages, None, &[], &without_reasoning());
    assert!(made.archive.frames.len() > 1);
    assert!(made.summary.lines().any(|line| line == id), "{}", made.summary);
    assert!(made.summary.ends_with("\n\nHISTORY"));
}

#[test]
fn the_bytes_are_the_same_on_one_thread_and_on_many() {
    let messages = history(60);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| archived(&messages, None, &[], &without_reasoning()).archive)
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn any_earlier_archive_is_read_without_harm() {
    for slot in [
        json!(null),
        json!([]),
        json!({}),
        json!({"frames": "no", "text": 7}),
        json!({"frames": [null, {"data": "", "mimeType": 1}], "totalChars": -1, "textHead": "\u{e}¶think:"}),
        json!({"text": "\u{e}\u{e}\u{f}", "truncatedChars": 1e300}),
        json!({"text": "█".repeat(50_000), "frames": [{"data": "blob:sha256:x", "mimeType": "image/png",
            "cols": 0, "rows": 0, "chars": 0, "key": ""}]}),
    ] {
        let before = Json::from(json!({"snapcompact": slot, "other": 1}));
        let made = archived(&history(1), Some(&before), &[], &without_reasoning());
        assert_eq!(made.preserve_data.get("other"), Some(&json!(1)), "{slot}");
        assert!(made.archive.text.is_some_and(|text| text.contains("request 0")), "{slot}");
    }
}
