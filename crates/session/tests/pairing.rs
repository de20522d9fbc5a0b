//! Calls and results in pairs.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::message::{Block, ToolCall, ToolResult};
use longhand_session::{AssistantMessage, Message, llm, pairing};
use proptest::prelude::*;
use serde_json::{Value, json};

fn messages(value: &Value) -> Vec<Arc<Message>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn without_times(messages: &[Arc<Message>]) -> Vec<Value> {
    let strip = |message: &Arc<Message>| {
        let mut value = serde_json::to_value(message).unwrap();
        value.as_object_mut().unwrap().remove("timestamp");
        value
    };
    messages.iter().map(strip).collect()
}

#[test]
fn calls_and_results_are_brought_together() {
    let file: Value = serde_json::from_str(include_str!("data/session/pairing.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let repaired = pairing::repair(messages(&case["messages"]));
        let expected = messages(&case["paired"]);
        assert_eq!(without_times(&repaired), without_times(&expected), "{}", case["name"]);
    }
}

#[test]
fn a_result_answers_the_nearest_turn_before_it_where_ids_are_used_again() {
    let call = json!({"role": "assistant", "stopReason": "toolUse",
        "content": [{"type": "toolCall", "id": "0", "name": "read", "arguments": {}}]});
    let user = json!({"role": "user", "content": "next"});
    let result = json!({"role": "toolResult", "toolCallId": "0", "toolName": "read",
        "content": [{"type": "text", "text": "of the second"}], "isError": false});
    let repaired = pairing::repair(messages(&json!([call, user, call, result])));
    let texts: Vec<_> = repaired
        .iter()
        .filter_map(|message| message.as_tool_result())
        .map(|result| result.content[0].as_text().unwrap())
        .collect();
    assert_eq!(texts, ["No result provided", "of the second"]);
}

#[test]
fn a_sound_conversation_keeps_its_identity() {
    let before = messages(&json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "stopReason": "toolUse",
         "content": [{"type": "toolCall", "id": "a", "name": "read", "arguments": {}}]},
        {"role": "toolResult", "toolCallId": "a", "toolName": "read", "content": [], "isError": false},
    ]));
    let after = pairing::repair(before.clone());
    assert_eq!(before.len(), after.len());
    assert!(before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)));
}

/// Few ids and names, blank ones among them, so that they collide.
fn any_message() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec!["a", "b", "c", ""]);
    let block = prop_oneof![
        (id.clone(), prop::sample::select(vec!["read", "bash", " "])).prop_map(
            |(id, name)| json!({"type": "toolCall", "id": id, "name": name, "arguments": {}})
        ),
        prop::sample::select(vec!["text", " "])
            .prop_map(|text| json!({"type": "text", "text": text})),
        Just(json!({"type": "thinking", "thinking": "hm"})),
    ];
    let stop = prop::sample::select(vec!["stop", "toolUse", "length", "error", "aborted"]);
    prop_oneof![
        Just(json!({"role": "user", "content": "u"})),
        Just(json!({"role": "developer", "content": "d"})),
        Just(json!({"role": "custom", "customType": "interrupted-thinking", "content": "c"})),
        Just(json!({"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": true})),
        Just(json!({"role": "poem"})),
        (prop::collection::vec(block, 0..4), stop)
            .prop_map(|(content, stop)| json!({"role": "assistant", "content": content, "stopReason": stop})),
        (id, any::<bool>(), prop::sample::select(vec!["out", " "])).prop_map(
            |(id, is_error, text)| json!({"role": "toolResult", "toolCallId": id, "toolName": "read",
                "content": [{"type": "text", "text": text}], "isError": is_error})
        ),
    ]
}

/// Names the first call or result out of its pair.
fn unpaired(messages: &[Arc<Message>]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match &**message {
            Message::ToolResult(ToolResult { tool_call_id, .. }) => {
                let Some(at) = open.iter().position(|id| *id == tool_call_id.as_str()) else {
                    return Some(format!("result {tool_call_id} without call"));
                };
                open.remove(at);
            }
            other => {
                if let Some(id) = open.first() {
                    return Some(format!("call {id} without result"));
                }
                let calls = other.as_assistant().map(AssistantMessage::tool_calls);
                open = calls.into_iter().flatten().map(|ToolCall { id, .. }| id.as_str()).collect();
            }
        }
    }
    open.first().map(|id| format!("call {id} without result at the end"))
}

proptest! {
    #[test]
    fn a_request_of_any_messages_is_in_pairs(input in prop::collection::vec(any_message(), 0..14)) {
        let request = llm::request_messages(&messages(&Value::Array(input)), &Prompts::default());
        prop_assert_eq!(unpaired(&request), None);
    }

    #[test]
    fn each_call_is_directly_followed_by_one_result(input in prop::collection::vec(any_message(), 0..14)) {
        let input = messages(&Value::Array(input));
        let once = pairing::repair(input.clone());
        prop_assert_eq!(unpaired(&once), None);
        let twice = pairing::repair(once.clone());
        prop_assert!(once.len() == twice.len() && once.iter().zip(&twice).all(|(a, b)| Arc::ptr_eq(a, b)));
        let texts = |messages: &[Arc<Message>]| messages.iter()
            .filter_map(|message| message.as_assistant())
            .flat_map(|reply| reply.content.iter().filter_map(Block::as_text))
            .filter(|text| !text.trim().is_empty())
            .count();
        prop_assert_eq!(texts(&input), texts(&once));
    }
}
