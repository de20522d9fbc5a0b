//! Transcripts of Claude Code: where entries hang, what becomes of compactions, what is left out.

use serde_json::{Value, json};

use crate::play::{claude, is, record, reply, user};

/// Each entry that is not a change of model, with the one that it hangs on, passing over changes of model. Ids without their start
/// and their number.
fn hangs(records: &[Value]) -> Vec<(String, String)> {
    let imported = claude(records);
    let short = |id: &str| id.trim_start_matches("claude-").rsplit_once('-').unwrap().0.to_owned();
    let is_change = |id: &str| id.ends_with("-model");
    let tree = imported.tree();
    let entries = tree.iter().filter(|(id, _)| !is_change(id));
    entries
        .map(|(id, parent)| {
            let mut parent = parent.clone();
            while let Some(change) = parent.clone().filter(|id| is_change(id.as_str())) {
                let (_, next) = tree.iter().find(|(id, _)| *id == change.as_str()).unwrap();
                parent.clone_from(next);
            }
            (short(id), parent.map_or_else(|| "root".to_owned(), |id| short(id.as_str())))
        })
        .collect()
}

fn calls(uuid: &str, parent: &str, id: &str, calls: &[&str]) -> Value {
    let blocks: Vec<Value> = calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call, "name": "Bash", "input": {}}))
        .collect();
    record("assistant", uuid, Some(parent), &json!({"id": id, "model": "m", "content": blocks}))
}

fn result(uuid: &str, parent: &str, call: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": "ok"}]);
    record("user", uuid, Some(parent), &json!({"content": content}))
}

fn skipped(uuid: &str, parent: Option<&str>) -> Value {
    json!({"type": "progress", "uuid": uuid, "parentUuid": parent})
}

#[test]
fn an_entry_hangs_on_the_nearest_ancestor_that_became_something() {
    let first = || user("a", None, "one");
    for (claim, records, expected) in [
        (
            "records that are left out are passed through",
            vec![first(), skipped("b", Some("a")), user("c", Some("b"), "two")],
            vec![is("a-message", "root"), is("c-message", "a-message")],
        ),
        (
            "a parent that is nowhere stands for the one before",
            vec![first(), user("b", Some("gone"), "two")],
            vec![is("a-message", "root"), is("b-message", "a-message")],
        ),
        (
            "so it does behind a record that is left out",
            vec![
                first(),
                skipped("b", Some("gone")),
                user("c", None, "x"),
                user("d", Some("b"), "y"),
            ],
            vec![is("a-message", "root"), is("c-message", "root"), is("d-message", "a-message")],
        ),
        (
            "a parent may come later",
            vec![user("b", Some("a"), "two"), first()],
            vec![is("b-message", "a-message"), is("a-message", "root")],
        ),
        (
            "a circle is cut at its first entry",
            vec![user("a", Some("b"), "one"), user("b", Some("a"), "two")],
            vec![is("a-message", "root"), is("b-message", "a-message")],
        ),
        (
            "a circle of what is left out leads nowhere",
            vec![skipped("x", Some("y")), skipped("y", Some("x")), user("a", Some("x"), "one")],
            vec![is("a-message", "root")],
        ),
        (
            "its own parent is none",
            vec![user("a", Some("a"), "one")],
            vec![is("a-message", "root")],
        ),
    ] {
        assert_eq!(hangs(&records), expected, "{claim}");
    }
}

#[test]
fn what_a_broken_chain_followed_is_tried_before_the_one_before() {
    let mut cut = user("c", Some("gone"), "three");
    cut["logicalParentUuid"] = "a".into();
    let records = [user("a", None, "one"), user("b", None, "two"), cut];
    assert_eq!(hangs(&records)[2], is("c-message", "a-message"));
}

#[test]
fn results_of_calls_side_by_side_are_on_one_branch() {
    let chain = |records: &[Value]| {
        let hangs = hangs(records);
        hangs.windows(2).all(|pair| pair[1].1 == pair[0].0)
    };
    let begin = || user("u", None, "go");
    for (claim, records) in [
        (
            "each result under the line of its call",
            vec![
                begin(),
                calls("a", "u", "m1", &["1"]),
                calls("b", "a", "m1", &["2"]),
                result("r1", "a", "1"),
                result("r2", "b", "2"),
                reply("c", Some("r2"), "m2", "done"),
            ],
        ),
        (
            "a result between the lines of a reply",
            vec![
                begin(),
                calls("a", "u", "m1", &["1"]),
                result("r1", "a", "1"),
                calls("b", "a", "m1", &["2"]),
                result("r2", "b", "2"),
                reply("c", Some("r2"), "m2", "done"),
            ],
        ),
    ] {
        assert!(chain(&records), "{claim}: {:?}", hangs(&records));
    }
    let again =
        [begin(), calls("a", "u", "m1", &["1"]), result("r1", "a", "1"), result("r2", "a", "1")];
    assert_eq!(hangs(&again)[3], is("r2-tool-0", "a-message"), "a second answer is another branch");
}

