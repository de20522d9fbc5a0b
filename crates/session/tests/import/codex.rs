//! Transcripts of Codex: what counts of what is said twice, what is taken back, what tools did.

use longhand_session::import::{Origin, Replay};
use serde_json::{Value, json};

use crate::play::{codex, event, import, is, item, lines, says};

#[test]
fn an_event_counts_only_where_no_item_says_the_same() {
    let said = |records: &[Value]| codex(records).said();
    let agent = |text: &str| event(&json!({"type": "agent_message", "message": text}));
    assert_eq!(
        said(&[agent("Hi."), says("assistant", "Hi."), agent("Only here.")]),
        [is("assistant", "Hi."), is("assistant", "Only here.")],
        "an event may come before its item"
    );
    assert_eq!(
        said(&[says("user", "Same."), agent("Same.")]),
        [is("user", "Same."), is("assistant", "Same.")],
        "who says it matters"
    );
    let thinking = event(&json!({"type": "agent_reasoning", "text": "Hm."}));
    assert_eq!(said(&[thinking]), [is("assistant", "Hm.")]);
    let call = item(&json!({"type": "web_search_call", "id": "ws", "action": {"query": "q"}}));
    let end = |id: &str| event(&json!({"type": "web_search_end", "call_id": id, "query": "q"}));
    assert_eq!(said(&[call, end("ws"), end("other")]).len(), 2);
}

#[test]
fn a_rollback_takes_back_the_last_turns() {
    let rollback = |turns: u64| event(&json!({"type": "thread_rolled_back", "num_turns": turns}));
    let turn = |n: u64| [says("user", &format!("q{n}")), says("assistant", &format!("a{n}"))];
    let left = |records: &[Vec<Value>]| {
        let imported = codex(&records.concat());
        let said: Vec<String> = imported.said().into_iter().map(|(_, text)| text).collect();
        let ids: Vec<&str> = imported.tree().into_iter().map(|(id, _)| id).collect();
        let expected: Vec<String> = (1..=said.len()).map(|n| format!("codex-{n}")).collect();
        assert_eq!(ids, expected, "ids have no gaps");
        said
    };
    let turns = |range: std::ops::RangeInclusive<u64>| range.flat_map(turn).collect::<Vec<_>>();
    for (records, expected) in [
        (vec![turns(1..=2), vec![rollback(1)], turns(3..=3)], vec!["q1", "a1", "q3", "a3"]),
        (vec![turns(1..=3), vec![rollback(2)]], vec!["q1", "a1"]),
        (vec![turns(1..=3), vec![rollback(1), rollback(1)]], vec!["q1", "a1"]),
        (vec![turns(1..=2), vec![rollback(9)], turns(3..=3)], vec!["q3", "a3"]),
        (vec![turns(1..=1), vec![rollback(0)]], vec!["q1", "a1"]),
        (vec![vec![rollback(1)], turns(1..=1)], vec!["q1", "a1"]),
    ] {
        assert_eq!(left(&records), expected);
    }
}

#[test]
fn a_model_that_was_taken_back_is_named_again() {
    let model = |name: &str| json!({"type": "turn_context", "payload": {"model": name}});
    let rollback = event(&json!({"type": "thread_rolled_back", "num_turns": 1}));
    let imported = codex(&[
        model("x"),
        says("user", "q"),
        model("y"),
        rollback,
        model("y"),
        says("assistant", "a"),
    ]);
    assert_eq!(
        imported.said(),
        [
            is("model_change", "openai-codex/x"),
            is("model_change", "openai-codex/y"),
            is("assistant", "a")
        ]
    );
}

/// The blocks or the result that a record becomes.
fn message(record: &Value) -> Value {
    let imported = codex(std::slice::from_ref(record));
    let mut message = imported.entry("codex-1")["message"].clone();
    let message = message.as_object_mut().unwrap();
    message
        .retain(|key, _| ["content", "isError", "stopReason", "toolName"].contains(&key.as_str()));
    Value::Object(message.clone())
}

