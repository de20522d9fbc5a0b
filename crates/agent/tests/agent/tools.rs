//! Tool calls: what runs when, and that each call has one result whatever happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use longhand_agent::testing::{EchoTool, Reply, TestSession};
use longhand_agent::tool::{Tier, ToolOutput};
use longhand_agent::{SessionEvent, UserInput};
use longhand_session::entry::EntryKind;
use longhand_session::{Entry, Message};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::sleep;

use crate::support::{FnTool, drain};

fn go() -> UserInput {
    UserInput::text("Go")
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_and_its_result_goes_with_the_next_request() {
    let test =
        TestSession::new([Reply::calls([("echo", json!({ "text": "hi" }))]), Reply::text("Done.")])
            .tool(EchoTool::new("echo"))
            .start()
            .await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(
        test.request(1),
        ["user: Go", r#"assistant: echo({"text":"hi"})"#, "toolResult: hi"]
    );
    assert_eq!(test.transcript().last().unwrap(), "assistant: Done.");
}

#[tokio::test(start_paused = true)]
async fn calls_that_only_look_run_side_by_side_and_their_results_keep_the_order_of_the_calls() {
    // Each waits for the other: one after the other they would never end.
    let both = Arc::new(Barrier::new(2));
    let look = FnTool::new("look", Tier::Read, move |arguments, _| {
        let both = both.clone();
        async move {
            both.wait().await;
            sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
            ToolOutput::text(arguments["ms"].to_string())
        }
    });
    let calls = [("look", json!({ "ms": 500 })), ("look", json!({ "ms": 1 }))];
    let mut test =
        TestSession::new([Reply::calls(calls), Reply::text("Done.")]).tool(look).start().await;

    let run = test.session.prompt(go());
    tokio::time::timeout(Duration::from_mins(1), run).await.unwrap().unwrap();

    assert_eq!(test.transcript()[2..4], ["toolResult: 500", "toolResult: 1"]);
    let ended = drain(&mut test.events).into_iter().filter_map(|event| match event {
        SessionEvent::ToolExecutionEnd { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), ["call_1_2", "call_1_1"], "the shorter one ends first");
}

#[tokio::test(start_paused = true)]
async fn calls_that_change_something_run_alone_and_in_order() {
    let running = Arc::new(AtomicUsize::new(0));
    let change = FnTool::new("change", Tier::Write, move |_, _| {
        let running = running.clone();
        async move {
            let others = running.fetch_add(1, Ordering::SeqCst);
            sleep(Duration::from_millis(10)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            ToolOutput::text(format!("{others} others"))
        }
    });
    let calls = [("change", json!({})), ("change", json!({})), ("change", json!({}))];
    let test =
        TestSession::new([Reply::calls(calls), Reply::text("Done.")]).tool(change).start().await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(test.transcript()[2..5], ["toolResult: 0 others"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_look_after_a_change_sees_the_change() {
    let written = Arc::new(AtomicUsize::new(0));
    let (a, b) = (written.clone(), written);
    let write = FnTool::new("write", Tier::Write, move |_, _| {
        let written = a.clone();
        async move {
            sleep(Duration::from_millis(10)).await;
            written.store(7, Ordering::SeqCst);
            ToolOutput::text("written")
        }
    });
    let read = FnTool::new("read", Tier::Read, move |_, _| {
        let written = b.clone();
        async move { ToolOutput::text(written.load(Ordering::SeqCst).to_string()) }
    });
    let calls = [("read", json!({})), ("write", json!({})), ("read", json!({}))];
    let test = TestSession::new([Reply::calls(calls), Reply::text("Done.")])
        .tool(write)
        .tool(read)
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(test.transcript()[2..5], ["toolResult: 0", "toolResult: written", "toolResult: 7"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_an_unknown_tool_is_told_which_tools_there_are() {
    let test = TestSession::new([Reply::calls([("ecko", json!({}))]), Reply::text("Done.")])
        .tool(EchoTool::new("echo"))
        .tool(EchoTool::new("say"))
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(
        test.transcript()[2],
        "toolResult: There is no tool `ecko`. The tools are: echo, say."
    );
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_parse_reach_the_model_as_an_error_and_nothing_runs() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let tool = FnTool::new("look", Tier::Read, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { ToolOutput::text("ran") }
    });
    let broken = json!({ "__parseError": "EOF while parsing", "__rawJson": "{\"path\": \"a" });
    let test = TestSession::new([Reply::calls([("look", broken)]), Reply::text("Done.")])
        .tool(tool)
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(
        test.transcript()[2],
        "toolResult: Not run: the arguments of `look` are not valid JSON: EOF while parsing. They were: {\"path\": \"a"
    );
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_gives_an_error_result_and_the_session_goes_on() {
    let tool = FnTool::new("bad", Tier::Exec, |arguments: Value, _| async move {
        assert!(arguments.is_null(), "out of cheese");
        ToolOutput::default()
    });
    let test = TestSession::new([Reply::calls([("bad", json!({}))]), Reply::text("Done.")])
        .tool(tool)
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    let results = test.store.messages();
    let result = results[2].as_tool_result().unwrap();
    assert!(result.is_error);
    assert!(test.transcript()[2].contains("out of cheese"), "{}", test.transcript()[2]);
    assert_eq!(test.transcript()[3], "assistant: Done.");
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_reply_that_was_cut_off_do_not_run_and_the_model_may_try_again() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let tool = FnTool::new("write", Tier::Write, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { ToolOutput::text("written") }
    });
    let cut_off = Reply::calls([("write", json!({ "content": "half" }))]).cut_off();
    let test = TestSession::new([cut_off, Reply::text("Shorter.")]).tool(tool).start().await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let stored = test.store.messages();
    let result = stored[2].as_tool_result().unwrap();
    assert!(result.is_error);
    assert_eq!(test.transcript()[3], "assistant: Shorter.");
}

#[tokio::test(start_paused = true)]
async fn a_model_whose_calls_are_cut_off_again_and_again_is_not_asked_for_ever() {
    let cut_off = || Reply::calls([("echo", json!({ "text": "x" }))]).cut_off();
    let test = TestSession::new([cut_off(), cut_off(), cut_off(), cut_off(), cut_off()])
        .tool(EchoTool::new("echo"))
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    assert_eq!(test.client.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_note_that_a_call_starts_is_in_the_store_before_it_runs() {
    let test = TestSession::new([
        Reply::calls([("bash", json!({ "command": "a".repeat(300), "i": "see what is there" }))]),
        Reply::text("Done."),
    ]);
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel::<Vec<Arc<Entry>>>();
    let store = Arc::new(std::sync::OnceLock::<longhand_agent::testing::SharedStore>::new());
    let look = store.clone();
    let tool = FnTool::new("bash", Tier::Exec, move |_, _| {
        sender.send(look.get().unwrap().entries()).unwrap();
        async { ToolOutput::text("ran") }
    });
    let test = test.tool(tool).start().await;
    store.set(test.store.clone()).unwrap();

    test.session.prompt(go()).await.unwrap();

    let entries = seen.recv().await.unwrap();
    let EntryKind::Custom(note) = &entries.last().unwrap().kind else { panic!("no note") };
    assert_eq!(note.custom_type, "tool_execution_start");
    let data = note.data.as_ref().unwrap().value();
    assert_eq!(
        *data,
        json!({
            "toolCallId": "call_1_1",
            "toolName": "bash",
            "args": { "command": format!("{}…", "a".repeat(200)) },
            "intent": "see what is there",
            "startedAt": "2026-01-01T00:00:00.000Z",
        })
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_is_never_marked_useless() {
    let tool = FnTool::new("look", Tier::Read, |arguments: Value, _| async move {
        ToolOutput {
            is_useless: true,
            is_error: arguments["fails"] == json!(true),
            ..ToolOutput::text("nothing")
        }
    });
    let calls = [("look", json!({ "fails": true })), ("look", json!({ "fails": false }))];
    let test =
        TestSession::new([Reply::calls(calls), Reply::text("Done.")]).tool(tool).start().await;

    test.session.prompt(go()).await.unwrap();

    let marks: Vec<Option<bool>> = test
        .store
        .messages()
        .iter()
        .filter_map(|message| message.as_tool_result().map(|result| result.useless))
        .collect();
    assert_eq!(marks, [None, Some(true)]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_tells_of_its_results_in_the_order_of_the_calls() {
    let calls = [("echo", json!({ "text": "a" })), ("echo", json!({ "text": "b" }))];
    let mut test = TestSession::new([Reply::calls(calls), Reply::text("Done.")])
        .tool(EchoTool::new("echo"))
        .start()
        .await;

    test.session.prompt(go()).await.unwrap();

    let turns: Vec<Vec<Arc<Message>>> = drain(&mut test.events)
        .into_iter()
        .filter_map(|event| match event {
            SessionEvent::TurnEnd { tool_results, .. } => Some(tool_results),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [test.store.messages()[2..4].to_vec(), Vec::new()]);
}
