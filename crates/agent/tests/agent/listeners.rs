//! Listeners: nobody waits for them, and a slow one misses nothing.

use longhand_agent::testing::{Reply, TestSession};
use longhand_agent::{SessionEvent, UserInput};
use serde_json::json;

use crate::support::{delta_text, drain, until_named};

#[tokio::test(start_paused = true)]
async fn a_thousand_pieces_merge_for_a_listener_that_does_not_read_and_no_text_is_lost() {
    let said = "sixteen letters ".repeat(1_000);
    let mut test = TestSession::new([Reply::text(said.clone())]).start().await;

    test.session.prompt(UserInput::text("Go")).await.unwrap();

    let events = drain(&mut test.events);
    assert_eq!(delta_text(&events), said);
    let updates =
        events.iter().filter(|event| matches!(event, SessionEvent::MessageUpdate { .. })).count();
    assert_eq!(updates, 4, "start, text, end of the block, end of the message");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_never_reads_holds_nobody_up() {
    let mut test =
        TestSession::new([Reply::text("x".repeat(100_000)), Reply::text("y".repeat(100_000))])
            .start()
            .await;
    let silent = test.session.subscribe().await.unwrap();

    test.session.prompt(UserInput::text("Go")).await.unwrap();
    test.session.prompt(UserInput::text("Go")).await.unwrap();

    assert_eq!(delta_text(&drain(&mut test.events)).len(), 200_000);
    drop(silent);
}

#[tokio::test(start_paused = true)]
async fn numbers_of_events_rise() {
    let mut test = TestSession::new([Reply::text("Hi there, and good morning.")]).start().await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    let numbers: Vec<u64> =
        std::iter::from_fn(|| test.events.try_next()).map(|event| event.seq).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn the_message_so_far_grows_with_its_pieces() {
    let reply = Reply::calls([("echo", json!({ "text": "hi" }))]).after_text("I call.");
    let mut test = TestSession::new([reply, Reply::text("Done.")]).start().await;
    let session = test.session.clone();
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });

    let events = until_named(&mut test.events, "message_end assistant").await;
    run.await.unwrap().unwrap();

    let mut heard = String::new();
    for event in events {
        heard.push_str(&delta_text(std::slice::from_ref(&event)));
        if let SessionEvent::MessageUpdate { partial, .. } = event {
            assert_eq!(partial.text(""), heard);
        }
    }
    assert_eq!(heard, "I call.");
}