#[test]
fn calls_and_results_of_all_kinds_find_their_place() {
    let call = |name: &str, arguments: &Value| json!({"content": [{"type": "toolCall", "id": "c", "name": name, "arguments": arguments}], "stopReason": "toolUse"});
    let result = |text: &str, is_error: bool| json!({"content": [{"type": "text", "text": text}], "isError": is_error, "toolName": "unknown"});
    for (record, expected) in [
        (
            item(
                &json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "not json"}),
            ),
            call("f", &json!({"input": "not json"})),
        ),
        (
            item(
                &json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "[1]"}),
            ),
            call("f", &json!({"input": "[1]"})),
        ),
        (
            item(
                &json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}}),
            ),
            call("local_shell", &json!({"command": ["ls"]})),
        ),
        (
            item(&json!({"type": "tool_search_call", "call_id": "c", "arguments": {"q": "x"}})),
            call("tool_search", &json!({"q": "x"})),
        ),
        (
            item(
                &json!({"type": "tool_search_output", "call_id": "c", "status": "failed", "tools": []}),
            ),
            result("[]", true),
        ),
        (
            item(
                &json!({"type": "function_call_output", "call_id": "c", "output": {"content": "ok"}}),
            ),
            result("ok", false),
        ),
        (
            item(
                &json!({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "ok"}]}),
            ),
            result("ok", false),
        ),
        (
            item(
                &json!({"type": "custom_tool_call_output", "call_id": "c", "output": {"exit": 1}}),
            ),
            result("{\"exit\":1}", false),
        ),
        (
            event(
                &json!({"type": "dynamic_tool_call_request", "callId": "c", "tool": "t", "arguments": {"a": 1}}),
            ),
            call("t", &json!({"a": 1})),
        ),
        (
            event(&json!({"type": "dynamic_tool_call_response", "call_id": "c", "success": false,
                "content_items": [{"type": "inputText", "text": "no"}]})),
            result("no", true),
        ),
        (
            event(&json!({"type": "web_search_end", "call_id": "c", "query": "q"})),
            call("web_search", &json!({"query": "q"})),
        ),
    ] {
        assert_eq!(message(&record), expected, "{record}");
    }
}

#[test]
fn a_tool_on_a_server_may_fail() {
    let imported = codex(&[event(&json!({
        "type": "mcp_tool_call_end", "call_id": "c", "invocation": {"server": "s", "tool": "t"}, "result": {"Err": "down"},
    }))]);
    assert_eq!(imported.said(), [is("assistant", "s/t"), is("toolResult", "down")]);
    assert_eq!(imported.entry("codex-2")["message"]["isError"], true);
}

#[test]
fn a_history_that_nobody_here_can_read_becomes_text() {
    let history = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run the tests."}]},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "All green."}]},
        {"type": "compaction", "encrypted_content": "E"},
    ]);
    let compacted = |message: &str| json!({"type": "compacted", "payload": {"message": message, "replacement_history": history}});
    let summary = |message: &str, replay| {
        let imported = import(Origin::Codex, &lines(&[compacted(message)]), replay);
        imported.entry("codex-1")["summary"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        summary("", Replay::Impossible),
        "Context compacted by Codex.\n\nUser:\nRun the tests.\n\nAssistant:\nAll green."
    );
    assert_eq!(summary("", Replay::Possible), "Context compacted by Codex.");
    assert_eq!(summary(" Tests ran. ", Replay::Impossible), "Tests ran.");
    let nothing = json!({"type": "compacted", "payload": {"message": " "}});
    assert_eq!(codex(&[nothing]).said(), []);
}

#[test]
fn the_oldest_transcripts_have_bare_items() {
    let imported = codex(&[
        json!({"id": "old", "timestamp": "2025-05-01T00:00:00.000Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}),
    ]);
    assert_eq!(imported.facts.source_id.as_deref(), Some("old"));
    assert_eq!(imported.said(), [is("user", "Hi.")]);
}

#[test]
fn times_may_be_numbers_of_seconds_or_milliseconds() {
    let at = |time: Value| {
        let mut record = says("user", "Hi.");
        record["timestamp"] = time;
        codex(&[record]).entry("codex-1")["timestamp"].clone()
    };
    for time in
        [json!(1_769_936_400), json!(1_769_936_400_000_u64), json!("2026-02-01T10:00:00+01:00")]
    {
        assert_eq!(at(time), "2026-02-01T09:00:00.000Z");
    }
}
