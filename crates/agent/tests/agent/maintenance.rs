//! When maintenance is asked, and what its answers do.

use std::sync::Arc;

use longhand_agent::commit::{Change, Commit, CompactionDraft, Expect};
use longhand_agent::compaction::CompactionResult;
use longhand_agent::maintenance::{Continuation, MaintenanceError, ManualRequest, Verdict};
use longhand_agent::testing::{EchoTool, Reply, TestSession};
use longhand_agent::tool::Tier;
use longhand_agent::{ErrorKind, ModelError, SessionEvent, SessionHandle, UserInput};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::support::{FnMaintenance, FnTool, compaction, drain, hook, pass, until_named};

fn prompt(test: &TestSession) -> JoinHandle<longhand_agent::command::RunEnd> {
    let session = test.session.clone();
    tokio::spawn(async move { session.prompt(UserInput::text("Go")).await.unwrap() })
}

/// Replaces everything before the newest entry by a summary.
async fn commit_compaction(session: &SessionHandle) -> CompactionResult {
    let branch = session.snapshot();
    let result = compaction(branch.leaf.clone().unwrap());
    let draft = CompactionDraft {
        result: result.clone(),
        method: Some("soft".into()),
        from_extension: false,
        tokens_after: None,
        warning: None,
        record: None,
    };
    let expect = Expect {
        leaf_prefix: branch.leaf.clone(),
        epoch: Some(branch.epoch),
        generation: Some(branch.generation),
    };
    let change = Change::Compaction(Box::new(draft));
    session.commit(Commit { expect, change }).await.unwrap();
    result
}

#[tokio::test(start_paused = true)]
async fn maintenance_is_asked_before_the_prompt_between_rounds_and_after_the_run() {
    let maintenance = Arc::new(FnMaintenance::default());
    let test =
        TestSession::new([Reply::calls([("echo", json!({ "text": "hi" }))]), Reply::text("Done.")])
            .tool(EchoTool::new("echo"))
            .maintenance(maintenance.clone())
            .start()
            .await;

    test.session.prompt(UserInput::text("Go")).await.unwrap();

    assert_eq!(maintenance.asked(), ["before_prompt", "between_rounds", "after_run stop"]);
}

