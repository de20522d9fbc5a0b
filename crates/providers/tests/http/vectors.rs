//! Requests, replies and refusals of the chat protocol, case by case.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Server, answer, client, collect, request, sse};
use longhand_agent::request::{Request, RequestOptions, Retry, ToolChoice};
use longhand_agent::{ErrorKind, ModelClient, ToolSpec};
use longhand_providers::{Endpoint, classify, hint};
use longhand_session::model::{Effort, InputKind, Price};
use longhand_session::{Api, Message, Model, ModelRef};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn data(name: &str) -> Value {
    let path = format!("{}/tests/data/providers/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn model(record: &Value) -> Model {
    let text = |key: &str| record[key].as_str().unwrap();
    let mut model = Model::new(
        ModelRef::new(text("provider"), text("id")),
        Api::OpenaiCompletions,
        text("baseUrl"),
    );
    model.context_window = record["contextWindow"].as_u64();
    model.max_output_tokens = record["maxTokens"].as_u64();
    model.input = read::<Vec<InputKind>>(&record["input"]);
    model.efforts =
        record.pointer("/thinking/efforts").map(read::<Vec<Effort>>).unwrap_or_default();
    model.price = Some(read::<Price>(&record["cost"]));
    model.is_local = Endpoint::parse(&model.base_url).unwrap().is_local();
    model
}

fn case_request(case: &Value) -> Request {
    let context = &case["context"];
    let options = &case["options"];
    let mut wishes = RequestOptions::default();
    wishes.retry = Retry::Caller;
    wishes.max_output_tokens = options["maxTokens"].as_u64();
    wishes.effort = options.get("reasoning").map(read);
    wishes.cache_key = options["sessionId"].as_str().map(Arc::from);
    wishes.tool_choice = options.get("toolChoice").map(|choice| match choice.as_str() {
        Some("none") => ToolChoice::None,
        Some("auto") => ToolChoice::Auto,
        Some(_) => ToolChoice::Required,
        None => ToolChoice::Named(choice["name"].as_str().unwrap().into()),
    });
    Request {
        system: context
            .get("systemPrompt")
            .map(read::<Vec<String>>)
            .unwrap_or_default()
            .into_iter()
            .map(Arc::from)
            .collect(),
        messages: read::<Vec<Message>>(&context["messages"]).into_iter().map(Arc::new).collect(),
        tools: context.get("tools").map(read::<Vec<ToolSpec>>).unwrap_or_default().into(),
        options: wishes,
    }
}

/// Members of the expected body that this client does not send: strict tool schemas, sampling, and switching reasoning off.
fn not_sent(case: &str) -> &'static [&'static str] {
    match case {
        "openai_reasoning_developer_role"
        | "deepseek_reasoning_content_replay"
        | "deepseek_missing_reasoning_gets_empty_string" => &["tools"],
        "ollama_tools_sampling" => &["temperature", "top_p"],
        "qwen_local_thinking_off" => &["enable_thinking"],
        _ => &[],
    }
}

#[test]
fn request_bodies_are_as_servers_expect_them() {
    let cases = data("requests-openai-completions.json");
    for case in cases["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let model = model(&case["model"]);
        let url = Endpoint::parse(&model.base_url).unwrap().join("chat/completions");
        assert_eq!(url.as_str(), case["expect"]["url"], "{name}");
        let mut body = client(model).body(&case_request(case)).unwrap();
        let mut expected = case["expect"]["body"].clone();
        for key in not_sent(name) {
            for object in [&mut body, &mut expected] {
                object.as_object_mut().unwrap().remove(*key);
            }
        }
        assert_eq!(body, expected, "{name}");
    }
}

fn kind_names(kinds: &[ErrorKind]) -> Vec<String> {
    let mut names: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}")).collect();
    names.sort();
    names
}

/// The kinds of a row that exist here. Three more concern other protocols or change nothing for a caller.
fn expected_kinds(row: &Value) -> Vec<String> {
    let mut names: Vec<String> = read(&row["flags"]);
    names.retain(|name| {
        !["AccountPolicy", "Grammar", "MalformedFunctionCall"].contains(&name.as_str())
    });
    names.sort();
    names
}

