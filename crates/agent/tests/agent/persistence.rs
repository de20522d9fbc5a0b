//! What happens when the store fails, and how a session ends.

use std::time::Duration;

use longhand_agent::command::{CloseError, PromptError};
use longhand_agent::commit::{Change, Commit, CommitError, Expect, PatchSet};
use longhand_agent::testing::{Reply, TestSession};
use longhand_agent::{SessionEvent, UserInput};
use longhand_session::entry::EntryKind;
use longhand_session::store::IndexRow;
use longhand_session::{Entry, Tree};
use serde_json::json;

use crate::support::{drain, until_named};

fn failures(events: &[SessionEvent]) -> usize {
    events.iter().filter(|event| matches!(event, SessionEvent::PersistenceError { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn a_failure_to_write_is_told_once_and_the_conversation_goes_on() {
    let mut test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.store.fail();

    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.session.prompt(UserInput::text("Second")).await.unwrap();

    let heard = drain(&mut test.events);
    assert_eq!(failures(&heard), 1);
    let told = heard.iter().find_map(|event| match event {
        SessionEvent::PersistenceError { message } => Some(message.as_str()),
        _ => None,
    });
    assert_eq!(told, Some("cannot append to `memory`: no storage space"));
    assert_eq!(test.request(1), ["user: First", "assistant: One.", "user: Second"]);
    assert!(test.store.entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn later_listeners_are_told_while_the_failure_lasts() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let mut later = test.session.subscribe().await.unwrap();
    assert_eq!(failures(&drain(&mut later)), 1);

    test.store.recover();
    test.session.prompt(UserInput::text("Second")).await.unwrap();
    let mut latest = test.session.subscribe().await.unwrap();
    assert_eq!(failures(&drain(&mut latest)), 0);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_is_written_first_with_the_next_success() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.store.recover();
    test.session.prompt(UserInput::text("Second")).await.unwrap();

    assert_eq!(
        test.transcript(),
        ["user: First", "assistant: One.", "user: Second", "assistant: Two."]
    );
    test.session.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn unwritten_entries_can_be_read() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let transcript = test.session.transcript().await.unwrap().unwrap();
    assert_eq!(transcript.messages.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_close_says_when_part_of_the_transcript_is_only_in_memory() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let closed = test.session.close().await;
    assert!(matches!(closed, Err(CloseError::NotDurable(_))));
}

#[tokio::test(start_paused = true)]
async fn a_close_tries_once_more() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.store.recover();
    test.session.close().await.unwrap();
    assert_eq!(test.transcript(), ["user: First", "assistant: One."]);
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_cannot_be_written_is_refused_and_changes_nothing() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let before = test.session.snapshot();
    let changed = Entry { parent_id: Some("other".into()), ..Entry::clone(&before.entries[1]) };
    test.store.fail();

    let change = Change::Patch(PatchSet { replace: vec![changed.into()], record: None });
    let refused = test.session.commit(Commit { expect: Expect::default(), change }).await;

    assert!(matches!(refused, Err(CommitError::Store(_))));
    assert_eq!(test.session.snapshot().entries, before.entries);
    assert_eq!(test.session.snapshot().epoch, before.epoch);
}

#[tokio::test(start_paused = true)]
async fn a_patch_of_unwritten_entries_writes_them_as_they_become() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.store.fail();
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.store.recover();
    let mut entry = Entry::clone(&test.session.snapshot().entries[0]);
    let EntryKind::Message(inner) = &mut entry.kind else { panic!("no message") };
    inner.message = longhand_session::Message::user("Shorter", 1).into();

    let change = Change::Patch(PatchSet { replace: vec![entry.into()], record: None });
    test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();

    assert_eq!(test.transcript(), ["user: Shorter", "assistant: One."]);
}

#[tokio::test(start_paused = true)]
async fn turns_in_quick_succession_are_made_safe_from_power_loss_at_most_once_a_second() {
    let replies = (0..5).map(|_| Reply::text("Yes."));
    let test = TestSession::new(replies).start().await;
    for _ in 0..5 {
        test.session.prompt(UserInput::text("And?")).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(test.store.syncs(), 2, "the first turn at once, the others together");
}

#[tokio::test(start_paused = true)]
async fn a_close_notes_that_the_process_ended_in_order() {
    let mut test = TestSession::new([Reply::text("One.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();

    test.session.close().await.unwrap();

    let entries = test.store.entries();
    let EntryKind::Custom(exit) = &entries[2].kind else { panic!("no note") };
    assert_eq!(exit.custom_type, "session_exit");
    assert_eq!(
        *exit.data.as_ref().unwrap().value(),
        json!({ "reason": "close", "kind": "normal", "recordedAt": "2026-01-01T00:00:00.000Z" })
    );
    while test.events.next().await.is_some() {}
    let refused = test.session.prompt(UserInput::text("Late")).await;
    assert!(matches!(refused, Err(PromptError::Closed)));
}

#[tokio::test(start_paused = true)]
async fn a_session_in_which_nobody_said_anything_leaves_nothing() {
    let test = TestSession::new([]).start().await;
    test.session.set_model(test.client.clone()).await;
    test.session.close().await.unwrap();
    assert!(test.store.entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_close_during_a_run_stops_it_and_keeps_what_came() {
    let mut test = TestSession::new([Reply::text("Half").hanging()]).start().await;
    let session = test.session.clone();
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });
    until_named(&mut test.events, "message_update").await;

    test.session.close().await.unwrap();

    run.await.unwrap().unwrap();
    assert_eq!(test.transcript(), ["user: Go", "assistant: Half"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_in_order_when_its_last_handle_is_dropped() {
    let test = TestSession::new([Reply::text("One.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let TestSession { session, store, mut events, .. } = test;
    drop(session);
    while events.next().await.is_some() {}
    assert_eq!(store.entries().len(), 3, "the note of its end came last");
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_was_moved_is_where_the_session_goes_on_after_a_restart() {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.session.prompt(UserInput::text("Second")).await.unwrap();
    let first_answer = test.store.entries()[1].id.clone();
    let change = Change::MoveLeaf(Some(first_answer.clone()));
    test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();

    test.session.close().await.unwrap();

    let entries = test.store.entries();
    let tree = Tree::new(entries.iter().map(|entry| IndexRow::from(&**entry)));
    let path = tree.active_path();
    assert!(path.contains(&first_answer));
    assert!(!path.contains(&entries[2].id));
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_fails_is_told_of_once_and_tried_again() {
    let mut test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    test.session.prompt(UserInput::text("Second")).await.unwrap();
    test.store.fail();

    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(failures(&drain(&mut test.events)), 1);
    assert_eq!(test.store.syncs(), 1);

    test.store.recover();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(test.store.syncs(), 2);
}
