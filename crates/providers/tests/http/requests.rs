//! What a request says beyond the golden cases.

use std::sync::Arc;

use longhand_agent::ToolSpec;
use longhand_agent::request::{Request, RequestOptions, ToolChoice};
use longhand_session::message::{StopReason, ThinkingBlock, ToolCall, ToolResult};
use longhand_session::model::Effort;
use longhand_session::{Api, AssistantMessage, Block, Json, Message, Model, ModelRef};
use serde_json::{Value, json};

use crate::support::client;

fn model(provider: &str, id: &str, base_url: &str) -> Model {
    Model::new(ModelRef::new(provider, id), Api::OpenaiCompletions, base_url)
}

fn custom() -> Model {
    model("custom", "m", "https://llm.example.com/v1")
}

fn body(model: Model, request: &Request) -> Value {
    client(model).body(request).unwrap()
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments: Json::from(json!({})),
        ..ToolCall::default()
    })
}

fn result(id: &str) -> Arc<Message> {
    Arc::new(Message::ToolResult(ToolResult {
        tool_call_id: id.into(),
        tool_name: "ls".into(),
        content: vec![Block::text("a")],
        ..ToolResult::default()
    }))
}

fn answered(model: &Model, content: Vec<Block>, stop_reason: StopReason) -> Arc<Message> {
    Arc::new(Message::Assistant(Box::new(AssistantMessage {
        content,
        api: model.api.as_str().into(),
        provider: model.provider.clone(),
        model: model.id.clone(),
        stop_reason,
        ..AssistantMessage::default()
    })))
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text, 0))
}

fn conversation(model: &Model) -> Vec<Arc<Message>> {
    let thinking = |text: &str| {
        Block::Thinking(ThinkingBlock { thinking: text.into(), ..ThinkingBlock::default() })
    };
    let other = self::model("other", "x", "https://other.example.com");
    vec![
        user("one"),
        answered(
            model,
            vec![thinking("hm"), call("call_1|fc_1"), call("call_1|fc_2")],
            StopReason::ToolUse,
        ),
        result("call_1|fc_1"),
        result("call_1|fc_2"),
        answered(model, vec![thinking("cut off")], StopReason::Length),
        user("two"),
        answered(&other, vec![thinking("other"), Block::text("said")], StopReason::Stop),
        user("  "),
        user("three"),
    ]
}

#[test]
fn a_longer_conversation_begins_like_the_shorter_one() {
    for model in [
        custom(),
        model("openai", "gpt-x", "https://api.openai.com/v1"),
        model("mistral", "m", "https://api.mistral.ai/v1"),
        model("deepseek", "m", "https://api.deepseek.com"),
        model("vllm", "m", "http://10.0.0.1:8000"),
    ] {
        let all = conversation(&model);
        let messages = |count: usize| {
            let request = Request { messages: all[..count].to_vec(), ..Request::default() };
            body(model.clone(), &request)["messages"].as_array().unwrap().clone()
        };
        let whole = messages(all.len());
        for count in 1..all.len() {
            let part = messages(count);
            assert_eq!(part, whole[..part.len()], "{}, {count} messages", model.provider);
        }
    }
}

#[test]
fn two_calls_never_share_an_id_on_the_wire() {
    for (model, expected) in [
        (custom(), ["call_1", "call_12"]),
        (model("mistral", "m", "https://api.mistral.ai/v1"), ["call10000", "call10002"]),
    ] {
        let messages = conversation(&model);
        let body = body(model, &Request { messages, ..Request::default() });
        let messages = body["messages"].as_array().unwrap();
        let calls: Vec<_> =
            messages[1]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
        assert_eq!(calls, expected);
        assert_eq!([&messages[2]["tool_call_id"], &messages[3]["tool_call_id"]], expected);
    }
}

#[test]
fn what_says_nothing_is_left_out() {
    let model = custom();
    let body =
        body(model.clone(), &Request { messages: conversation(&model), ..Request::default() });
    let contents: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].clone())
        .collect();
    assert_eq!(
        contents,
        ["one", "", "a", "a", "two", "<thinking>\nother\n</thinking>\nsaid", "three"]
    );
}

#[test]
fn a_wish_to_think_goes_where_the_server_looks_for_it() {
    let mut options = RequestOptions::default();
    options.effort = Some(Effort::Xhigh);
    let request = Request { messages: vec![user("Hi")], options, ..Request::default() };
    for (provider, base_url, expected) in [
        ("custom", "https://llm.example.com", json!({"reasoning_effort": "high"})),
        ("openrouter", "https://openrouter.ai/api/v1", json!({"reasoning": {"effort": "high"}})),
        (
            "moonshot",
            "https://api.moonshot.ai/v1",
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ),
        ("llama.cpp", "http://127.0.0.1:8080", json!({})),
    ] {
        let sent = |efforts: &[Effort]| {
            let mut model = model(provider, "m", base_url);
            model.efforts = efforts.to_vec();
            let mut body = body(model, &request);
            body.as_object_mut()
                .unwrap()
                .retain(|key, _| key.contains("reason") || key.contains("think"));
            body
        };
        assert_eq!(sent(&[Effort::Low, Effort::High]), expected, "{provider}");
        assert_eq!(sent(&[]), json!({}), "{provider}, a model that does not reason");
    }
}

#[test]
fn tools_are_written_as_the_server_takes_them() {
    let schema = json!({"type": "object", "properties": {"any": true, "none": false, "list": {"items": true}}, "additionalProperties": false});
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: schema.clone(),
    };
    let mut options = RequestOptions::default();
    options.tool_choice = Some(ToolChoice::Named("b".into()));
    let request = Request {
        messages: vec![user("Hi")],
        tools: vec![tool("a"), tool("b")].into(),
        options,
        ..Request::default()
    };
    let far = body(custom(), &request);
    assert_eq!(far["tool_choice"], json!({"type": "function", "function": {"name": "b"}}));
    assert_eq!(far["tools"][0]["function"]["parameters"], schema);

    let near = body(model("vllm", "m", "http://10.0.0.1:8000"), &request);
    assert_eq!(
        near["tools"][0]["function"]["parameters"],
        json!({"type": "object", "properties": {"any": {}, "none": {"not": {}}, "list": {"items": {}}}, "additionalProperties": false})
    );

    let deepseek = body(model("deepseek", "m", "https://api.deepseek.com"), &request);
    assert_eq!(deepseek.get("tool_choice"), None);
}

#[test]
fn an_empty_list_of_tools_is_sent_only_where_it_is_needed() {
    let sent = |model: Model| {
        let messages = conversation(&model);
        body(model, &Request { messages, ..Request::default() }).get("tools").cloned()
    };
    assert_eq!(sent(custom()), Some(json!([])));
    assert_eq!(sent(model("vllm", "m", "http://10.0.0.1:8000")), None);
}

#[test]
fn the_newest_message_is_marked_where_caching_wants_a_mark() {
    let claude = model("openrouter", "anthropic/claude-x", "https://openrouter.ai/api/v1");
    let body =
        body(claude, &Request { messages: vec![user("one"), user("two")], ..Request::default() });
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "one"},
            {"role": "user", "content": [{"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}]},
        ])
    );
    assert_eq!(body.get("max_completion_tokens"), None);
}

#[test]
fn a_wire_id_may_differ_from_the_name() {
    let mut model = custom();
    model.request_model_id = Some("deployment-7".into());
    let body = body(model, &Request { messages: vec![user("Hi")], ..Request::default() });
    assert_eq!(body["model"], "deployment-7");
}
