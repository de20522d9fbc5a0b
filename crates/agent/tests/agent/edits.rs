//! Moves in the tree, names, and a fresh start: what they leave in the store, and what they refuse.

use std::sync::Arc;

use longhand_agent::commit::{Change, Commit, CommitError, EntryDraft, Expect};
use longhand_agent::edit::{EditError, LeftBranch, Navigation};
use longhand_agent::testing::{Reply, ScriptedClient, SharedStore, TestConfig, TestSession};
use longhand_agent::tool::{Tier, ToolOutput};
use longhand_agent::{SessionEvent, UserInput};
use longhand_session::entry::{CustomEntry, EntryKind};
use longhand_session::title_slot::TitleSource;
use longhand_session::{Entry, EntryId, Header, MemoryStore, SessionStore, Tree};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{FnTool, drain, names, until_named};

/// A session in which two prompts were answered: entries 1 to 4.
async fn two_turns() -> TestSession {
    let test = TestSession::new([Reply::text("One."), Reply::text("Two.")]).start().await;
    test.session.prompt(UserInput::text("First")).await.unwrap();
    test.session.prompt(UserInput::text("Second")).await.unwrap();
    test
}

fn id(number: usize) -> EntryId {
    format!("{number:08x}").into()
}

/// The tree of the store, as whoever opens it next finds it.
fn stored_tree(store: &SharedStore) -> Tree {
    Tree::new(store.clone().open().unwrap().rows)
}

fn last_entry(test: &TestSession) -> Value {
    serde_json::to_value(test.store.entries().last().unwrap()).unwrap()
}

async fn resumed(store: &SharedStore) -> TestSession {
    let client = Arc::new(ScriptedClient::new([]));
    TestConfig::with(client, store.clone()).start().await
}

#[tokio::test(start_paused = true)]
async fn going_to_a_prompt_puts_the_leaf_before_it_and_its_words_into_the_editor() {
    let mut test = two_turns().await;
    drain(&mut test.events);

    let went = test.session.navigate(Navigation::to(id(3))).await.unwrap();

    assert_eq!(went.leaf, Some(id(2)));
    assert_eq!(went.editor, Some(UserInput::text("Second")));
    assert_eq!(test.session.snapshot().leaf, Some(id(2)));
    assert_eq!(test.session.snapshot().live.len(), 2);
    let heard = drain(&mut test.events);
    let [SessionEvent::LeafChanged { leaf, editor_text }, _] = heard.as_slice() else {
        panic!("{heard:?}")
    };
    assert_eq!((leaf, editor_text.as_deref()), (&Some(id(2)), Some("Second")));
}

#[tokio::test(start_paused = true)]
async fn going_to_the_first_prompt_begins_another_root() {
    let test = two_turns().await;
    let went = test.session.navigate(Navigation::to(id(1))).await.unwrap();
    assert_eq!(went.leaf, None);
    test.client.then(Reply::text("Other."));
    test.session.prompt(UserInput::text("Again")).await.unwrap();
    assert_eq!(test.request(2), ["user: Again"]);
    assert_eq!(test.store.entries()[4].parent_id, None);
}

#[tokio::test(start_paused = true)]
async fn going_where_the_leaf_is_does_nothing_unless_a_prompt_is_taken_back() {
    let mut test = two_turns().await;
    drain(&mut test.events);
    let went = test.session.navigate(Navigation::to(id(4))).await.unwrap();
    assert_eq!((went.leaf, went.editor), (Some(id(4)), None));
    assert!(drain(&mut test.events).is_empty());

    test.session.navigate(Navigation::to(id(3))).await.unwrap();
    test.client.then(Reply::error(longhand_agent::ModelError::unclassified("no")));
    test.session.prompt(UserInput::text("Third")).await.unwrap();
    let prompt = test.session.snapshot().leaf.clone().unwrap();
    let went = test.session.navigate(Navigation::to(prompt)).await.unwrap();
    assert_eq!((went.leaf, went.editor), (Some(id(2)), Some(UserInput::text("Third"))));
}

