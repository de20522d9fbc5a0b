//! Steering and follow-ups: delivered once, in order, at their time, and never lost.

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::maintenance::Verdict;
use longhand_agent::testing::{EchoTool, Reply, TestSession};
use longhand_agent::tool::{Tier, ToolOutput};
use longhand_agent::{SessionEvent, UserInput};
use longhand_session::Message;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{FnMaintenance, FnTool, drain, hook, until_named};

/// A tool that ends when it is told to.
fn gate_tool(open: Arc<Notify>) -> FnTool {
    FnTool::new("wait", Tier::Read, move |_, _| {
        let open = open.clone();
        async move {
            open.notified().await;
            ToolOutput::text("waited")
        }
    })
}

/// Sends a prompt whose answer comes later.
fn prompt(test: &TestSession) -> tokio::task::JoinHandle<()> {
    let session = test.session.clone();
    tokio::spawn(async move {
        session.prompt(UserInput::text("Go")).await.unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn steering_rides_on_the_next_request_after_the_running_calls_in_order() {
    let open = Arc::new(Notify::new());
    let mut test = TestSession::new([Reply::calls([("wait", json!({}))]), Reply::text("Done.")])
        .tool(gate_tool(open.clone()))
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "tool_execution_start").await;

    test.session.steer(UserInput::text("One")).await;
    test.session.steer(UserInput::text("Two")).await;
    open.notify_one();
    run.await.unwrap();

    assert_eq!(
        test.transcript(),
        [
            "user: Go",
            "assistant: wait({})",
            "toolResult: waited",
            "user: One",
            "user: Two",
            "assistant: Done.",
        ]
    );
    assert_eq!(test.client.requests().len(), 2);
    let steering = |message: &Arc<Message>| match &**message {
        Message::User(said) => Some(said.steering),
        _ => None,
    };
    let marks: Vec<_> = test.store.messages().iter().filter_map(steering).collect();
    assert_eq!(marks, [None, Some(true), Some(true)]);
}

#[tokio::test(start_paused = true)]
async fn steering_that_comes_with_the_last_word_gets_a_turn_of_its_own() {
    let slow = Reply::text("One.").delayed(Duration::from_secs(1));
    let mut test = TestSession::new([slow, Reply::text("Two.")]).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;

    test.session.steer(UserInput::text("And this?")).await;
    run.await.unwrap();

    assert_eq!(
        test.transcript(),
        ["user: Go", "assistant: One.", "user: And this?", "assistant: Two."]
    );
}

#[tokio::test(start_paused = true)]
async fn follow_ups_run_after_the_answer_one_by_one() {
    let open = Arc::new(Notify::new());
    let mut test = TestSession::new([
        Reply::calls([("wait", json!({}))]),
        Reply::text("One."),
        Reply::text("Two."),
        Reply::text("Three."),
    ])
    .tool(gate_tool(open.clone()))
    .start()
    .await;
    let run = prompt(&test);
    until_named(&mut test.events, "tool_execution_start").await;
    test.session.follow_up(UserInput::text("Second")).await;
    test.session.follow_up(UserInput::text("Third")).await;
    open.notify_one();
    run.await.unwrap();

    assert_eq!(
        test.transcript()[3..],
        ["assistant: One.", "user: Second", "assistant: Two.", "user: Third", "assistant: Three."]
    );
    let ends = |event: &SessionEvent| matches!(event, SessionEvent::AgentEnd { .. });
    assert_eq!(drain(&mut test.events).iter().filter(|event| ends(event)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn steering_and_follow_ups_start_a_run_where_none_is_going_on() {
    let mut test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;

    test.session.steer(UserInput::text("First")).await;
    until_named(&mut test.events, "agent_end").await;
    test.session.follow_up(UserInput::text("Second")).await;
    until_named(&mut test.events, "agent_end").await;

    assert_eq!(
        test.transcript(),
        ["user: First", "assistant: One.", "user: Second", "assistant: Two."]
    );
}

#[tokio::test(start_paused = true)]
async fn input_that_comes_while_maintenance_looks_at_the_finished_run_is_the_next_turn() {
    let looking = Arc::new(Notify::new());
    let done = Arc::new(Notify::new());
    let (begun, end) = (looking.clone(), done.clone());
    let maintenance = Arc::new(FnMaintenance {
        after_run: Some(hook(move |_, _| {
            let (begun, end) = (begun.clone(), end.clone());
            async move {
                begun.notify_one();
                end.notified().await;
                Verdict::default()
            }
        })),
        ..FnMaintenance::default()
    });
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .maintenance(maintenance.clone())
        .start()
        .await;
    let run = prompt(&test);
    looking.notified().await;
    test.session.steer(UserInput::text("More")).await;
    done.notify_one();
    looking.notified().await;
    done.notify_one();
    run.await.unwrap();

    assert_eq!(test.transcript(), ["user: Go", "assistant: One.", "user: More", "assistant: Two."]);
    assert_eq!(maintenance.asked(), ["before_prompt", "after_run stop", "after_run stop"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_queued_is_shown_and_can_be_taken_back_steering_first() {
    let mut test = TestSession::new([Reply::hang()]).tool(EchoTool::new("echo")).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;

    test.session.follow_up(UserInput::text("later")).await;
    test.session.steer(UserInput::text("now")).await;
    let taken = test.session.take_queue().await;

    assert_eq!(taken, [UserInput::text("now"), UserInput::text("later")]);
    let shown: Vec<_> = drain(&mut test.events)
        .into_iter()
        .filter_map(|event| match event {
            SessionEvent::QueueChanged { steering, follow_up } => Some((steering, follow_up)),
            _ => None,
        })
        .collect();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [
            (texts(&[]), texts(&["later"])),
            (texts(&["now"]), texts(&["later"])),
            (texts(&[]), texts(&[])),
        ]
    );
    test.session.abort().await;
    run.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_an_abort_left_in_the_queue_is_delivered_with_the_next_prompt() {
    let mut test = TestSession::new([Reply::hang(), Reply::text("Done.")]).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;
    test.session.steer(UserInput::text("Queued")).await;
    test.session.abort().await;
    run.await.unwrap();

    test.session.prompt(UserInput::text("Again")).await.unwrap();

    assert_eq!(test.transcript(), ["user: Go", "user: Again", "user: Queued", "assistant: Done."]);
}
