//! The write door: what is accepted, what is refused, and what a commit leaves behind.

use std::sync::Arc;

use async_trait::async_trait;
use longhand_agent::commit::{Change, Commit, CommitError, CompactionDraft, Expect, PatchSet};
use longhand_agent::compaction::Trigger;
use longhand_agent::maintenance::MaintenanceRecord;
use longhand_agent::request::EventStream;
use longhand_agent::testing::{Reply, ScriptedClient, SharedStore, TestConfig, TestSession, usage};
use longhand_agent::{ModelClient, Request, SessionEvent, UserInput};
use longhand_session::entry::{CustomEntry, EntryKind};
use longhand_session::message::Message;
use longhand_session::{Entry, EntryId, Fragment, Header, MemoryStore, Model, TokenCounter};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{compaction, drain, names};

/// A session in which two prompts were answered.
async fn two_turns() -> TestSession {
    let test = TestSession::new([
        Reply::text("One.").usage(usage(500, 10)),
        Reply::text("Two.").usage(usage(700, 10)),
    ])
    .start()
    .await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.session.prompt(UserInput::text("Second")).await.unwrap();
    test
}

/// What holds now.
fn now(test: &TestSession) -> Expect {
    let branch = test.session.snapshot();
    Expect {
        leaf_prefix: branch.leaf.clone(),
        epoch: Some(branch.epoch),
        generation: Some(branch.generation),
    }
}

fn note(text: &str) -> Change {
    let data = Some(json!(text).into());
    let note = CustomEntry { custom_type: "note".into(), data, ..CustomEntry::default() };
    Change::Append(vec![EntryKind::Custom(note).into()])
}

fn compacting_to_second(test: &TestSession) -> CompactionDraft {
    let branch = test.session.snapshot();
    CompactionDraft {
        result: compaction(branch.entries[2].id.clone()),
        method: Some("soft".into()),
        from_extension: false,
        tokens_after: Some(40),
        warning: None,
        record: Some(MaintenanceRecord {
            kind: "compaction".into(),
            entry_id: None,
            trigger: Trigger::Threshold,
            method: "soft".into(),
            attempts: Vec::new(),
            tokens_before: 100,
            tokens_after: 40,
            duration_ms: 5,
            model: None,
            usage: None,
        }),
    }
}

async fn compact(test: &TestSession, expect: Expect) -> Result<Vec<Arc<Entry>>, CommitError> {
    let change = Change::Compaction(Box::new(compacting_to_second(test)));
    Ok(test.session.commit(Commit { expect, change }).await?.entries)
}

#[tokio::test(start_paused = true)]
async fn a_compaction_shortens_what_the_model_sees_and_keeps_everything_in_the_store() {
    let test = two_turns().await;
    let before = test.session.snapshot();

    compact(&test, now(&test)).await.unwrap();

    let branch = test.session.snapshot();
    let roles: Vec<&str> = branch.live.iter().map(|message| message.role()).collect();
    assert_eq!(roles, ["compactionSummary", "user", "assistant"]);
    assert_eq!(branch.epoch.0, before.epoch.0 + 1);
    assert_eq!(branch.generation, before.generation);
    assert_eq!(test.transcript().len(), 4);
    assert_eq!(branch.entries[0].id, before.entries[2].id, "older entries are out of the window");
}

#[tokio::test(start_paused = true)]
async fn the_record_of_a_pass_goes_with_its_compaction_and_names_it() {
    let test = two_turns().await;

    let entries = compact(&test, now(&test)).await.unwrap();

    let EntryKind::Custom(record) = &entries[1].kind else { panic!("no record") };
    assert_eq!(record.custom_type, "maintenance_record");
    let data = record.data.as_ref().unwrap();
    assert_eq!(data.get("entryId"), Some(&json!(entries[0].id)));
    assert_eq!(entries[1].parent_id.as_ref(), Some(&entries[0].id));
    assert_eq!(test.store.entries()[4..], entries);
}

#[tokio::test(start_paused = true)]
async fn a_change_lands_on_entries_that_were_appended_after_its_snapshot() {
    let test = two_turns().await;
    let expect = now(&test);
    let appended = Commit { expect: Expect::default(), change: note("meanwhile") };
    test.session.commit(appended).await.unwrap();

    compact(&test, expect).await.unwrap();

    let kinds: Vec<String> =
        test.store.entries()[4..].iter().map(|e| e.kind.type_name().to_owned()).collect();
    assert_eq!(kinds, ["custom", "compaction", "custom"]);
}

