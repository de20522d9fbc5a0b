//! Whatever a server does, a stream ends in one clear error and keeps what was said.

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::{ErrorKind, ModelClient, StreamEvent};
use longhand_providers::{Http, OpenAiChat, Timeouts};
use longhand_session::Model;
use longhand_session::message::StopReason;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{
    Keys, Script, Server, Step, answer, client, collect, hello, model, patient_request, refusal,
    request, sse,
};

const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";

/// The head of an event stream and its first text.
fn begun() -> Script {
    sse(HELLO)
}

fn then(mut script: Script, steps: impl IntoIterator<Item = Step>) -> Script {
    script.extend(steps);
    script
}

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// A model on a server far away: it has all timeouts.
fn far(base_url: &str) -> Model {
    Model { is_local: false, ..model(base_url) }
}

fn near(base_url: &str) -> Model {
    Model { is_local: true, ..model(base_url) }
}

async fn ask(model: Model) -> crate::support::Ended {
    collect(client(model).stream(request(), CancellationToken::new())).await
}

#[tokio::test]
async fn a_reply_is_the_same_wherever_its_bytes_are_split() {
    let body = concat!(
        "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"<think>hm</think>Gr\u{fc}\u{df}e\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n",
        "data: [DONE]\n\n",
    );
    let bytes = body.as_bytes();
    let head = answer(200, &[("content-type", "text/event-stream")], "");
    let letters = bytes.iter().map(|byte| Step::Send(vec![*byte]));
    let mut scripts = vec![then(head.clone(), letters)];
    scripts.extend((0..bytes.len()).map(|at| {
        let (one, two) = bytes.split_at(at);
        then(head.clone(), [Step::Send(one.to_vec()), Step::Send(two.to_vec())])
    }));
    let count = scripts.len();
    let server = Server::play(scripts).await;
    let client = client(model(&server.base_url));
    let expected = json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Gr\u{fc}\u{df}e"},
        {"type": "toolCall", "id": "a", "name": "ls", "arguments": {}},
    ]);
    for script in 0..count {
        let ended = collect(client.stream(request(), CancellationToken::new())).await;
        let content = serde_json::to_value(&ended.message.content).unwrap();
        assert_eq!((content, ended.error), (expected.clone(), None), "script {script}");
    }
}

