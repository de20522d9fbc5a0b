//! The demo provider as a model client: what it does with requests, and that it keeps to the limits of its models.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use longhand_agent::request::{Purpose, RequestOptions};
use longhand_agent::{ErrorKind, ModelClient, Request, StreamEvent, ToolSpec};
use longhand_coding_agent::demo::{self, DemoClient, Pace};
use longhand_session::message::{StopReason, ToolResult};
use longhand_session::{AssistantMessage, Block, Message};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn client(id: &str, pace: Pace) -> DemoClient {
    let model = demo::models().into_iter().find(|model| model.id == id).unwrap();
    DemoClient::new(model, pace)
}

fn tools() -> Arc<[ToolSpec]> {
    let spec = |name: &&str| ToolSpec {
        name: (*name).into(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    };
    ["read", "write", "bash", "grep", "ls"].iter().map(spec).collect()
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: tools(),
        ..Request::default()
    }
}

async fn answer(id: &str, request: Request) -> AssistantMessage {
    client(id, Pace::AtOnce).complete(request, CancellationToken::new()).await.unwrap()
}

async fn say(text: &str) -> AssistantMessage {
    answer("offline", request(vec![Message::user(text, 1)])).await
}

fn result(call: &AssistantMessage, text: &str) -> Message {
    let call = call.tool_calls().next().unwrap();
    Message::ToolResult(ToolResult {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Block::text(text)],
        timestamp: 2,
        ..ToolResult::default()
    })
}

#[tokio::test]
async fn plain_requests_become_real_calls() {
    for (text, tool, arguments) in [
        ("read src/lib.rs:1-5", "read", json!({ "path": "src/lib.rs:1-5" })),
        ("run ls -l | wc", "bash", json!({ "command": "ls -l | wc" })),
        ("list", "ls", json!({ "path": "." })),
        ("search a.b(", "grep", json!({ "pattern": r"a\.b\(" })),
        ("write notes.txt: one", "write", json!({ "path": "notes.txt", "content": "one\n" })),
    ] {
        let reply = say(text).await;
        let calls: Vec<_> = reply
            .tool_calls()
            .map(|call| (call.name.as_str(), call.arguments.value().clone()))
            .collect();
        assert_eq!(calls, [(tool, arguments)], "{text}");
        assert_eq!(reply.stop_reason, StopReason::ToolUse, "{text}");
    }
}

#[tokio::test]
async fn it_says_what_a_tool_gave() {
    let user = Message::user("read a.txt", 1);
    let call = answer("offline", request(vec![user.clone()])).await;
    let conversation =
        vec![user, Message::Assistant(Box::new(call.clone())), result(&call, "one\ntwo\n")];
    let reply = answer("offline", request(conversation)).await;
    assert_eq!(reply.text(""), "`read a.txt` gave 2 lines; the first one is `one`.");
    assert_eq!(reply.stop_reason, StopReason::Stop);
}

#[tokio::test]
async fn it_says_that_it_is_a_script_whatever_is_asked() {
    for text in ["hello", "why is the sky blue?", "help", "read the file and fix the bug"] {
        let said = say(text).await.text("");
        assert!(said.contains("script"), "{said}");
    }
}

#[tokio::test]
async fn without_the_tool_it_says_so() {
    let request = Request { tools: Arc::default(), ..request(vec![Message::user("run ls", 1)]) };
    let reply = answer("offline", request).await;
    assert_eq!(reply.tool_calls().count(), 0);
    assert!(reply.text("").contains("no such tool"));
}

#[tokio::test]
async fn usage_is_the_local_count_of_request_and_reply() {
    let request = Request {
        system: vec!["12345678".into()],
        tools: Arc::default(),
        ..request(vec![Message::user("run ls", 1)])
    };
    let reply = answer("offline", request).await;
    let usage = reply.usage.as_ref().unwrap();
    assert_eq!(usage.input, 2 + 2);
    assert_eq!(usage.output, (reply.text("").len() as u64).div_ceil(4));
    assert_eq!(usage.total_tokens, usage.input + usage.output);
}

