//! What the model sees is what a rebuild from the store would give, whatever was committed.

use std::sync::Arc;

use longhand_agent::Branch;
use longhand_agent::commit::{Change, Commit, CompactionDraft, EntryDraft, Expect, PatchSet};
use longhand_agent::testing::{SharedStore, TestSession};
use longhand_session::context::{self, RebuildOptions};
use longhand_session::entry::{CustomMessageEntry, EntryKind, MessageEntry, PlainEntry};
use longhand_session::message::{StopReason, ToolCall, ToolResult};
use longhand_session::store::IndexRow;
use longhand_session::{AssistantMessage, Block, Entry, EntryReader, Message, Tree};
use proptest::prelude::*;
use serde_json::json;

use crate::support::compaction;

/// One random change. Numbers pick among what is there.
#[derive(Debug, Clone)]
enum Step {
    User,
    Reply { calls: Vec<u8>, stop: StopReason, says: bool },
    Result(u8),
    Note,
    Setting,
    Reset,
    Compact(usize),
    Prune(usize),
    Move(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let stop = prop_oneof![
        6 => Just(StopReason::Stop),
        1 => Just(StopReason::Error),
        1 => Just(StopReason::Aborted),
    ];
    prop_oneof![
        6 => Just(Step::User),
        8 => (prop::collection::vec(0..6u8, 0..3), stop, any::<bool>())
            .prop_map(|(calls, stop, says)| Step::Reply { calls, stop, says }),
        8 => (0..6u8).prop_map(Step::Result),
        1 => Just(Step::Note),
        2 => Just(Step::Setting),
        1 => Just(Step::Reset),
        1 => any::<usize>().prop_map(Step::Compact),
        1 => any::<usize>().prop_map(Step::Prune),
        1 => any::<usize>().prop_map(Step::Move),
    ]
}

fn draft(message: Message) -> EntryDraft {
    let message = Arc::new(message);
    EntryKind::Message(MessageEntry { message, ..MessageEntry::default() }).into()
}

fn reply(calls: &[u8], stop_reason: StopReason, says: bool) -> Message {
    let text = says.then(|| Block::text("I say."));
    let calls = calls.iter().map(|call| {
        Block::ToolCall(ToolCall {
            id: format!("call_{call}").into(),
            name: "tool".into(),
            arguments: json!({}).into(),
            ..ToolCall::default()
        })
    });
    let content = text.into_iter().chain(calls).collect();
    Message::Assistant(Box::new(AssistantMessage {
        content,
        stop_reason,
        ..AssistantMessage::default()
    }))
}

fn result(call: u8) -> Message {
    Message::ToolResult(ToolResult {
        tool_call_id: format!("call_{call}").into(),
        tool_name: "tool".into(),
        content: vec![Block::text("result")],
        ..ToolResult::default()
    })
}

/// The change that a step makes; `None` where there is nothing to change yet.
fn change(step: &Step, branch: &Branch) -> Option<Change> {
    let pick = |nth: usize| branch.entries.get(nth % branch.entries.len().max(1));
    Some(match step {
        Step::User => Change::Append(vec![draft(Message::user("Go on", 1))]),
        Step::Reply { calls, stop, says } => {
            Change::Append(vec![draft(reply(calls, *stop, *says))])
        }
        Step::Result(call) => Change::Append(vec![draft(result(*call))]),
        Step::Note => {
            let note = CustomMessageEntry {
                custom_type: "interrupted-thinking".into(),
                content: json!("I was about to").into(),
                ..CustomMessageEntry::default()
            };
            Change::Append(vec![EntryKind::CustomMessage(note).into()])
        }
        Step::Setting => {
            let kind = EntryKind::ThinkingLevelChange(
                longhand_session::entry::ThinkingLevelChangeEntry::default(),
            );
            Change::Append(vec![kind.into()])
        }
        Step::Reset => Change::Append(vec![EntryKind::ResetBoundary(PlainEntry::default()).into()]),
        Step::Compact(nth) => Change::Compaction(Box::new(CompactionDraft {
            result: compaction(pick(*nth)?.id.clone()),
            method: Some("soft".into()),
            from_extension: false,
            tokens_after: None,
            warning: None,
            record: None,
        })),
        Step::Prune(nth) => {
            let mut entry = Entry::clone(pick(*nth)?);
            let EntryKind::Message(inner) = &mut entry.kind else { return None };
            let Message::ToolResult(result) = &*inner.message else { return None };
            let pruned = ToolResult { content: Vec::new(), pruned_at: Some(9), ..result.clone() };
            inner.message = Arc::new(Message::ToolResult(pruned));
            Change::Patch(PatchSet { replace: vec![Arc::new(entry)], record: None })
        }
        Step::Move(nth) => Change::MoveLeaf(Some(pick(*nth)?.id.clone())),
    })
}

/// What a model sees of the path to the leaf, from the store alone.
fn rebuilt(store: &SharedStore, branch: &Branch) -> Vec<Arc<Message>> {
    let tree = Tree::new(store.entries().iter().map(|entry| IndexRow::from(&**entry)));
    let Some(leaf) = &branch.leaf else { return Vec::new() };
    let mut path: Vec<IndexRow> = tree.ancestors(leaf).cloned().collect();
    path.reverse();
    let reader: &dyn EntryReader = store;
    context::build(&path, reader, &RebuildOptions::default()).unwrap().messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn live_messages_equal_a_rebuild_from_the_store(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let test = TestSession::new([]).start().await;
            // Somebody has said something, so that everything is written as it comes.
            let first = Change::Append(vec![draft(Message::user("Begin", 1))]);
            let _ = test.session.commit(Commit { expect: Expect::default(), change: first }).await;
            for step in &steps {
                let Some(change) = change(step, &test.session.snapshot()) else { continue };
                test.session.commit(Commit { expect: Expect::default(), change }).await.unwrap();
                let branch = test.session.snapshot();
                let (live, rebuilt) = (branch.live.to_vec(), rebuilt(&test.store, &branch));
                assert!(live == rebuilt, "{live:#?}\nis not\n{rebuilt:#?}\nafter {step:?}");
            }
        });
    }
}
