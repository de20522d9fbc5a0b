//! A plain turn: from the prompt to its end, in the store and in events.

use longhand_agent::command::PromptError;
use longhand_agent::testing::{EchoTool, Reply, TestSession, usage};
use longhand_agent::{ErrorKind, ModelError, SessionEvent, UserInput};
use longhand_session::message::StopReason;
use serde_json::json;

use crate::support::{delta_text, drain, names};

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_and_both_messages_are_stored() {
    let test = TestSession::new([Reply::text("Good morning.")]).start().await;

    let end = test.session.prompt(UserInput::text("Hello")).await.unwrap();

    assert_eq!(test.transcript(), ["user: Hello", "assistant: Good morning."]);
    assert_eq!(end.last, test.store.messages().last().cloned());
    assert!(!end.approval_was_needed);
}

#[tokio::test(start_paused = true)]
async fn events_of_a_turn_come_in_order() {
    let mut test = TestSession::new([Reply::text("Good morning.")]).start().await;

    test.session.prompt(UserInput::text("Hello")).await.unwrap();

    let events = drain(&mut test.events);
    let pieces_left_out: Vec<String> =
        names(&events).into_iter().filter(|name| name != "message_update").collect();
    assert_eq!(
        pieces_left_out,
        [
            "agent_start",
            "message_start user",
            "message_end user",
            "turn_start",
            "message_start assistant",
            "message_end assistant",
            "context_usage",
            "turn_end assistant",
            "agent_end",
        ]
    );
    assert_eq!(delta_text(&events), "Good morning.");
}

#[tokio::test(start_paused = true)]
async fn a_message_is_in_the_store_before_anybody_hears_that_it_is_complete() {
    let mut test = TestSession::new([
        Reply::calls([("echo", json!({ "text": "hi" }))]).after_text("I call."),
        Reply::text("Done."),
    ])
    .tool(EchoTool::new("echo"))
    .start()
    .await;
    let (session, store) = (test.session.clone(), test.store.clone());
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Hello")).await });

    let mut heard = 0;
    while let Some(event) = test.events.next().await {
        match event.event {
            SessionEvent::MessageEnd { message, entry_id } => {
                let id = entry_id.expect("all of these are stored");
                let stored = store.entries().into_iter().find(|entry| entry.id == id);
                assert_eq!(stored.and_then(|entry| entry.message().cloned()), Some(message));
                heard += 1;
            }
            SessionEvent::AgentEnd { .. } => break,
            _ => {}
        }
    }
    run.await.unwrap().unwrap();
    assert_eq!(heard, 4);
}

#[tokio::test(start_paused = true)]
async fn the_next_prompt_sends_the_whole_conversation() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")])
        .configure(|config| config.system = vec!["Be brief.".into()])
        .start()
        .await;

    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.session.prompt(UserInput::text("Second")).await.unwrap();

    let requests = test.client.requests();
    let said: Vec<&str> = requests[1].messages.iter().map(|message| message.role()).collect();
    assert_eq!(said, ["user", "assistant", "user"]);
    assert_eq!(requests[1].system, ["Be brief.".into()]);
    assert_eq!(requests[1].options.cache_key.as_deref(), Some("test"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_prompt_is_refused() {
    let test = TestSession::new([]).start().await;
    let refused = test.session.prompt(UserInput::text(" \n")).await;
    assert!(matches!(refused, Err(PromptError::Empty)));
    assert!(test.store.entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_during_a_run_is_refused_as_busy() {
    let mut test = TestSession::new([Reply::hang()]).start().await;
    let session = test.session.clone();
    let first = tokio::spawn(async move { session.prompt(UserInput::text("First")).await });
    crate::support::until_named(&mut test.events, "turn_start").await;

    let second = test.session.prompt(UserInput::text("Second")).await;

    assert!(matches!(second, Err(PromptError::Busy)));
    test.session.abort().await;
    first.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_said_nothing_is_heard_of_and_not_stored() {
    let failure = ModelError::new(ErrorKind::AuthFailed, "the key is wrong");
    let mut test = TestSession::new([Reply::error(failure)]).start().await;

    let end = test.session.prompt(UserInput::text("Hello")).await.unwrap();

    let last = end.last.unwrap();
    let reply = last.as_assistant().unwrap();
    assert_eq!(reply.stop_reason, StopReason::Error);
    assert_eq!(reply.error_message.as_deref(), Some("the key is wrong"));
    assert_eq!(test.transcript(), ["user: Hello"]);
    let ends = drain(&mut test.events).into_iter().filter_map(|event| match event {
        SessionEvent::MessageEnd { message, entry_id } => Some((message, entry_id)),
        _ => None,
    });
    assert_eq!(ends.last(), Some((last, None)));
}

#[tokio::test(start_paused = true)]
async fn the_context_size_is_what_the_provider_measured() {
    let mut test = TestSession::new([Reply::text("Hi.").usage(usage(1_000, 50))]).start().await;

    test.session.prompt(UserInput::text("Hello")).await.unwrap();

    let usages: Vec<_> = drain(&mut test.events)
        .into_iter()
        .filter(|event| matches!(event, SessionEvent::ContextUsage { .. }))
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    assert_eq!(
        usages,
        [
            json!({ "type": "context_usage", "tokens": 1_050, "window": 100_000, "source": "measured" })
        ]
    );
}
