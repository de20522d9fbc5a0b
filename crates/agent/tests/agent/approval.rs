//! Calls that wait for the user, and what becomes of them.

use longhand_agent::testing::{EchoTool, Reply, TestConfig, TestSession};
use longhand_agent::tool::{ApprovalAnswer, Tier};
use longhand_agent::{Asking, SessionEvent, UserInput};
use longhand_session::ToolCallId;
use serde_json::json;

use crate::support::{AskingGate, drain, until};

fn two_calls() -> TestConfig {
    let calls = [("write", json!({ "text": "a" })), ("write", json!({ "text": "b" }))];
    TestSession::new([Reply::calls(calls), Reply::text("Done.")])
        .tool(EchoTool::of_tier("write", Tier::Write))
}

/// Answers the questions of a run in order, and waits until it has settled. Gives its end.
async fn answered(
    test: &mut TestSession,
    answers: Vec<ApprovalAnswer>,
) -> longhand_agent::command::RunEnd {
    let session = test.session.clone();
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });
    for answer in answers {
        let is_question =
            |event: &SessionEvent| matches!(event, SessionEvent::ApprovalRequest { .. });
        let heard = until(&mut test.events, is_question).await;
        let Some(SessionEvent::ApprovalRequest { tool_call_id, question }) = heard.last() else {
            panic!("no question")
        };
        assert_eq!(question.tool_name, "write");
        test.session.answer(tool_call_id.clone(), answer).await;
    }
    run.await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_asked_about_runs_after_a_yes_and_not_after_a_no() {
    let gate = AskingGate::default();
    let mut test = two_calls().gate(gate.clone(), Asking::Interactive).start().await;
    let no = ApprovalAnswer::No { reason: Some("use another file".into()) };

    answered(&mut test, vec![ApprovalAnswer::Yes, no.clone()]).await;

    assert_eq!(
        test.transcript()[2..],
        [
            "toolResult: a",
            "toolResult: Not run: the user refused: use another file",
            "assistant: Done."
        ]
    );
    assert_eq!(*gate.answers.lock().unwrap(), [ApprovalAnswer::Yes, no]);
}

#[tokio::test(start_paused = true)]
async fn each_question_ends_when_it_is_answered() {
    let mut test = two_calls().gate(AskingGate::default(), Asking::Interactive).start().await;
    answered(&mut test, vec![ApprovalAnswer::Always, ApprovalAnswer::Always]).await;
    let ended = drain(&mut test.events)
        .into_iter()
        .filter(|event| matches!(event, SessionEvent::ApprovalEnd { .. }))
        .count();
    assert_eq!(ended, 1, "the end of the first was heard before the second question");
}

#[tokio::test(start_paused = true)]
async fn a_stop_refuses_the_call_and_ends_the_turn_with_a_result_for_every_call() {
    let mut test = two_calls().gate(AskingGate::default(), Asking::Interactive).start().await;
    let before = test.session.snapshot().generation;

    answered(&mut test, vec![ApprovalAnswer::Stop]).await;

    assert_eq!(
        test.transcript()[2..],
        [
            "toolResult: Not run: the user refused and stopped the turn.",
            "toolResult: Not run: the user stopped the turn.",
        ]
    );
    assert_eq!(test.client.requests().len(), 1);
    assert_eq!(test.session.snapshot().generation.0, before.0 + 1);
}

#[tokio::test(start_paused = true)]
async fn an_abort_voids_the_question() {
    let mut test = two_calls().gate(AskingGate::default(), Asking::Interactive).start().await;
    let session = test.session.clone();
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });
    until(&mut test.events, |event| matches!(event, SessionEvent::ApprovalRequest { .. })).await;

    test.session.abort().await;
    run.await.unwrap().unwrap();
    test.session.answer(ToolCallId::from("call_1_1"), ApprovalAnswer::Yes).await;

    assert_eq!(test.transcript()[2..], ["toolResult: Not run: the user stopped the turn."; 2]);
    let ends = |event: &SessionEvent| matches!(event, SessionEvent::ApprovalEnd { .. });
    assert_eq!(drain(&mut test.events).iter().filter(|event| ends(event)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_be_asked_the_call_fails_by_the_name_of_the_flag() {
    let test = two_calls().gate(AskingGate::default(), Asking::Nobody).start().await;

    let end = test.session.prompt(UserInput::text("Go")).await.unwrap();

    assert!(end.approval_was_needed);
    assert!(test.transcript()[2].contains("`--approval-mode`"), "{}", test.transcript()[2]);
    assert_eq!(test.transcript()[4], "assistant: Done.");
}
