//! A process that ends in the middle of a turn, and what the next one makes of it.

use std::sync::Arc;

use longhand_agent::testing::{Reply, ScriptedClient, SharedStore, TestConfig, TestSession};
use longhand_agent::tool::{Tier, ToolOutput};
use longhand_agent::{Ending, SessionEvent, UserInput};
use longhand_session::{Entry, Header, MemoryStore};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{FnTool, drain, until_named};

/// A session that holds these entries, one after another.
fn store(entries: &[Value]) -> SharedStore {
    let entries = entries.iter().enumerate().map(|(n, entry)| {
        let mut entry = entry.clone();
        entry["id"] = json!(format!("e{n}"));
        entry["parentId"] = n.checked_sub(1).map(|before| format!("e{before}")).into();
        entry["timestamp"] = json!("2026-01-01T00:00:00.000Z");
        Arc::new(serde_json::from_value::<Entry>(entry).unwrap())
    });
    let header = Header { id: "s".into(), version: Some(3), ..Header::default() };
    SharedStore::new(MemoryStore::with_entries(header, entries))
}

async fn opened(store: &SharedStore) -> TestSession {
    TestConfig::with(Arc::new(ScriptedClient::new([])), store.clone()).start().await
}

fn user() -> Value {
    json!({ "type": "message", "message": { "role": "user", "content": "Go" } })
}

fn reply(stop_reason: &str, content: &Value) -> Value {
    json!({ "type": "message", "message": {
        "role": "assistant", "content": content, "stopReason": stop_reason,
        "api": "x", "provider": "p", "model": "m",
    } })
}

fn answer() -> Value {
    reply("stop", &json!([{ "type": "text", "text": "Done." }]))
}

fn call() -> Value {
    let call = json!([{ "type": "toolCall", "id": "c1", "name": "bash", "arguments": { "command": "make" } }]);
    reply("toolUse", &call)
}

fn started() -> Value {
    custom("tool_execution_start", &json!({ "toolCallId": "c1", "toolName": "bash" }))
}

fn result() -> Value {
    json!({ "type": "message", "message": {
        "role": "toolResult", "toolCallId": "c1", "toolName": "bash", "content": [],
    } })
}

fn exit(kind: &str) -> Value {
    custom("session_exit", &json!({ "kind": kind, "recordedAt": "2026-01-01T00:00:01.000Z" }))
}

fn exit_with_pending(kind: &str) -> Value {
    let pending = json!([
        { "toolCallId": "c1", "toolName": "bash", "args": { "command": "make\nall" } },
        { "toolCallId": "c2", "toolName": "read" },
    ]);
    let mut exit = exit(kind);
    exit["data"]["pendingToolCalls"] = pending;
    exit
}

fn custom(custom_type: &str, data: &Value) -> Value {
    json!({ "type": "custom", "customType": custom_type, "data": data })
}

#[tokio::test(start_paused = true)]
async fn a_turn_gets_an_end_only_where_the_process_left_it_in_the_middle() {
    let other = || reply("aborted", &call()["message"]["content"]);
    let told = || json!({ "type": "custom_message", "customType": "note", "content": "x" });
    for (name, entries, gets_an_end) in [
        ("ended by a signal while a call ran", vec![user(), call(), exit("signal")], true),
        ("ended before the answer", vec![user(), exit("signal")], true),
        ("ended after the result", vec![user(), call(), result(), exit("fatal")], true),
        ("left, with calls cut off", vec![user(), call(), exit_with_pending("normal")], true),
        ("left in order", vec![user(), call(), exit("normal")], false),
        ("the turn was finished", vec![user(), answer(), exit("signal")], false),
        ("the turn was stopped", vec![user(), other(), result(), exit("signal")], false),
        ("the model had failed", vec![user(), reply("error", &json!([])), exit("signal")], false),
        ("somebody went on since", vec![user(), call(), exit("signal"), user(), answer()], false),
        ("the last exit was in order", vec![user(), exit("signal"), exit("normal")], false),
        ("a note came after", vec![user(), call(), told(), exit("signal")], true),
        ("nobody said how", vec![user(), call(), started()], false),
        ("nothing was said", vec![exit("signal")], false),
        ("there is nothing", vec![], false),
    ] {
        let store = store(&entries);
        let test = opened(&store).await;
        let stored = store.entries();
        assert_eq!(stored.len(), entries.len() + usize::from(gets_an_end), "{name}");
        assert_eq!(test.session.snapshot().leaf.as_ref(), stored.last().map(|last| &last.id));
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_turn_says_when_and_that_the_process_ended() {
    let store = store(&[user(), call(), exit("signal")]);
    opened(&store).await;

    let end = store.messages().pop().unwrap();
    let end = serde_json::to_value(&*end).unwrap();
    assert_eq!(
        json!([end["role"], end["content"], end["stopReason"], end["timestamp"], end["model"]]),
        json!(["assistant", [], "aborted", 1_767_225_601_000_i64, "m"])
    );
    assert_eq!(end["errorMessage"], "the process before ended in the middle of this turn");
    assert_eq!(end["usage"]["totalTokens"], 0);
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_cut_off_are_listed() {
    let mut test = opened(&store(&[user(), call(), exit_with_pending("signal")])).await;

    let heard = drain(&mut test.events);

    let [SessionEvent::Notice { message, code, .. }] = heard.as_slice() else {
        panic!("{heard:?}")
    };
    assert_eq!(code.as_deref(), Some("session.interrupted"));
    assert!(message.ends_with(": `bash` (c1): make all, `read` (c2)"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_process_that_was_killed_are_listed_and_nothing_is_written() {
    let store = store(&[user(), call(), started()]);
    let mut test = opened(&store).await;

    let heard = drain(&mut test.events);

    let [SessionEvent::Notice { message, .. }] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(message.ends_with(": `bash` (c1): make"), "{message}");
    assert_eq!(store.entries().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_a_process_cuts_off_when_it_is_told_to_end_is_known_to_the_next() {
    let waits = |_, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        ToolOutput::error("stopped")
    };
    let mut test = TestSession::new([Reply::calls([("wait", json!({ "command": "make" }))])])
        .tool(FnTool::new("wait", Tier::Exec, waits))
        .start()
        .await;
    let session = test.session.clone();
    tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });
    until_named(&mut test.events, "tool_execution_start").await;

    test.session.close_as(Ending::Signal).await.unwrap();

    let exit = serde_json::to_value(test.store.entries().last().unwrap()).unwrap();
    assert_eq!(exit["data"]["kind"], "signal");
    assert_eq!(
        exit["data"]["pendingToolCalls"],
        json!([{ "toolCallId": "call_1_1", "toolName": "wait", "args": { "command": "make" } }])
    );
    let mut next = opened(&test.store).await;
    let heard = drain(&mut next.events);
    let [SessionEvent::Notice { message, .. }] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(message.ends_with(": `wait` (call_1_1): make"), "{message}");
    let end = test.store.messages().pop().unwrap();
    assert!(end.as_assistant().is_some_and(longhand_session::AssistantMessage::is_unfinished));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_left_in_order_says_so_and_nothing_more() {
    let test = TestSession::new([Reply::text("Hi.")]).start().await;
    test.session.prompt(UserInput::text("Hello")).await.unwrap();
    test.session.close().await.unwrap();

    let exit = serde_json::to_value(test.store.entries().last().unwrap()).unwrap();
    assert_eq!(
        json!([exit["data"]["kind"], exit["data"]["pendingToolCalls"]]),
        json!(["normal", null])
    );
    assert!(drain(&mut opened(&test.store).await.events).is_empty());
}