#[tokio::test(start_paused = true)]
async fn the_prompt_is_on_the_branch_when_maintenance_is_asked_before_it() {
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let test = TestSession::new([Reply::text("Done.")])
        .maintenance(Arc::new(FnMaintenance {
            before_prompt: Some(hook(move |session, _| {
                sender.send(session.snapshot().live.len()).unwrap();
                async { Verdict::default() }
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    assert_eq!(seen.recv().await, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_compaction_between_rounds_shortens_the_very_next_request() {
    let test =
        TestSession::new([Reply::calls([("echo", json!({ "text": "hi" }))]), Reply::text("Done.")])
            .tool(EchoTool::new("echo"))
            .maintenance(Arc::new(FnMaintenance {
                between_rounds: Some(hook(|session, _| async move {
                    let branch = session.snapshot();
                    let call = branch.entries.iter().find(|entry| {
                        entry.message().is_some_and(|message| message.as_assistant().is_some())
                    });
                    let draft = CompactionDraft {
                        result: compaction(call.unwrap().id.clone()),
                        method: None,
                        from_extension: true,
                        tokens_after: None,
                        warning: None,
                        record: None,
                    };
                    let change = Change::Compaction(Box::new(draft));
                    session.commit(Commit { expect: Expect::default(), change }).await.unwrap();
                    Verdict { rewritten: true, ..Verdict::default() }
                })),
                ..FnMaintenance::default()
            }))
            .start()
            .await;

    test.session.prompt(UserInput::text("Go")).await.unwrap();

    let said = test.request(1);
    assert!(said[0].contains("what was said"), "{}", said[0]);
    assert_eq!(said[1..], [r#"assistant: echo({"text":"hi"})"#, "toolResult: hi"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_request_is_sent_again_when_maintenance_says_so() {
    let overflow = ModelError::new(ErrorKind::ContextOverflow, "prompt is too long");
    let mut test = TestSession::new([Reply::error(overflow), Reply::text("Done.")])
        .maintenance(Arc::new(FnMaintenance {
            after_run: Some(hook(|session, _| async move {
                let is_first = session.snapshot().live.len() == 1;
                let continuation = is_first.then_some(Continuation::Retry);
                Verdict { continuation, ..Verdict::default() }
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;

    let end = test.session.prompt(UserInput::text("Go")).await.unwrap();

    assert_eq!(test.request(0), test.request(1));
    assert_eq!(test.transcript(), ["user: Go", "assistant: Done."]);
    assert_eq!(end.last, test.store.messages().pop());
    let ends = |event: &SessionEvent| matches!(event, SessionEvent::AgentEnd { .. });
    assert_eq!(drain(&mut test.events).iter().filter(|event| ends(event)).count(), 1);
}

/// Asks the model once to go on.
fn asks_to_go_on() -> FnMaintenance {
    FnMaintenance {
        after_run: Some(hook(|session, _| async move {
            let is_first = session.snapshot().live.len() == 2;
            let continuation = is_first.then(|| Continuation::Prompt("Go on.".into()));
            Verdict { continuation, ..Verdict::default() }
        })),
        ..FnMaintenance::default()
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_to_go_on_when_maintenance_says_so() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .maintenance(Arc::new(asks_to_go_on()))
        .start()
        .await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    assert_eq!(
        test.transcript(),
        ["user: Go", "assistant: One.", "developer: Go on.", "assistant: Two."]
    );
}

#[tokio::test(start_paused = true)]
async fn what_the_user_queued_takes_the_place_of_being_told_to_go_on() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .maintenance(Arc::new(FnMaintenance {
            after_run: Some(hook(|session, _| async move {
                let is_first = session.snapshot().live.len() == 2;
                if is_first {
                    session.follow_up(UserInput::text("Mine")).await;
                }
                let continuation = is_first.then(|| Continuation::Prompt("Go on.".into()));
                Verdict { continuation, ..Verdict::default() }
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    assert_eq!(test.transcript(), ["user: Go", "assistant: One.", "user: Mine", "assistant: Two."]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_has_the_last_word_is_not_asked_again() {
    let mut test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .maintenance(Arc::new(FnMaintenance {
            after_run: Some(hook(|_, _| async {
                Verdict { continuation: Some(Continuation::Retry), ..Verdict::default() }
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    assert_eq!(test.client.requests().len(), 1);
    until_named(&mut test.events, "notice").await;
}

#[tokio::test(start_paused = true)]
async fn maintenance_that_panics_ends_the_run_and_not_the_session() {
    let test = TestSession::new([Reply::text("One.")])
        .maintenance(Arc::new(FnMaintenance {
            before_prompt: Some(hook(|session, _| async move {
                assert!(session.snapshot().live.len() > 1, "a defect");
                Verdict::default()
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;

    let end = test.session.prompt(UserInput::text("Go")).await.unwrap();
    assert_eq!(end.last, None);
    test.session.prompt(UserInput::text("Again")).await.unwrap();
    assert_eq!(test.transcript(), ["user: Go", "user: Again", "assistant: One."]);
}

/// Maintenance whose pass waits until it is told to go on, then compacts.
struct Gated {
    begun: Arc<Notify>,
    go_on: Arc<Notify>,
    maintenance: Arc<FnMaintenance>,
}

fn gated(resume: Option<Continuation>) -> Gated {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (begun.clone(), go_on.clone());
    let maintenance = Arc::new(FnMaintenance {
        compact: Some(pass(move |session, cancel| {
            let (tell, wait) = (tell.clone(), wait.clone());
            async move {
                tell.notify_one();
                tokio::select! {
                    () = wait.notified() => Ok(commit_compaction(&session).await),
                    () = cancel.cancelled() => Err(MaintenanceError::Cancelled),
                }
            }
        })),
        resume,
        ..FnMaintenance::default()
    });
    Gated { begun, go_on, maintenance }
}

fn compact(test: &TestSession) -> JoinHandle<Result<CompactionResult, MaintenanceError>> {
    let session = test.session.clone();
    tokio::spawn(async move { session.compact(ManualRequest::default()).await })
}

#[tokio::test(start_paused = true)]
async fn a_pass_of_an_idle_session_starts_no_turn() {
    let Gated { begun, go_on, maintenance } = gated(Some(Continuation::Retry));
    let test = TestSession::new([Reply::text("One.")]).maintenance(maintenance).start().await;
    prompt(&test).await.unwrap();
    let passing = compact(&test);
    begun.notified().await;
    go_on.notify_one();

    passing.await.unwrap().unwrap();
    test.session.take_queue().await;

    assert_eq!(test.client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_second_pass_is_refused_while_one_runs() {
    let Gated { begun, go_on, maintenance } = gated(None);
    let test = TestSession::new([Reply::text("One.")]).maintenance(maintenance).start().await;
    prompt(&test).await.unwrap();
    let passing = compact(&test);
    begun.notified().await;

    let refused = test.session.compact(ManualRequest::default()).await;

    assert!(matches!(refused, Err(MaintenanceError::Busy)));
    go_on.notify_one();
    passing.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_a_pass_interrupts_goes_on_after_it_and_settles_once() {
    let Gated { begun, go_on, maintenance } = gated(Some(Continuation::Prompt("Go on.".into())));
    let mut test = TestSession::new([Reply::hang(), Reply::text("Done.")])
        .maintenance(maintenance)
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;
    let passing = compact(&test);
    begun.notified().await;
    go_on.notify_one();

    passing.await.unwrap().unwrap();
    let end = run.await.unwrap();

    let said = test.request(1);
    assert!(said[0].contains("what was said"), "{}", said[0]);
    assert_eq!(said[1..], ["user: Go", "developer: Go on."]);
    assert_eq!(end.last, test.store.messages().pop());
    let events = drain(&mut test.events);
    let ends: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            SessionEvent::AgentEnd { messages, .. } => Some(messages.len()),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [3], "prompt, order to go on, answer");
}

#[tokio::test(start_paused = true)]
async fn a_turn_goes_on_where_there_was_nothing_to_compact() {
    let maintenance =
        Arc::new(FnMaintenance { resume: Some(Continuation::Retry), ..FnMaintenance::default() });
    let mut test = TestSession::new([Reply::hang(), Reply::text("Done.")])
        .maintenance(maintenance)
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;

    let refused = compact(&test).await.unwrap();
    run.await.unwrap();

    assert!(matches!(refused, Err(MaintenanceError::TooSmall)));
    assert_eq!(test.transcript(), ["user: Go", "assistant: Done."]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_pass_does_not_resume_the_turn_that_it_interrupted() {
    let Gated { begun, maintenance, .. } = gated(Some(Continuation::Retry));
    let mut test = TestSession::new([Reply::hang()]).maintenance(maintenance).start().await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;
    let passing = compact(&test);
    begun.notified().await;

    test.session.abort().await;

    assert!(matches!(passing.await.unwrap(), Err(MaintenanceError::Cancelled)));
    run.await.unwrap();
    assert_eq!(test.client.requests().len(), 1);
    assert_eq!(test.store.entries().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_during_a_pass_waits_and_takes_the_session_instead_of_the_interrupted_turn() {
    let Gated { begun, go_on, maintenance } = gated(Some(Continuation::Prompt("Go on.".into())));
    let mut test = TestSession::new([Reply::hang(), Reply::text("Done.")])
        .maintenance(maintenance)
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "turn_start").await;
    let passing = compact(&test);
    begun.notified().await;
    let session = test.session.clone();
    let typed = tokio::spawn(async move { session.prompt(UserInput::text("Typed")).await });
    tokio::task::yield_now().await;
    go_on.notify_one();

    passing.await.unwrap().unwrap();
    typed.await.unwrap().unwrap();
    run.await.unwrap();

    assert_eq!(test.transcript(), ["user: Go", "user: Typed", "assistant: Done."]);
}

#[tokio::test(start_paused = true)]
async fn steering_during_a_pass_of_an_idle_session_becomes_a_turn() {
    let Gated { begun, go_on, maintenance } = gated(None);
    let mut test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .maintenance(maintenance)
        .start()
        .await;
    prompt(&test).await.unwrap();
    drain(&mut test.events);
    let passing = compact(&test);
    begun.notified().await;
    test.session.steer(UserInput::text("More")).await;
    go_on.notify_one();

    passing.await.unwrap().unwrap();
    until_named(&mut test.events, "agent_end").await;

    assert_eq!(test.transcript()[2..], ["user: More", "assistant: Two."]);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_panics_fails_and_the_session_goes_on() {
    let test = TestSession::new([Reply::text("One.")])
        .maintenance(Arc::new(FnMaintenance {
            compact: Some(pass(|session, _| async move {
                assert!(!session.snapshot().live.is_empty(), "a defect");
                Err(MaintenanceError::TooSmall)
            })),
            ..FnMaintenance::default()
        }))
        .start()
        .await;
    let failed = compact(&test).await.unwrap();
    assert!(matches!(failed, Err(MaintenanceError::Failed(_))));
    prompt(&test).await.unwrap();
    assert_eq!(test.transcript().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_a_pass_waits_for_the_turn_to_end_stops_the_pass_before_it_begins() {
    let maintenance = Arc::new(FnMaintenance::default());
    let stubborn = FnTool::new("stubborn", Tier::Exec, |_, _| std::future::pending());
    let mut test = TestSession::new([Reply::calls([("stubborn", json!({}))])])
        .tool(stubborn)
        .maintenance(maintenance.clone())
        .start()
        .await;
    let run = prompt(&test);
    until_named(&mut test.events, "tool_execution_start").await;
    let passing = compact(&test);
    tokio::task::yield_now().await;

    test.session.abort().await;

    assert!(matches!(passing.await.unwrap(), Err(MaintenanceError::Cancelled)));
    run.await.unwrap();
    assert_eq!(maintenance.asked(), ["before_prompt"]);
}
