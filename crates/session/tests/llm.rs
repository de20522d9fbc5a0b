//! Conversion to the roles that providers take, beyond what the rebuild cases show.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::{Message, llm};
use serde_json::{Value, json};

fn messages(value: Value) -> Vec<Arc<Message>> {
    serde_json::from_value(value).unwrap()
}

fn convert(value: Value) -> Value {
    json!(llm::convert(&messages(value), &Prompts::default()))
}

/// The text of the only block of the only message.
fn text(converted: &Value) -> &str {
    converted[0]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_steering_notice_stands_before_the_text_and_pictures_follow_it() {
    let image = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
    let one = json!({"type": "text", "text": "one"});
    let two = json!({"type": "text", "text": "two"});
    let marked = llm::mark_steering(
        &messages(json!([
            {"role": "user", "content": "stop that", "steering": true, "timestamp": 1},
            {"role": "user", "content": [one, image, two], "steering": true, "timestamp": 2},
            {"role": "user", "content": "", "steering": true, "timestamp": 3},
            {"role": "user", "content": "not steering", "timestamp": 4},
        ])),
        &Prompts::default(),
    );
    let marked = json!(marked);
    let plain = marked[0]["content"].as_str().unwrap();
    assert!(plain.starts_with("<system-notice>\n"), "{plain}");
    assert!(plain.ends_with("\n</system-notice>\nstop that"), "{plain}");
    assert_eq!(marked[0].get("steering"), None);
    let blocks = marked[1]["content"].as_array().unwrap();
    assert!(blocks[0]["text"].as_str().unwrap().ends_with("\n</system-notice>\none\ntwo"));
    assert_eq!(blocks[1..], [image]);
    assert_eq!(marked[2]["content"], "");
    assert_eq!(marked[3], json!({"role": "user", "content": "not steering", "timestamp": 4}));
}

#[test]
fn what_a_user_said_through_collaboration_is_steering() {
    let prompt = |attribution: &str| {
        convert(json!([{"role": "custom", "customType": "collab-prompt", "content": "look here",
            "display": true, "attribution": attribution, "timestamp": 1}]))
    };
    let from_user = prompt("user");
    assert_eq!(from_user[0]["role"], "user");
    assert!(from_user[0]["content"].as_str().unwrap().ends_with("</system-notice>\nlook here"));
    let from_agent = prompt("agent");
    assert_eq!((&from_agent[0]["role"], text(&from_agent)), (&json!("developer"), "look here"));
}

#[test]
fn a_stopped_reply_loses_thinking_that_was_cut_off() {
    let reply = |content: Value, rest: Value| {
        let mut reply = json!({"role": "assistant", "content": content, "stopReason": "aborted",
            "errorMessage": "Interrupted by user", "timestamp": 1});
        for (key, value) in rest.as_object().unwrap() {
            reply[key] = value.clone();
        }
        let converted = convert(json!([reply]));
        converted.get(0).map(|reply| reply["content"].clone())
    };
    let said = json!({"type": "text", "text": "said"});
    let blank = json!({"type": "text", "text": " \n"});
    let open = json!({"type": "thinking", "thinking": "half a"});
    let signed = json!({"type": "thinking", "thinking": "whole", "thinkingSignature": "s"});
    for (content, rest, expected) in [
        (json!([said, open, open, blank]), json!({}), Some(json!([said]))),
        (json!([said, signed]), json!({}), Some(json!([said, signed]))),
        (json!([said, blank]), json!({}), Some(json!([said, blank]))),
        (json!([open]), json!({}), None),
        (json!([]), json!({}), None),
        (json!([open]), json!({"requestControls": {}}), Some(json!([]))),
        (json!([open]), json!({"errorMessage": "Request was aborted"}), Some(json!([open]))),
        (
            json!([open]),
            json!({"errorMessage": "Request was aborted", "errorId": 0x0400_0001}),
            None,
        ),
        (json!([open]), json!({"stopReason": "stop"}), Some(json!([open]))),
    ] {
        assert_eq!(reply(content.clone(), rest.clone()), expected, "{content} {rest}");
    }
}

#[test]
fn output_cannot_close_its_own_fence() {
    let converted = convert(json!([{"role": "bashExecution", "command": "cat a.md",
        "output": "````\nx\n````", "exitCode": 0, "cancelled": false, "truncated": false}]));
    assert_eq!(text(&converted), "Ran `cat a.md`\n`````\n````\nx\n````\n`````");
}

#[test]
fn cut_output_says_what_is_shown_and_where_the_rest_lies() {
    let lines = |more: Value| {
        let mut truncation = json!({"direction": "tail", "truncatedBy": "lines", "totalLines": 1200,
            "totalBytes": 5000, "outputLines": 20, "outputBytes": 1536});
        for (key, value) in more.as_object().unwrap() {
            truncation[key] = value.clone();
        }
        json!({ "truncation": truncation })
    };
    let range = |start: u64, end: u64| json!({"start": start, "end": end});
    for (meta, expected) in [
        (json!({}), ""),
        (json!({"truncation": "odd"}), ""),
        (lines(json!({})), "\n\n[Showing 20 of 1,200 lines]"),
        (
            lines(json!({"shownRange": range(1181, 1200), "nextOffset": 21, "artifactId": "7"})),
            "\n\n[Showing lines 1181-1200 of 1,200. Use :21 to continue. Read artifact://7 for full output]",
        ),
        (
            lines(json!({"truncatedBy": "bytes", "maxBytes": 51_200})),
            "\n\n[Showing 20 of 1,200 lines (50.0KB limit)]",
        ),
        (
            lines(json!({"partialLine": true, "shownRange": range(9, 9), "nextOffset": 10})),
            "\n\n[Showing line 9 (partial, 1.5KB of 4.9KB) of 1,200]",
        ),
        (
            lines(json!({"direction": "middle", "headRange": range(1, 10),
                "tailRange": range(1191, 1200), "elidedLines": 1180, "elidedBytes": 900})),
            "\n\n[Showing lines 1-10 and 1191-1200 of 1,200; 1,180 middle lines (900B) elided]",
        ),
        (
            lines(json!({"direction": "middle", "elidedBytes": 3_145_728})),
            "\n\n[Showing head and tail bytes of 1,200 lines; 3.0MB elided]",
        ),
        (lines(json!({"direction": "middle"})), "\n\n[Showing 20 of 1,200 lines; middle elided]"),
        (
            json!({"limits": {"matchLimit": {"reached": 1000, "suggestion": 2000},
                "columnTruncated": {"maxColumn": 500}},
                "diagnostics": {"summary": "1 error", "messages": ["a.rs:1: no"]}}),
            "\n\n[1,000 matches limit reached. Use limit=2000 for more. Some lines truncated to 500 chars]\
             \n\nLSP Diagnostics (1 error):\na.rs:1: no",
        ),
    ] {
        let converted = convert(json!([{"role": "bashExecution", "command": "c", "output": "",
            "cancelled": false, "truncated": true, "meta": meta}]));
        assert_eq!(text(&converted), format!("Ran `c`\n(no output){expected}"), "{meta}");
    }
}

#[test]
fn mentioned_files_without_pictures_come_first() {
    let image = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
    let converted = convert(json!([{"role": "fileMention", "timestamp": 1, "files": [
        {"path": "a.png", "content": "", "image": image},
        {"path": "b", "content": "x"},
        {"path": "c", "content": ""},
    ]}]));
    let files = "<file path=\"b\">\nx\n</file>\n<file path=\"c\">\n</file>";
    assert_eq!((&converted[0]["role"], text(&converted)), (&json!("developer"), files));
    assert_eq!(
        converted[1]["content"],
        json!([
            {"type": "text", "text": "<file path=\"a.png\">\n</file>"},
            image,
        ])
    );
    assert_eq!(convert(json!([{"role": "fileMention", "files": []}])), json!([]));
}

#[test]
fn a_tool_result_stored_as_text_reads_as_a_block() {
    let converted = convert(json!([{"role": "toolResult", "toolCallId": "a", "toolName": "read",
        "content": "old form", "isError": false}]));
    assert_eq!(converted[0]["content"], json!([{"type": "text", "text": "old form"}]));
}

#[test]
fn unknown_roles_and_odd_custom_messages_say_nothing() {
    let converted = convert(json!([
        {"role": "poem", "content": "x"},
        {"role": "custom", "customType": "a", "content": 42, "display": true},
        {"role": "bashExecution", "command": "c", "output": "o", "excludeFromContext": true},
    ]));
    assert_eq!(converted, json!([]));
}

#[test]
fn messages_that_need_no_change_keep_their_identity() {
    let before = messages(json!([
        {"role": "user", "content": "q", "attribution": "user"},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "read",
            "arguments": {}}], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": "a", "toolName": "read", "content": [],
            "isError": false, "attribution": "agent"},
    ]));
    let after = llm::request_messages(&before, &Prompts::default());
    assert_eq!(before.len(), after.len());
    assert!(before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)));
}

#[test]
fn a_picture_that_was_not_found_is_never_sent_as_a_reference() {
    let image = json!({"type": "image", "data": "blob:sha256:0", "mimeType": "image/png"});
    let before = messages(json!([{"role": "user", "content": [image], "attribution": "user"}]));
    let request = json!(llm::request_messages(&before, &Prompts::default()));
    assert_eq!(request[0]["content"], json!([{"type": "text", "text": "[image unavailable]"}]));
    assert_eq!(json!(before)[0]["content"], json!([image]), "the session keeps the reference");
}