#[tokio::test]
async fn a_request_larger_than_the_window_overflows() {
    let large = "x".repeat(4 * 8_192);
    let client = client("offline-small", Pace::AtOnce);
    let error = client
        .complete(request(vec![Message::user(large.clone(), 1)]), CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(error.kinds, [ErrorKind::ContextOverflow]);
    assert!(answer("offline", request(vec![Message::user(large, 1)])).await.usage.is_some());
}

#[tokio::test]
async fn a_reply_stops_at_the_output_limit() {
    let mut options = RequestOptions::default();
    options.max_output_tokens = Some(20);
    let help = Request { options: options.clone(), ..request(vec![Message::user("help", 1)]) };
    let reply = answer("offline", help).await;
    assert_eq!(reply.stop_reason, StopReason::Length);
    assert!((1..=20).contains(&reply.usage.unwrap().output));

    let long = format!("write a.txt: {}", "x".repeat(200));
    let write = Request { options, ..request(vec![Message::user(long, 1)]) };
    let reply = answer("offline", write).await;
    assert_eq!(reply.stop_reason, StopReason::Length);
    assert_eq!(reply.tool_calls().count(), 0, "a call that is cut is no call");
}

#[tokio::test(start_paused = true)]
async fn a_reply_arrives_at_sixty_tokens_a_second() {
    let started = tokio::time::Instant::now();
    let events: Vec<_> = client("offline", Pace::SixtyTokensASecond)
        .stream(request(vec![Message::user("help", 1)]), CancellationToken::new())
        .collect()
        .await;
    let Some(StreamEvent::Done(reply)) = events.last() else { panic!("{events:?}") };
    let deltas: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas.concat(), reply.text(""));
    // A piece counts at least one token, so that a reply takes no less than its own count.
    let tokens = reply.usage.as_ref().unwrap().output;
    assert!(started.elapsed() >= Duration::from_secs(tokens) / 60);
    assert!(started.elapsed() < Duration::from_mins(1));
    assert!(deltas.len() > 20);
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_reply_with_what_came_until_then() {
    let cancel = CancellationToken::new();
    let mut events = client("offline", Pace::SixtyTokensASecond)
        .stream(request(vec![Message::user("help", 1)]), cancel.clone());
    let mut said = String::new();
    while let Some(event) = events.next().await {
        match event {
            StreamEvent::TextDelta { delta, .. } => {
                said.push_str(&delta);
                if said.len() > 20 {
                    cancel.cancel();
                }
            }
            StreamEvent::Failed { message, error } => {
                assert!(error.is(ErrorKind::Aborted));
                assert_eq!((message.stop_reason, message.text("")), (StopReason::Aborted, said));
                assert!(events.next().await.is_none());
                return;
            }
            _ => {}
        }
    }
    panic!("the reply was not cut");
}

fn summary_request(purpose: Purpose, text: &str) -> Request {
    Request {
        messages: vec![Arc::new(Message::user(text, 1))],
        options: RequestOptions::for_purpose(purpose),
        ..Request::default()
    }
}

const CONVERSATION: &str = "<conversation>\n\n\nHuman: read a.txt\n\nAssistant: I call `read`.<invoke name=\"read\"><parameter name=\"path\">\"a.txt\"</parameter></invoke>\n\n\
Human: <tool_response>\none\n\ntwo\n</tool_response>\n\nAssistant: `read a.txt` gave 2 lines.\n\nHuman: run cargo test\n</conversation>\n\n";

#[tokio::test]
async fn a_summary_is_a_digest_of_the_conversation_under_the_demanded_headings() {
    let previous = "<previous-summary>\n## Goal\n- list .\n\n## Progress\n\n### Done\n- [x] `ls .`\n</previous-summary>\n\n";
    let request = summary_request(
        Purpose::CompactionSummary,
        &format!("{CONVERSATION}{previous}Write the notes."),
    );
    let text = answer("offline", request.clone()).await.text("");
    assert_eq!(
        text,
        "## Goal\n- list .\n- read a.txt\n- run cargo test\n\n## Progress\n\n### Done\n- [x] `ls .`\n- [x] `read a.txt`\n\n\
         ## Next Steps\n1. Open, and not dealt with yet: “run cargo test”\n\n\
         ## Critical Context\n- Last reply: `read a.txt` gave 2 lines.\n\
         - This digest was put together by the demo provider from the text alone; no model wrote it."
    );
    assert_eq!(
        answer("offline", request).await.text(""),
        text,
        "the same request, the same digest"
    );
}

#[tokio::test]
async fn a_digest_of_digests_does_not_grow() {
    let mut summary = String::new();
    let mut sizes = Vec::new();
    for round in 0..30 {
        let text = format!(
            "<conversation>\n\n\nHuman: read file-{round}.txt {}\n\nAssistant: x<invoke name=\"read\"><parameter name=\"path\">\"file-{round}.txt\"</parameter></invoke>\n</conversation>\n\n\
             <previous-summary>\n{summary}\n</previous-summary>\n\nGo.",
            "word ".repeat(500)
        );
        summary =
            answer("offline", summary_request(Purpose::CompactionSummary, &text)).await.text("");
        sizes.push(summary.len());
    }
    assert!(sizes.iter().all(|size| *size < 3_000), "{sizes:?}");
}

#[tokio::test]
async fn other_summaries_have_their_own_form() {
    let prefix =
        answer("offline", summary_request(Purpose::CompactionTurnPrefix, CONVERSATION)).await;
    for heading in ["## Original Request", "## Early Progress", "## Context for Suffix"] {
        assert!(prefix.text("").contains(heading), "{heading}");
    }
    let short =
        answer("offline", summary_request(Purpose::CompactionShortSummary, CONVERSATION)).await;
    assert_eq!(
        short.text(""),
        "I worked through 2 requests in the demo, the newest of them “run cargo test”. I made 1 tool call and told what came back."
    );
}