#[tokio::test(start_paused = true)]
async fn a_stale_change_is_refused_and_changes_nothing() {
    let test = two_turns().await;
    let current = now(&test);
    let stale = [
        Expect { leaf_prefix: Some(EntryId::from("gone")), ..current.clone() },
        Expect { epoch: Some(longhand_session::Epoch(9)), ..current.clone() },
        Expect { generation: Some(longhand_session::Generation(9)), ..current.clone() },
    ];
    for expect in stale {
        let refused = compact(&test, expect.clone()).await;
        assert!(matches!(refused, Err(CommitError::Stale)), "{expect:?}");
    }
    assert_eq!(test.store.entries().len(), 4);
    compact(&test, current).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_was_left_is_no_longer_a_prefix() {
    let test = two_turns().await;
    let expect = Expect { epoch: None, generation: None, ..now(&test) };
    let second = test.session.snapshot().entries[1].id.clone();
    let change = Change::MoveLeaf(Some(second));
    test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();

    let refused = test.session.commit(Commit { expect, change: note("late") }).await;

    assert!(matches!(refused, Err(CommitError::Stale)));
}

#[tokio::test(start_paused = true)]
async fn a_moved_leaf_begins_a_branch_and_voids_what_was_planned() {
    let test = two_turns().await;
    let before = test.session.snapshot();
    let first_answer = before.entries[1].id.clone();
    let change = Change::MoveLeaf(Some(first_answer.clone()));
    test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();

    let branch = test.session.snapshot();
    assert_eq!(branch.live.len(), 2);
    assert_eq!(branch.epoch.0, before.epoch.0 + 1);
    assert_eq!(branch.generation.0, before.generation.0 + 1);

    test.client.then(Reply::text("Other."));
    test.session.prompt(UserInput::text("Elsewhere")).await.unwrap();
    assert_eq!(test.store.entries()[4].parent_id, Some(first_answer));
}

#[tokio::test(start_paused = true)]
async fn a_move_to_an_unknown_entry_is_refused() {
    let test = two_turns().await;
    let change = Change::MoveLeaf(Some("gone".into()));
    let refused = test.session.commit(Commit { expect: Expect::default(), change }).await;
    assert!(matches!(refused, Err(CommitError::Store(_))));
    assert_eq!(test.session.snapshot().live.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_patch_changes_entries_in_place() {
    let mut test = two_turns().await;
    let before = test.session.snapshot();
    let mut entry = Entry::clone(&before.entries[0]);
    let EntryKind::Message(inner) = &mut entry.kind else { panic!("no message") };
    inner.message = Arc::new(Message::user("Shorter", 1));
    drain(&mut test.events);

    let change = Change::Patch(PatchSet { replace: vec![Arc::new(entry.clone())], record: None });
    test.session.commit(Commit { expect: now(&test), change }).await.unwrap();

    assert_eq!(*test.store.entries()[0], entry);
    let branch = test.session.snapshot();
    assert_eq!(branch.live[0], Arc::new(Message::user("Shorter", 1)));
    assert_eq!(branch.epoch.0, before.epoch.0 + 1);
    assert_eq!(branch.leaf, before.leaf);
    assert_eq!(names(&drain(&mut test.events)), ["entries_rewritten", "context_usage"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_rewrite_the_context_size_is_counted_and_no_older_measurement_is_shown() {
    let mut test = two_turns().await;
    drain(&mut test.events);

    compact(&test, now(&test)).await.unwrap();

    let events = drain(&mut test.events);
    assert_eq!(names(&events), ["entry_appended", "context_usage", "entry_appended"]);
    let usage = serde_json::to_value(&events[1]).unwrap();
    assert_eq!(usage["source"], "estimated");
    assert!(usage["tokens"].as_u64().unwrap() < 100, "{usage}");
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_from_the_next_request_on_and_the_session_notes_it() {
    let mut test = two_turns().await;
    drain(&mut test.events);
    let other = Arc::new(ScriptedClient::new([Reply::text("Other.")]));

    test.session.set_model(other.clone()).await;
    test.session.prompt(UserInput::text("Third")).await.unwrap();

    assert_eq!(other.requests().len(), 1);
    let EntryKind::ModelChange(change) = &test.store.entries()[4].kind else { panic!("no note") };
    assert_eq!(change.model, other.model().reference().to_string());
    let heard = drain(&mut test.events);
    assert!(heard.iter().any(|event| matches!(event, SessionEvent::ModelChanged { .. })));
}

#[tokio::test(start_paused = true)]
async fn settings_alone_leave_no_trace_in_the_store_until_somebody_says_something() {
    let test = TestSession::new([Reply::text("Hi.")]).start().await;
    test.session.set_model(test.client.clone()).await;
    test.session.take_queue().await;
    assert!(test.store.entries().is_empty());

    test.session.prompt(UserInput::text("Hello")).await.unwrap();

    let kinds: Vec<String> =
        test.store.entries().iter().map(|e| e.kind.type_name().to_owned()).collect();
    assert_eq!(kinds, ["model_change", "message", "message"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_died_between_call_and_result_sends_a_valid_request_when_it_goes_on() {
    let test =
        TestSession::new([Reply::calls([("gone", json!({}))]), Reply::text("Done.")]).start().await;
    test.session.prompt(UserInput::text("Go")).await.unwrap();
    // All but the result and what followed: the call is open.
    let survived = test.store.entries().into_iter().take(2).collect::<Vec<_>>();
    let store = MemoryStore::with_entries(Header::default(), survived);
    let client = Arc::new(ScriptedClient::new([Reply::text("Welcome back.")]));
    let test = TestConfig::with(client, SharedStore::new(store)).start().await;

    test.session.prompt(UserInput::text("Go on")).await.unwrap();

    assert_eq!(test.request(0), ["user: Go", "user: Go on"]);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_goes_on_where_it_ended() {
    let test = two_turns().await;
    compact(&test, now(&test)).await.unwrap();
    let client = Arc::new(ScriptedClient::new([Reply::text("Three.")]));
    let resumed = TestConfig::with(client, test.store.clone()).start().await;

    assert_eq!(resumed.session.snapshot().live, test.session.snapshot().live);
    assert_eq!(resumed.session.snapshot().entries, test.session.snapshot().entries);
    resumed.session.prompt(UserInput::text("Third")).await.unwrap();
    let said = resumed.request(0);
    assert_eq!(said[1..], ["user: Second", "assistant: Two.", "user: Third"]);
}

#[tokio::test(start_paused = true)]
async fn the_transcript_shows_what_a_compaction_took_out_of_sight() {
    let test = two_turns().await;
    compact(&test, now(&test)).await.unwrap();
    let transcript = test.session.transcript().await.unwrap().unwrap();
    let roles: Vec<&str> = transcript.messages.iter().map(|message| message.role()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "compactionSummary"]);
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_keeps_what_is_not_there_is_told_of_when_the_session_opens() {
    let test = two_turns().await;
    let mut draft = compacting_to_second(&test);
    draft.result = compaction("gone".into());
    let change = Change::Compaction(Box::new(draft));
    test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();

    let client = Arc::new(ScriptedClient::new([]));
    let mut resumed = TestConfig::with(client, test.store.clone()).start().await;

    let heard = drain(&mut resumed.events);
    let [SessionEvent::Notice { message, .. }] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(message.contains("`gone`"), "{message}");
}

/// A model that counts a token a byte.
struct Bytewise(ScriptedClient);

struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        if let Fragment::Text(text) = fragment { text.len() as u64 } else { 0 }
    }
}

#[async_trait]
impl ModelClient for Bytewise {
    fn model(&self) -> &Arc<Model> {
        self.0.model()
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        Arc::new(Bytes)
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        self.0.stream(request, cancel)
    }
}

#[tokio::test(start_paused = true)]
async fn the_context_is_counted_by_the_model_of_the_moment() {
    let mut test = TestSession::new([Reply::text("One.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    let other = Arc::new(Bytewise(ScriptedClient::new([Reply::text("Two.")])));
    test.session.set_model(other).await;
    drain(&mut test.events);

    test.session.prompt(UserInput::text("Second")).await.unwrap();

    let tokens = drain(&mut test.events).into_iter().find_map(|event| match event {
        SessionEvent::ContextUsage { tokens, .. } => tokens,
        _ => None,
    });
    assert_eq!(tokens, Some("FirstOne.SecondTwo.".len() as u64));
}