#[tokio::test(start_paused = true)]
async fn a_summary_of_the_branch_that_is_left_hangs_at_the_new_leaf() {
    let test = two_turns().await;
    let left = LeftBranch {
        summary: "It was a dead end.".into(),
        details: Some(json!({ "readFiles": ["a.rs"] }).into()),
        from_extension: false,
    };
    let to = Navigation { target: id(2), summary: Some(left) };

    let went = test.session.navigate(to).await.unwrap();

    let entry = last_entry(&test);
    assert_eq!(
        json!([entry["type"], entry["parentId"], entry["fromId"], entry["summary"]]),
        json!(["branch_summary", id(2), id(2), "It was a dead end."])
    );
    assert_eq!(entry["details"], json!({ "readFiles": ["a.rs"], "abandonedLeafId": id(4) }));
    assert_eq!(went.leaf, went.summary.map(|entry| entry.id.clone()));
    assert_eq!(test.session.snapshot().live.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_move_to_an_unknown_entry_changes_nothing() {
    let test = two_turns().await;
    let refused = test.session.navigate(Navigation::to("gone".into())).await.unwrap_err();
    assert_eq!(refused.to_string(), "entry `gone` not found");
    assert_eq!(test.session.snapshot().leaf, Some(id(4)));
}

#[tokio::test(start_paused = true)]
async fn a_bare_move_survives_the_end_of_the_process() {
    let test = two_turns().await;
    test.session.navigate(Navigation::to(id(2))).await.unwrap();
    test.session.close().await.unwrap();

    let again = resumed(&test.store).await;

    assert_eq!(again.session.snapshot().live, test.session.snapshot().live);
}

#[tokio::test(start_paused = true)]
async fn the_leaf_does_not_move_while_calls_run() {
    let waits = |_, cancel: tokio_util::sync::CancellationToken| async move {
        cancel.cancelled().await;
        ToolOutput::text("stopped")
    };
    let mut test = TestSession::new([Reply::calls([("wait", json!({}))])])
        .tool(FnTool::new("wait", Tier::Exec, waits))
        .start()
        .await;
    let session = test.session.clone();
    let run = tokio::spawn(async move { session.prompt(UserInput::text("Go")).await });
    until_named(&mut test.events, "tool_execution_start").await;
    let first = test.store.entries()[0].id.clone();

    for refused in [
        test.session.navigate(Navigation::to(first.clone())).await.map(drop),
        test.session.reset().await,
        test.session.discard(first.clone()).await,
    ] {
        assert!(matches!(refused, Err(EditError::Busy)), "{refused:?}");
    }
    let change = Change::MoveLeaf(Some(first));
    let refused = test.session.commit(Commit { expect: Expect::default(), change }).await;
    assert!(matches!(refused, Err(CommitError::CallsRunning)), "{refused:?}");

    test.session.abort().await;
    run.await.unwrap().unwrap();
    let entries = test.store.entries();
    let result = entries.iter().find(|e| e.message().is_some_and(|m| m.role() == "toolResult"));
    let tree = stored_tree(&test.store);
    let on_branch = tree.path(&result.unwrap().id);
    assert!(on_branch.contains(&entries[1].id), "the result follows its call");
}

#[tokio::test(start_paused = true)]
async fn a_fresh_start_hides_everything_from_the_model_and_nothing_from_the_user() {
    let test = two_turns().await;
    test.session.reset().await.unwrap();
    test.client.then(Reply::text("Three."));
    test.session.prompt(UserInput::text("Third")).await.unwrap();

    assert_eq!(test.request(2), ["user: Third"]);
    assert_eq!(test.store.entries()[4].kind.type_name(), "reset_boundary");
    let shown = test.session.transcript().await.unwrap().unwrap();
    assert_eq!(shown.messages.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn names_of_entries_are_entries_and_unknown_entries_have_none() {
    let test = two_turns().await;
    test.session.label(id(1), Some(" before\nthe change ".into())).await.unwrap();
    let given = last_entry(&test);
    test.session.label(id(1), Some(String::new())).await.unwrap();
    let cleared = last_entry(&test);
    let refused = test.session.label("gone".into(), Some("x".into())).await;

    assert_eq!(json!([given["targetId"], given["label"]]), json!([id(1), "before the change"]));
    assert_eq!(json!([cleared["targetId"], cleared["label"]]), json!([id(1), null]));
    assert!(matches!(refused, Err(EditError::Unknown(_))), "{refused:?}");
    assert_eq!(test.store.entries().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_title_is_an_entry_and_part_of_the_header() {
    let mut test = two_turns().await;
    drain(&mut test.events);

    test.session.set_title("  Fix\tit ", TitleSource::Auto).await.unwrap();
    test.session.set_title("Repair", TitleSource::User).await.unwrap();

    let entry = last_entry(&test);
    assert_eq!(
        json!([entry["type"], entry["title"], entry["previousTitle"], entry["source"]]),
        json!(["title_change", "Repair", "Fix it", "user"])
    );
    let header = test.store.clone().open().unwrap().header;
    assert_eq!(
        (header.title.as_deref(), header.title_source.as_deref()),
        (Some("Repair"), Some("user"))
    );
    let heard = names(&drain(&mut test.events));
    assert_eq!(heard, ["entry_appended", "title_changed", "entry_appended", "title_changed"]);
}

#[tokio::test(start_paused = true)]
async fn a_title_of_the_user_stays_and_an_empty_one_is_none() {
    let test = two_turns().await;
    test.session.set_title("Mine", TitleSource::User).await.unwrap();
    let again = resumed(&test.store).await;

    let automatic = again.session.set_title("Guess", TitleSource::Auto).await;
    let empty = again.session.set_title(" \u{7} ", TitleSource::User).await;

    assert!(matches!(automatic, Err(EditError::TitleOfTheUser)), "{automatic:?}");
    assert!(matches!(empty, Err(EditError::EmptyTitle)), "{empty:?}");
    assert_eq!(again.store.clone().open().unwrap().header.title.as_deref(), Some("Mine"));
}

#[tokio::test(start_paused = true)]
async fn a_title_that_cannot_be_written_is_not_the_title() {
    let test = two_turns().await;
    test.store.fail();
    let refused = test.session.set_title("Lost", TitleSource::User).await;
    assert!(matches!(refused, Err(EditError::Store(_))), "{refused:?}");
    test.store.recover();
    test.session.set_title("Kept", TitleSource::Auto).await.unwrap();
    assert_eq!(test.store.clone().open().unwrap().header.title.as_deref(), Some("Kept"));
}

#[tokio::test(start_paused = true)]
async fn a_discarded_leaf_is_gone_for_good() {
    let test = two_turns().await;

    test.session.discard(id(4)).await.unwrap();

    let entry = last_entry(&test);
    assert_eq!(
        json!([entry["parentId"], entry["fromId"], entry["summary"], entry["details"]]),
        json!([id(3), id(3), "", { "kind": "discarded-entry-branch", "discardedEntryId": id(4) }])
    );
    assert!(test.store.entries().iter().all(|entry| entry.id != id(4)));
    assert_eq!(resumed(&test.store).await.session.snapshot().live.len(), 3);
    assert_eq!(test.session.snapshot().live.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_discarded_entry_stays_in_the_session_off_the_branch() {
    let test = two_turns().await;

    test.session.discard(id(2)).await.unwrap();

    assert_eq!(test.store.entries().len(), 5);
    assert_eq!(test.session.snapshot().live.len(), 1);
    let tree = stored_tree(&test.store);
    assert_eq!(tree.active_path().len(), 2);
    assert_eq!(tree.path(&id(4)).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn service_tiers_after_a_discarded_entry_take_its_place() {
    let tier = |id: &str, parent: &str| entry(id, Some(parent), "service_tier_change");
    let entries = [
        entry("a", None, "custom"),
        entry("b", Some("a"), "custom"),
        tier("c", "b"),
        tier("d", "b"),
        entry("e", Some("c"), "custom"),
    ];
    let test = holding(entries).await;

    test.session.discard("b".into()).await.unwrap();

    let tree = stored_tree(&test.store);
    assert_eq!(tree.path(&"d".into()), ["a", "c", "d"].map(EntryId::from));
    let leaf = tree.leaf().unwrap();
    assert_eq!(tree.path(leaf)[..3], ["a", "c", "e"].map(EntryId::from));
    assert_eq!(test.session.snapshot().leaf.as_ref(), Some(leaf));
}

#[tokio::test(start_paused = true)]
async fn a_discard_that_cannot_be_written_changes_nothing() {
    let test = two_turns().await;
    let before = test.session.snapshot();
    test.store.fail();
    let refused = test.session.discard(id(4)).await;
    assert!(matches!(refused, Err(EditError::Store(_))), "{refused:?}");
    let after = test.session.snapshot();
    assert_eq!((&after.leaf, &after.live), (&before.leaf, &before.live));
    assert_eq!(after.epoch, before.epoch);
}

#[tokio::test(start_paused = true)]
async fn an_entry_after_a_gap_can_be_hung_where_it_most_likely_belongs() {
    let entries = [entry("a", None, "custom"), entry("b", Some("lost"), "custom")];
    let mut test = holding(entries).await;
    let heard = drain(&mut test.events);
    let [SessionEvent::Notice { message, .. }] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(message.contains("`b`") && message.contains("`lost`"), "{message}");

    let refused = test.session.close_gap("a".into()).await;
    assert!(matches!(refused, Err(EditError::NoGap(_))), "{refused:?}");
    test.session.close_gap("b".into()).await.unwrap();

    assert_eq!(stored_tree(&test.store).active_path(), ["a", "b"].map(EntryId::from));
    assert_eq!(test.session.snapshot().entries.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_group_of_entries_is_appended_whole_or_not_at_all() {
    let test = two_turns().await;
    let group = || {
        let note = |text: &str| -> EntryDraft {
            let data = Some(json!(text).into());
            let note = CustomEntry { custom_type: "note".into(), data, ..CustomEntry::default() };
            EntryKind::Custom(note).into()
        };
        Commit {
            expect: Expect::default(),
            change: Change::AppendWhole(vec![note("one"), note("two")]),
        }
    };
    test.store.fail();
    let refused = test.session.commit(group()).await;
    assert!(matches!(refused, Err(CommitError::Store(_))), "{refused:?}");
    assert_eq!(test.session.snapshot().leaf, Some(id(4)));
    test.store.recover();
    test.session.settle().await.unwrap();
    assert_eq!(test.store.entries().len(), 4);

    let committed = test.session.commit(group()).await.unwrap();

    let stored = test.store.entries();
    assert_eq!(stored[4..], committed.entries);
    assert_eq!(stored[5].parent_id.as_ref(), Some(&stored[4].id));
    assert_eq!(test.session.snapshot().leaf.as_ref(), Some(&stored[5].id));
}

#[tokio::test(start_paused = true)]
async fn a_settled_session_is_in_the_store_up_to_its_leaf() {
    let test = two_turns().await;
    test.store.fail();
    test.client.then(Reply::text("Three."));
    test.session.prompt(UserInput::text("Third")).await.unwrap();
    let unsettled = test.session.settle().await;
    assert!(matches!(unsettled, Err(EditError::Store(_))), "{unsettled:?}");

    test.store.recover();
    let leaf = test.session.settle().await.unwrap();

    assert_eq!(leaf, Some(id(6)));
    assert_eq!(stored_tree(&test.store).leaf(), leaf.as_ref());
}

fn entry(id: &str, parent: Option<&str>, kind: &str) -> Entry {
    let entry = json!({
        "type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z",
        "customType": "note", "serviceTier": null,
    });
    serde_json::from_value(entry).unwrap()
}

async fn say(test: &TestSession, words: &str) {
    test.client.then(Reply::text("Answer."));
    test.session.prompt(UserInput::text(words)).await.unwrap();
}

/// A session that holds these entries.
async fn holding(entries: impl IntoIterator<Item = Entry>) -> TestSession {
    let header = Header { id: "s".into(), version: Some(3), ..Header::default() };
    let store = MemoryStore::with_entries(header, entries.into_iter().map(Arc::new));
    resumed(&SharedStore::new(store)).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the tree looks like, and whoever goes wherever in it.
    #[test]
    fn no_move_loses_an_entry_and_a_restart_finds_the_leaf(
        parents in proptest::collection::vec(proptest::option::of(0..20usize), 1..12),
        moves in proptest::collection::vec((0..12usize, any::<bool>()), 1..8),
    ) {
        let entries: Vec<Entry> = parents
            .iter()
            .enumerate()
            .map(|(n, parent)| {
                let parent = parent.map(|parent| format!("e{parent}"));
                let kind = if n % 2 == 0 { "user" } else { "assistant" };
                let content = if n % 2 == 0 { json!("said") } else { json!([]) };
                serde_json::from_value(json!({
                    "type": "message", "id": format!("e{n}"), "parentId": parent,
                    "timestamp": "2026-01-01T00:00:00.000Z",
                    "message": { "role": kind, "content": content, "stopReason": "stop" },
                }))
                .unwrap()
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let test = holding(entries.clone()).await;
            for (to, is_told) in moves {
                let target = entries[to % entries.len()].id.clone();
                let told = LeftBranch { summary: "left".into(), ..LeftBranch::default() };
                let to = Navigation { target, summary: is_told.then_some(told) };
                test.session.navigate(to).await.unwrap();
            }
            test.session.close().await.unwrap();
            let before = test.session.snapshot();
            let stored = test.store.entries();
            for entry in &entries {
                assert!(stored.iter().any(|kept| **kept == *entry), "{} is lost", entry.id);
            }
            let again = resumed(&test.store).await.session.snapshot();
            assert_eq!(again.live, before.live);
            assert_eq!(again.leaf, before.leaf);
        });
    }

    /// A process may be killed at any time: what was done is in the store, leaf and all.
    #[test]
    fn whatever_was_done_is_found_by_the_next_process(
        steps in proptest::collection::vec((0..6u8, any::<proptest::sample::Index>()), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let test = TestSession::new([]).start().await;
            say(&test, "First").await;
            for (kind, at) in steps {
                let stored = test.store.entries();
                let target = at.get(&stored).id.clone();
                match kind {
                    0 => say(&test, "More").await,
                    1 => {
                        let told = LeftBranch { summary: "left".into(), ..LeftBranch::default() };
                        let to = Navigation { target, summary: Some(told) };
                        test.session.navigate(to).await.unwrap();
                    }
                    2 => test.session.reset().await.unwrap(),
                    3 => test.session.label(target, Some("name".into())).await.unwrap(),
                    4 => test.session.set_title("Title", TitleSource::Auto).await.unwrap(),
                    _ => test.session.discard(target).await.unwrap(),
                }
                let here = test.session.snapshot();
                let survived = MemoryStore::with_entries(Header::default(), test.store.entries());
                let next = resumed(&SharedStore::new(survived)).await.session.snapshot();
                assert_eq!(next.leaf, here.leaf);
                assert_eq!(next.live, here.live);
                assert_eq!(next.entries, here.entries);
            }
        });
    }
}