#[test]
fn lines_of_one_reply_are_one_message_with_the_last_usage() {
    let with_usage = |mut record: Value, tokens: u64| {
        record["message"]["usage"] = json!({"output_tokens": tokens});
        record
    };
    let imported = claude(&[
        with_usage(reply("a", None, "m1", "one"), 5),
        skipped("p", Some("a")),
        with_usage(reply("b", Some("p"), "m1", "two"), 7),
        reply("c", Some("b"), "m2", "three"),
    ]);
    assert_eq!(
        imported.said(),
        [is("model_change", "anthropic/m"), is("assistant", "one|two"), is("assistant", "three")]
    );
    assert_eq!(imported.entry("claude-a-message-1")["message"]["usage"]["output"], 7);
}

#[test]
fn each_branch_goes_on_with_its_own_model() {
    let with_model = |mut record: Value, model: &str| {
        record["message"]["model"] = model.into();
        record
    };
    let imported = claude(&[
        with_model(reply("a", None, "1", "a"), "x"),
        with_model(reply("b", Some("a"), "2", "b"), "y"),
        with_model(reply("c", Some("a"), "3", "c"), "x"),
        with_model(reply("d", Some("c"), "4", "d"), "<synthetic>"),
        with_model(reply("e", Some("d"), "5", "e"), "x"),
    ]);
    let said: Vec<String> = imported.said().into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["anthropic/x", "a", "anthropic/y", "b", "c", "d", "e"]);
}

#[test]
fn a_compaction_is_one_here_too() {
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "x", "parentUuid": null, "logicalParentUuid": "a",
        "compactMetadata": {"trigger": "auto", "preTokens": 155_000},
    });
    let mut summary = user("s", Some("x"), "What was said.");
    summary["isCompactSummary"] = true.into();
    let imported =
        claude(&[user("a", None, "one"), boundary, summary, user("b", Some("s"), "two")]);
    assert_eq!(
        imported.entry("claude-s-compaction-2"),
        json!({
            "type": "compaction", "id": "claude-s-compaction-2", "parentId": "claude-a-message-1",
            "timestamp": "2026-02-01T09:00:00.000Z", "summary": "What was said.",
            "firstKeptEntryId": "claude-s-compaction-2", "tokensBefore": 155_000,
        })
    );
    assert_eq!(imported.entry("claude-b-message-3")["parentId"], "claude-s-compaction-2");
}

#[test]
fn blocks_of_all_kinds_find_their_place() {
    let content = json!([
        {"type": "redacted_thinking", "data": "R"},
        {"type": "text", "text": ""},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"at": 1.50, "big": 12_345_678_901_234_567_890_u64}},
        {"type": "hologram"},
    ]);
    let imported = claude(&[
        record(
            "assistant",
            "a",
            None,
            &json!({"model": "m", "content": content, "stop_reason": "refusal"}),
        ),
        record(
            "user",
            "b",
            Some("a"),
            &json!({"content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [
                    {"type": "text", "text": "no"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                ]},
                {"type": "tool_result", "tool_use_id": "t9"},
            ]}),
        ),
    ]);
    let reply = imported.entry("claude-a-message-1");
    assert_eq!(
        reply["message"]["content"],
        json!([
            {"type": "redactedThinking", "data": "R"},
            {"type": "anthropicServerTool", "block":
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}},
            {"type": "toolCall", "id": "t1", "name": "Read",
                "arguments": {"at": 1.50, "big": 12_345_678_901_234_567_890_u64}},
        ])
    );
    assert_eq!(reply["message"]["stopReason"], "error");
    let results: Vec<Value> = ["claude-b-tool-0-2", "claude-b-tool-1-3"]
        .map(|id| imported.entry(id)["message"].clone())
        .to_vec();
    assert_eq!(
        results,
        [
            json!({"role": "toolResult", "toolCallId": "t1", "toolName": "Read", "isError": true,
                "content": [{"type": "text", "text": "no"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
                "timestamp": 1_769_936_400_000_u64}),
            json!({"role": "toolResult", "toolCallId": "t9", "toolName": "unknown", "isError": false, "content": [],
                "timestamp": 1_769_936_400_000_u64}),
        ]
    );
    assert_eq!(imported.tally.skipped, [("block hologram".to_owned(), 1)].into());
}

#[test]
fn what_is_left_out_is_counted_by_name() {
    let mut side = user("s", None, "side");
    side["isSidechain"] = true.into();
    let mut meta = user("m", None, "meta");
    meta["isMeta"] = true.into();
    let empty = record("assistant", "e", None, &json!({"content": []}));
    let imported =
        claude(&[side, meta, empty, skipped("p", None), user("a", None, "one"), json!({})]);
    let counts = ["empty reply", "meta", "others", "progress", "sidechain"];
    assert_eq!(imported.tally.skipped, counts.map(|name| (name.to_owned(), 1)).into());
    assert_eq!(imported.tally.entries, [("user".to_owned(), 1)].into());
}

#[test]
fn a_record_without_a_uuid_is_named_for_its_line() {
    let mut first = user("", None, "one");
    first["uuid"] = Value::Null;
    let long = user(&"x".repeat(65), None, "two");
    let imported = claude(&[first, long]);
    let ids: Vec<&str> = imported.tree().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["claude-line-1-message-1", "claude-line-2-message-2"]);
}