#[tokio::test]
async fn a_broken_reply_ends_in_one_error_and_keeps_what_was_said() {
    let with = |text: &str| format!("{HELLO}{text}");
    for (name, body, kinds, said) in [
        ("closed early", with(""), vec![ErrorKind::Transient], "ended before it was complete"),
        ("half a line", with("data: {\"choices\":[{\"del"), vec![ErrorKind::Transient], "not JSON"),
        ("garbage", with("data: {]\n\n"), vec![ErrorKind::Transient], "not JSON"),
        (
            "binary noise",
            with("\u{0}\u{1}\u{fffd}\n\n"),
            vec![ErrorKind::Transient],
            "ended before",
        ),
        (
            "an error object",
            with("data: {\"error\":{\"message\":\"boom\",\"code\":500}}\n\n"),
            vec![ErrorKind::Transient],
            "500 boom",
        ),
        (
            "a bare error line",
            with("{\"error\":{\"message\":\"boom\",\"code\":500}}\n"),
            vec![ErrorKind::Transient],
            "500 boom",
        ),
        (
            "an error in words",
            with("data: {\"error\":\"the request exceeds the available context size\"}\n\n"),
            vec![ErrorKind::ContextOverflow],
            "exceeds the available context size",
        ),
        (
            "unknown reason",
            with("data: {\"choices\":[{\"finish_reason\":\"network_error\"}]}\n\n"),
            vec![ErrorKind::Transient],
            "network_error",
        ),
        (
            "window reason",
            with("data: {\"choices\":[{\"finish_reason\":\"model_context_window_exceeded\"}]}\n\n"),
            vec![ErrorKind::ContextOverflow],
            "model_context_window_exceeded",
        ),
    ] {
        let server = Server::play(vec![sse(&body)]).await;
        let ended = ask(model(&server.base_url)).await;
        assert_eq!(ended.text(), "Hello", "{name}");
        assert_eq!(ended.error().kinds, kinds, "{name}: {}", ended.error().text);
        assert!(ended.error().text.contains(said), "{name}: {}", ended.error().text);
        assert_eq!(ended.message.stop_reason, StopReason::Error, "{name}");
        assert_eq!(ended.message.error_message.as_ref(), Some(&ended.error().text), "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_reply_is_named() {
    let page = "<html><head><title>Sign in</title></head><body>Hi</body></html>";
    for (script, kinds, said) in [
        (
            answer(200, &[("content-type", "text/html")], page),
            vec![],
            "instead of an event stream; check the base URL: Sign in",
        ),
        (
            answer(502, &[("content-type", "text/html")], page),
            vec![ErrorKind::Transient],
            "502 Sign in",
        ),
        (answer(404, &[], "404 page not found"), vec![], "404 page not found"),
        (vec![send("HTTP/1.1 200 OK\r\n")], vec![ErrorKind::Transient], "lost the connection"),
        (vec![send("SSH-2.0-OpenSSH_9.6\r\n")], vec![ErrorKind::Transient], "lost the connection"),
        (vec![], vec![ErrorKind::Transient], "lost the connection"),
        (sse(""), vec![ErrorKind::Transient], "ended before it was complete"),
        (
            answer(
                200,
                &[("content-type", "text/event-stream"), ("content-length", "500")],
                "data: ",
            ),
            vec![ErrorKind::Transient],
            "lost the connection",
        ),
    ] {
        let server = Server::play(vec![script.clone()]).await;
        let ended = ask(model(&server.base_url)).await;
        assert_eq!(ended.error().kinds, kinds, "{script:?}: {}", ended.error().text);
        assert!(ended.error().text.contains(said), "{script:?}: {}", ended.error().text);
        assert!(ended.message.content.is_empty(), "{script:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = json!({
        "id": "c1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Hello", "reasoning_content": "hm",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{\"p\":1}"}}],
        }}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    });
    for text in [body.to_string(), serde_json::to_string_pretty(&body).unwrap()] {
        let server =
            Server::play(vec![answer(200, &[("content-type", "application/json")], &text)]).await;
        let ended = ask(model(&server.base_url)).await;
        assert_eq!(ended.error, None);
        assert_eq!(ended.text(), "Hello");
        assert_eq!(ended.message.stop_reason, StopReason::ToolUse);
        assert_eq!(ended.message.tool_calls().count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let head = || answer(200, &[("content-type", "text/event-stream")], "");
    let keepalives =
        || (0..40).flat_map(|_| [Step::Wait(Duration::from_mins(1)), send(": still here\n\n")]);
    for (name, script, said, text) in [
        ("no answer", vec![Step::Hang], "did not answer within 300 s", ""),
        ("no event", then(head(), [Step::Hang]), "fell silent", ""),
        ("silence in the middle", then(begun(), [Step::Hang]), "fell silent", "Hello"),
        ("keepalives alone", then(begun(), keepalives()), "fell silent", "Hello"),
    ] {
        let server = Server::play(vec![script]).await;
        let ended = ask(far(&server.base_url)).await;
        assert_eq!(ended.error().kinds, [ErrorKind::Transient, ErrorKind::Timeout], "{name}");
        assert!(ended.error().text.contains(said), "{name}: {}", ended.error().text);
        assert_eq!(ended.text(), text, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_of_ones_own_may_take_its_time_before_it_begins() {
    let hour = Step::Wait(Duration::from_hours(1));
    let server = Server::play(vec![[vec![hour], hello()].concat()]).await;
    let ended = ask(near(&server.base_url)).await;
    assert_eq!((ended.text().as_str(), ended.error), ("Hello", None));
}

#[tokio::test(start_paused = true)]
async fn a_reply_with_its_reason_for_the_end_does_not_wait_for_a_connection_that_stays_open() {
    let finish = send("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    let usage =
        send("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n");
    for (steps, prompt) in [
        (vec![finish.clone(), Step::Hang], None),
        (vec![finish, Step::Wait(Duration::from_secs(2)), usage, Step::Hang], Some(9)),
    ] {
        let server = Server::play(vec![then(begun(), steps)]).await;
        let ended = ask(near(&server.base_url)).await;
        assert_eq!((ended.text().as_str(), &ended.error), ("Hello", &None));
        assert_eq!(ended.message.usage.map(|usage| usage.input), prompt);
    }
}

#[tokio::test(start_paused = true)]
async fn passing_failures_are_tried_again_until_something_was_said() {
    let busy = || refusal(503, "{\"error\":{\"message\":\"Loading model\"}}");
    for (scripts, requests, text, fails) in [
        (vec![busy(), busy(), hello()], 3, "Hello", false),
        (vec![busy(); 9], 6, "", true),
        (vec![sse(""), hello()], 2, "Hello", false),
        (vec![sse(""), sse(""), hello()], 2, "", true),
        (vec![begun(), hello()], 1, "Hello", true),
        (vec![refusal(400, "{\"error\":{\"message\":\"no\"}}"), hello()], 1, "", true),
        (vec![refusal(402, ""), hello()], 1, "", true),
        (vec![answer(429, &[("retry-after", "3600")], "too many requests"), hello()], 1, "", true),
        (
            vec![answer(429, &[("rate_limit_type", "max_parallel_requests")], "{}"), hello()],
            1,
            "",
            true,
        ),
        (
            vec![answer(500, &[], "Failed to parse tool call arguments as JSON"), hello()],
            1,
            "",
            true,
        ),
    ] {
        let what = format!("{scripts:?}");
        let server = Server::play(scripts).await;
        let ended = collect(
            client(model(&server.base_url)).stream(patient_request(), CancellationToken::new()),
        )
        .await;
        assert_eq!(server.seen().len(), requests, "{what}");
        assert_eq!((ended.text().as_str(), ended.error.is_some()), (text, fails), "{what}");
        let starts = ended.events.iter().filter(|event| **event == StreamEvent::Start).count();
        assert!(starts <= 1, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_is_asked_for_again_and_then_reported() {
    let empty = || {
        sse("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
    };
    let server = Server::play(vec![empty(); 5]).await;
    let ended = collect(
        client(model(&server.base_url)).stream(patient_request(), CancellationToken::new()),
    )
    .await;
    assert_eq!(server.seen().len(), 3);
    assert_eq!(ended.error().kinds, [ErrorKind::Transient, ErrorKind::EmptyResponse]);
}

#[tokio::test]
async fn the_caller_may_keep_trying_to_itself() {
    let server = Server::play(vec![refusal(503, ""), hello()]).await;
    let ended = ask(model(&server.base_url)).await;
    assert_eq!((server.seen().len(), ended.error().status), (1, Some(503)));
}

#[tokio::test]
async fn stopping_keeps_what_was_said_and_closes_the_connection() {
    let server = Server::play(vec![then(begun(), [Step::Hang])]).await;
    let cancel = CancellationToken::new();
    let mut stream = client(model(&server.base_url)).stream(patient_request(), cancel.clone());
    let mut said = Vec::new();
    while !matches!(said.last(), Some(StreamEvent::TextDelta { .. })) {
        said.push(futures::StreamExt::next(&mut stream).await.unwrap());
    }
    cancel.cancel();
    let ended = collect(stream).await;
    assert_eq!(ended.message.stop_reason, StopReason::Aborted);
    assert_eq!(
        (ended.text().as_str(), &ended.error().kinds[..]),
        ("Hello", &[ErrorKind::Aborted][..])
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn stopping_before_the_request_or_while_waiting_sends_nothing_more() {
    let server = Server::play(vec![hello()]).await;
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let ended = collect(client(model(&server.base_url)).stream(patient_request(), cancelled)).await;
    assert_eq!((server.seen().len(), ended.message.stop_reason), (0, StopReason::Aborted));

    let server = Server::play(vec![answer(503, &[("retry-after", "30")], ""), hello()]).await;
    let cancel = CancellationToken::new();
    let stream = client(model(&server.base_url)).stream(patient_request(), cancel.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(10)).await;
        cancel.cancel();
    });
    let ended = collect(stream).await;
    assert_eq!((server.seen().len(), ended.message.stop_reason), (1, StopReason::Aborted));
}

#[tokio::test]
async fn a_refused_key_is_asked_for_once_more_and_never_shown() {
    let denied =
        || refusal(401, "{\"error\":{\"message\":\"Incorrect API key provided: old-secret-key\"}}");
    let ask = async |keys: &[&'static str], scripts| {
        let server = Server::play(scripts).await;
        let client =
            OpenAiChat::new(Arc::new(model(&server.base_url)), Keys::new(keys), Http::new());
        let ended = collect(client.stream(request(), CancellationToken::new())).await;
        let sent: Vec<_> = server
            .seen()
            .iter()
            .map(|seen| seen.header("authorization").map(str::to_owned))
            .collect();
        (sent, ended)
    };
    let bearer = |key: &str| Some(format!("Bearer {key}"));

    let (sent, ended) = ask(&["old-secret-key", "new-secret-key"], vec![denied(), hello()]).await;
    assert_eq!(sent, [bearer("old-secret-key"), bearer("new-secret-key")]);
    assert_eq!(ended.text(), "Hello");

    let (sent, ended) = ask(&["old-secret-key"], vec![denied(), hello()]).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(ended.error().kinds, [ErrorKind::AuthFailed]);
    assert!(!format!("{:?} {:?}", ended.error, ended.message).contains("old-secret"), "{ended:?}");

    let (sent, _) = ask(&["N/A"], vec![hello()]).await;
    assert_eq!(sent, [None]);
    let (sent, _) = ask(&[], vec![hello()]).await;
    assert_eq!(sent, [None]);
    let (sent, ended) = ask(&["two\nlines"], vec![hello()]).await;
    assert_eq!(sent.len(), 0);
    assert!(ended.error().is(ErrorKind::AuthFailed) && !ended.error().text.contains("two"));
}

#[tokio::test]
async fn a_prompt_that_leaves_no_room_is_not_sent() {
    let server = Server::play(vec![hello()]).await;
    let mut model = model(&server.base_url);
    model.context_window = Some(4_096);
    let mut long = request();
    long.messages = vec![Arc::new(longhand_session::Message::user("word ".repeat(4_000), 0))];
    let ended = collect(client(model).stream(long, CancellationToken::new())).await;
    assert_eq!(
        (server.seen().len(), &ended.error().kinds[..]),
        (0, &[ErrorKind::ContextOverflow][..])
    );
    assert!(ended.error().text.contains("by our own count"), "{}", ended.error().text);
    assert_eq!(ended.message.usage, None);
}

#[tokio::test]
async fn a_refusal_with_numbers_is_answered_with_a_shorter_limit_once() {
    let overflow = || {
        refusal(
            400,
            "{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 20000 + 16000 > 32768\"}}",
        )
    };
    let server = Server::play(vec![overflow(), overflow(), hello()]).await;
    let mut model = model(&server.base_url);
    model.max_output_tokens = Some(16_000);
    let ended = collect(client(model).stream(patient_request(), CancellationToken::new())).await;
    let limits: Vec<_> =
        server.seen().iter().map(|seen| seen.body["max_completion_tokens"].clone()).collect();
    assert_eq!(limits, [json!(16_000), json!(32_768 - 20_000 - 1_024)]);
    assert_eq!(ended.error().kinds, [ErrorKind::ContextOverflow]);
}

#[tokio::test]
async fn a_wordless_refusal_is_an_overflow_only_where_the_prompt_is_long() {
    for (window, kinds) in [(None, vec![ErrorKind::ContextOverflow]), (Some(1_000_000), vec![])] {
        let server = Server::play(vec![refusal(400, "")]).await;
        let model = Model { context_window: window, ..model(&server.base_url) };
        assert_eq!(ask(model).await.error().kinds, kinds, "{window:?}");
    }
}

#[tokio::test]
async fn a_conversation_follows_no_redirect_to_another_server() {
    let elsewhere = Server::play(vec![hello()]).await;
    let target = &elsewhere.base_url;
    let server = Server::play(vec![answer(307, &[("location", target)], "")]).await;
    let ended = collect(
        client(model(&server.base_url)).stream(patient_request(), CancellationToken::new()),
    )
    .await;
    assert_eq!((ended.error().kinds.as_slice(), elsewhere.seen().len()), ([].as_slice(), 0));
    let said = format!("it redirects to `{target}`, which is another server");
    assert!(ended.error().text.contains(&said), "{}", ended.error().text);
}

#[tokio::test]
async fn a_redirect_within_a_server_is_followed() {
    let server = Server::play(vec![
        answer(307, &[("location", "/v1/other"), ("content-length", "0")], ""),
        hello(),
    ])
    .await;
    assert_eq!(ask(model(&server.base_url)).await.text(), "Hello");
}

#[tokio::test]
async fn other_limits_on_silence_can_be_set() {
    let server = Server::play(vec![vec![Step::Hang]]).await;
    let limits = Timeouts { first_event: Some(Duration::from_millis(20)), idle: None };
    let client = client(near(&server.base_url)).with_timeouts(limits);
    let ended = collect(client.stream(request(), CancellationToken::new())).await;
    assert!(ended.error().is(ErrorKind::Timeout), "{}", ended.error().text);
}