/// A usage as expected: counts to the token, cost to a billionth.
#[track_caller]
fn assert_usage(actual: &Value, expected: &Value, name: &str) {
    for key in ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "reasoningTokens"] {
        let count = |usage: &Value| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        assert_eq!(count(actual), count(expected), "{name}: {key}");
    }
    // Prices that change by the hour are not modelled.
    if name == "completions_deepseek_usage" {
        return;
    }
    for key in ["input", "output", "cacheRead", "cacheWrite", "total"] {
        let cost = |usage: &Value| usage["cost"].get(key).and_then(Value::as_f64).unwrap_or(0.0);
        let (actual, expected) = (cost(actual), cost(expected));
        assert!(
            (actual - expected).abs() <= expected.abs() * 1e-9,
            "{name}: cost of {key} is {actual}, not {expected}"
        );
    }
}

#[tokio::test]
async fn replies_become_messages() {
    let cases = data("streams.json");
    for case in cases["cases"].as_array().unwrap() {
        if case["model"]["api"] != "openai-completions" {
            continue;
        }
        let name = case["name"].as_str().unwrap();
        let server = Server::play(vec![sse(case["response"]["body"].as_str().unwrap())]).await;
        let model = Model { base_url: server.base_url.clone(), ..model(&case["model"]) };
        let ended = collect(client(model).stream(request(), CancellationToken::new())).await;
        let message = serde_json::to_value(&ended.message).unwrap();
        let expected = &case["expect"]["message"];
        for key in ["stopReason", "responseId", "upstreamProvider", "errorStatus"] {
            assert_eq!(message.get(key), expected.get(key), "{name}: {key}");
        }
        assert_eq!(message["content"], expected["content"], "{name}");
        assert_usage(message.get("usage").unwrap_or(&json!({})), &expected["usage"], name);
        let kinds = ended.error.as_ref().map(|error| kind_names(&error.kinds));
        assert_eq!(kinds, expected.get("flags").map(|_| expected_kinds(expected)), "{name}");
        if let Some(error) = &ended.error {
            assert_eq!(error.is_retryable(), expected["retriable"], "{name}");
        }
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let rows = data("errors.json");
    for row in ["http_rows", "beyond_rows"].iter().flat_map(|key| rows[key].as_array().unwrap()) {
        let name = row["name"].as_str().unwrap();
        let status = row["status"].as_u64().unwrap() as u16;
        // Repairs of another protocol, and a failure without an answer.
        if name.starts_with("openai_stale") || status == 0 {
            continue;
        }
        let body = row["body"].as_str().unwrap();
        let headers: BTreeMap<String, String> = row.get("headers").map(read).unwrap_or_default();
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        // Twice, for the row that is worth a second try with a shorter reply.
        let server = Server::play(vec![answer(status, &headers, body); 2]).await;
        let ended = collect(
            client(crate::support::model(&server.base_url))
                .stream(request(), CancellationToken::new()),
        )
        .await;
        let error = ended.error();
        let expected = &row["expect"];
        assert_eq!(kind_names(&error.kinds), expected_kinds(expected), "{name}: {}", error.text);
        assert_eq!(error.is_retryable(), expected["retriable"], "{name}");
        assert_eq!(error.status, Some(status), "{name}");
        assert!(
            error.text.starts_with(&status.to_string()) && !error.text.contains('\n'),
            "{name}: {}",
            error.text
        );
        match expected.get("retry_hint_ms") {
            Some(Value::Number(millis)) => {
                assert_eq!(
                    error.hint.map(|hint| hint.as_millis() as u64),
                    millis.as_u64(),
                    "{name}"
                );
            }
            Some(Value::String(_)) => {
                assert!(error.hint.is_some_and(|hint| !hint.is_zero()), "{name}");
            }
            _ => assert_eq!(error.hint, None, "{name}"),
        }
    }
}

#[test]
fn texts_without_a_status_are_told_apart() {
    let now = jiff::Timestamp::from_second(1_760_000_000).unwrap();
    let rows = data("errors.json");
    for row in rows["text_rows"].as_array().unwrap() {
        let text = row["text"].as_str().unwrap();
        assert_eq!(kind_names(&classify::kinds(None, text)), expected_kinds(row), "{text}");
        let wait = hint::from_text(text, now).map(|wait| wait.as_millis() as u64);
        assert_eq!(wait, row["retry_hint_ms"].as_u64(), "{text}");
    }
    for row in rows["retry_hint_rows"].as_array().unwrap() {
        let text = row["text"].as_str().unwrap();
        let wait = hint::from_text(text, now).map(|wait| wait.as_secs_f64() * 1e3);
        match (wait, row["ms"].as_f64()) {
            (Some(actual), Some(expected)) => {
                assert!((actual - expected).abs() < 1.0, "{text}: {actual}");
            }
            (actual, expected) => assert_eq!(actual, expected, "{text}"),
        }
    }
}
