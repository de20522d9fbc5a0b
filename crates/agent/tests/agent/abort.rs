//! Stopping: a pass first, else the turn; what was said is kept, and what follows is valid.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longhand_agent::compaction::Trigger;
use longhand_agent::maintenance::Verdict;
use longhand_agent::request::EventStream;
use longhand_agent::testing::{EchoTool, Reply, ScriptedClient, TestSession};
use longhand_agent::tool::{Tier, ToolOutput};
use longhand_agent::{ModelClient, Request, SessionEvent, StreamEvent, UserInput};
use longhand_session::message::StopReason;
use longhand_session::{Model, TokenCounter};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{FnMaintenance, FnTool, drain, hook, until, until_named};

fn prompt(test: &TestSession) -> JoinHandle<longhand_agent::command::RunEnd> {
    let session = test.session.clone();
    tokio::spawn(async move { session.prompt(UserInput::text("Go")).await.unwrap() })
}

fn is_text(event: &SessionEvent) -> bool {
    crate::support::delta_text(std::slice::from_ref(event)).contains("Half")
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_the_stream_keeps_what_came_and_says_who_stopped_it() {
    let mut test = TestSession::new([Reply::text("Half an answer").hanging()]).start().await;
    let before = test.session.snapshot().generation;
    let run = prompt(&test);
    until(&mut test.events, is_text).await;

    test.session.abort().await;
    let end = run.await.unwrap();

    let stored = test.store.messages();
    let reply = stored[1].as_assistant().unwrap();
    assert_eq!(reply.text(""), "Half an answer");
    assert_eq!(reply.stop_reason, StopReason::Aborted);
    assert_eq!(reply.error_message.as_deref(), Some("Interrupted by user"));
    assert_eq!(end.last.as_ref(), Some(&stored[1]));
    assert_eq!(test.session.snapshot().generation.0, before.0 + 1);
}

#[tokio::test(start_paused = true)]
async fn an_abort_before_anything_came_stores_no_answer() {
    let mut test = TestSession::new([Reply::hang(), Reply::text("Done.")]).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;

    test.session.abort().await;
    let end = run.await.unwrap();

    assert_eq!(end.last.unwrap().as_assistant().unwrap().stop_reason, StopReason::Aborted);
    assert_eq!(test.transcript(), ["user: Go"]);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_stopped_answer_get_results_and_are_not_run() {
    let reply = Reply::calls([("echo", json!({ "text": "a" }))]).after_text("Half").hanging();
    let mut test = TestSession::new([reply]).tool(EchoTool::new("echo")).start().await;
    let run = prompt(&test);
    until(&mut test.events, is_text).await;

    test.session.abort().await;
    run.await.unwrap();

    assert_eq!(
        test.transcript()[1..],
        [r#"assistant: Half echo({"text":"a"})"#, "toolResult: aborted"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_a_tool_takes_its_result_and_answers_the_calls_after_it() {
    let tool = FnTool::new("wait", Tier::Exec, |_, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        ToolOutput::error("stopped after 3 lines")
    });
    let calls = [("wait", json!({})), ("wait", json!({}))];
    let mut test =
        TestSession::new([Reply::calls(calls), Reply::text("Done.")]).tool(tool).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "tool_execution_start").await;

    test.session.abort().await;
    run.await.unwrap();
    test.session.prompt(UserInput::text("Again")).await.unwrap();

    assert_eq!(
        test.request(1),
        [
            "user: Go",
            "assistant: wait({}) wait({})",
            "toolResult: stopped after 3 lines",
            "toolResult: Not run: the user stopped the turn.",
            "user: Again",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_end_is_left_behind_after_three_seconds() {
    let tool = FnTool::new("stuck", Tier::Exec, |_, _| std::future::pending());
    let mut test =
        TestSession::new([Reply::calls([("stuck", json!({}))])]).tool(tool).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "tool_execution_start").await;
    let stopped_at = tokio::time::Instant::now();

    test.session.abort().await;
    run.await.unwrap();

    assert_eq!(stopped_at.elapsed().as_secs(), 3, "by the paused clock");
    assert_eq!(test.transcript()[2], "toolResult: aborted: the tool did not end in time");
}

/// A model that neither answers nor listens.
struct Deaf(ScriptedClient);

#[async_trait]
impl ModelClient for Deaf {
    fn model(&self) -> &Arc<Model> {
        self.0.model()
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        self.0.counter()
    }

    fn stream(&self, _: Request, _: CancellationToken) -> EventStream {
        let said = [
            StreamEvent::Start,
            StreamEvent::TextDelta { index: 0, delta: "Half".into() },
            StreamEvent::ToolCallStart { index: 1, name: "echo".into() },
        ];
        let stream =
            futures::StreamExt::chain(futures::stream::iter(said), futures::stream::pending());
        Box::pin(stream)
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_end_is_dropped_and_what_came_is_kept() {
    let mut test = TestSession::new([])
        .configure(|config| config.client = Arc::new(Deaf(ScriptedClient::new([]))))
        .start()
        .await;
    let run = prompt(&test);
    until(&mut test.events, is_text).await;

    test.session.abort().await;
    tokio::time::timeout(Duration::from_secs(4), run).await.unwrap().unwrap();

    assert_eq!(test.transcript(), ["user: Go", "assistant: Half"]);
    let stored = test.store.messages();
    assert_eq!(stored[1].as_assistant().unwrap().stop_reason, StopReason::Aborted);
}

/// A pass that runs until it is stopped, and tells so.
fn endless_pass(stopped: Arc<Notify>) -> Arc<FnMaintenance> {
    Arc::new(FnMaintenance {
        before_prompt: Some(hook(move |session, cancel| {
            let stopped = stopped.clone();
            async move {
                let action = "context-full".to_owned();
                let reason = Trigger::Threshold;
                session
                    .emit(SessionEvent::AutoCompactionStart { reason, action: action.clone() })
                    .await;
                cancel.cancelled().await;
                stopped.notify_one();
                session
                    .emit(SessionEvent::AutoCompactionEnd {
                        action,
                        result: None,
                        aborted: true,
                        will_retry: false,
                        error_message: None,
                        skipped: false,
                        fallback: false,
                    })
                    .await;
                Verdict::default()
            }
        })),
        ..FnMaintenance::default()
    })
}

#[tokio::test(start_paused = true)]
async fn an_abort_during_a_pass_stops_the_pass_and_the_prompt_is_sent() {
    let stopped = Arc::new(Notify::new());
    let mut test = TestSession::new([Reply::text("Done.")])
        .maintenance(endless_pass(stopped.clone()))
        .start()
        .await;
    let before = test.session.snapshot().generation;
    let run = prompt(&test);
    until_named(&mut test.events, "auto_compaction_start").await;

    test.session.abort().await;
    stopped.notified().await;
    run.await.unwrap();

    assert_eq!(test.transcript(), ["user: Go", "assistant: Done."]);
    assert_eq!(
        test.session.snapshot().generation.0,
        before.0 + 1,
        "what the pass had planned is void"
    );
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_maintenance_only_looks_stops_the_turn() {
    let mut test = TestSession::new([Reply::text("Done.")])
        .maintenance(Arc::new(FnMaintenance {
            before_prompt: Some(hook(|session, cancel| async move {
                session.emit(notice()).await;
                cancel.cancelled().await;
                Verdict::default()
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "notice").await;

    test.session.abort().await;
    run.await.unwrap();

    assert_eq!(test.client.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_does_not_end_is_left_behind_and_ends_for_those_who_listen() {
    let mut test = TestSession::new([Reply::text("Done.")])
        .maintenance(Arc::new(FnMaintenance {
            before_prompt: Some(hook(|session, _| async move {
                let (reason, action) = (Trigger::Threshold, "soft".to_owned());
                session.emit(SessionEvent::AutoCompactionStart { reason, action }).await;
                std::future::pending().await
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "auto_compaction_start").await;

    test.session.abort().await;

    tokio::time::timeout(Duration::from_secs(4), run).await.unwrap().unwrap();
    until_named(&mut test.events, "auto_compaction_end").await;
    assert_eq!(test.transcript(), ["user: Go", "assistant: Done."]);
}

fn notice() -> SessionEvent {
    SessionEvent::Notice {
        level: longhand_agent::event::NoticeLevel::Info,
        message: "looking".into(),
        source: "test".into(),
        code: None,
    }
}

#[tokio::test(start_paused = true)]
async fn maintenance_is_not_asked_after_an_aborted_turn() {
    let maintenance = Arc::new(FnMaintenance::default());
    let mut test = TestSession::new([Reply::hang()]).maintenance(maintenance.clone()).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;

    test.session.abort().await;
    run.await.unwrap();

    assert_eq!(maintenance.asked(), ["before_prompt"]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_where_nothing_runs_changes_nothing() {
    let mut test = TestSession::new([]).start().await;
    let before = test.session.snapshot().generation;

    test.session.abort().await;
    test.session.take_queue().await;

    assert_eq!(test.session.snapshot().generation, before);
    assert_eq!(crate::support::names(&drain(&mut test.events)), ["queue_changed"]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_just_before_maintenance_is_asked_stops_that_too() {
    let mut test = TestSession::new([Reply::text("Done.")])
        .maintenance(Arc::new(FnMaintenance {
            after_run: Some(hook(|_, cancel| async move {
                cancel.cancelled().await;
                Verdict::default()
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    let run = prompt(&test);
    // A task of its own hears of the end of the turn before the run goes on.
    tokio::spawn(async move {
        until_named(&mut test.events, "turn_end assistant").await;
        test.session.abort().await;
    });

    tokio::time::timeout(Duration::from_secs(1), run).await.unwrap().unwrap();
}
