//! What holds for every branch.

use std::collections::HashSet;
use std::sync::Arc;

use longhand_agent::compaction::Preparation;
use longhand_compaction::Options;
use longhand_compaction::prepare::{Terms, prepare};
use longhand_session::context::{self, Leaf, RebuildOptions, message_of};
use longhand_session::{ByteEstimate, Entry, Message, ToolCallId};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Something that happens in a session.
#[derive(Debug, Clone)]
enum Step {
    User {
        chars: usize,
    },
    Bash {
        chars: usize,
    },
    Extension,
    /// A reply, and the results of its calls; the user may speak before the last of them.
    Reply {
        chars: usize,
        results: Vec<usize>,
        is_interrupted: bool,
        is_measured: bool,
    },
    Metadata,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    let chars = 0..400_usize;
    prop_oneof![
        3 => chars.clone().prop_map(|chars| Step::User { chars }),
        1 => chars.clone().prop_map(|chars| Step::Bash { chars }),
        1 => Just(Step::Extension),
        6 => (chars.clone(), prop::collection::vec(chars, 0..4), any::<bool>(), any::<bool>())
            .prop_map(|(chars, results, is_interrupted, is_measured)| {
                Step::Reply { chars, results, is_interrupted, is_measured }
            }),
        2 => Just(Step::Metadata),
    ]
}

/// A branch that grows.
#[derive(Default)]
struct Session {
    entries: Vec<Arc<Entry>>,
}

impl Session {
    fn of(steps: &[Step]) -> Self {
        let mut session = Self::default();
        session.take_all(steps);
        session
    }

    fn take_all(&mut self, steps: &[Step]) {
        for step in steps {
            self.take(step);
        }
    }

    fn push(&mut self, mut entry: Value) {
        let number = self.entries.len();
        entry["id"] = format!("e{number}").into();
        entry["parentId"] = number.checked_sub(1).map(|parent| format!("e{parent}")).into();
        entry["timestamp"] = "2026-01-01T00:00:00.000Z".into();
        self.entries.push(Arc::new(serde_json::from_value(entry).unwrap()));
    }

    fn message(&mut self, message: &Value) {
        self.push(json!({"type": "message", "message": message}));
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::User { chars } => {
                self.message(&json!({"role": "user", "content": text(*chars), "timestamp": 1}));
            }
            Step::Bash { chars } => self.message(
                &json!({"role": "bashExecution", "command": "ls", "output": text(*chars), "timestamp": 1}),
            ),
            Step::Extension => self.push(
                json!({"type": "custom_message", "customType": "x", "content": "noted", "display": true}),
            ),
            Step::Reply { chars, results, is_interrupted, is_measured } => {
                self.reply(*chars, results, *is_interrupted, *is_measured);
            }
            Step::Metadata => self.push(json!({"type": "model_change", "model": "a/b"})),
            Step::Reset => self.push(json!({"type": "reset_boundary"})),
        }
    }

    fn reply(&mut self, chars: usize, results: &[usize], is_interrupted: bool, is_measured: bool) {
        let number = self.entries.len();
        let id = |at: usize| format!("c{number}-{at}");
        let calls = (0..results.len())
            .map(|at| json!({"type": "toolCall", "id": id(at), "name": "read", "arguments": {}}));
        let content: Vec<Value> =
            std::iter::once(json!({"type": "text", "text": text(chars)})).chain(calls).collect();
        let input = number * 200;
        let usage =
            is_measured.then(|| json!({"input": input, "output": 1, "totalTokens": input + 1}));
        self.message(&json!({"role": "assistant", "content": content, "stopReason": "toolUse", "usage": usage, "timestamp": 1}));
        for (at, chars) in results.iter().enumerate() {
            if is_interrupted && at + 1 == results.len() {
                self.message(&json!({"role": "user", "content": "wait", "timestamp": 1}));
            }
            let content = json!([{"type": "text", "text": text(*chars)}]);
            self.message(&json!({"role": "toolResult", "toolCallId": id(at), "toolName": "read", "content": content, "timestamp": 1}));
        }
    }

    fn messages(&self) -> Vec<Arc<Message>> {
        self.entries.iter().filter_map(|entry| message_of(entry)).collect()
    }

    fn prepare(&self, keep_tokens: u64) -> Option<Preparation> {
        let mut options = Options::default();
        options.keep_recent_tokens = keep_tokens;
        let terms =
            Terms { options: &options, model: None, non_message_tokens: 0, counter: &ByteEstimate };
        prepare(&self.entries, &terms)
    }
}

fn text(chars: usize) -> String {
    "x".repeat(chars)
}

/// Whether the results of some calls stand on the other side of a boundary.
fn parts_calls_from_results(before: &[Arc<Message>], after: &[Arc<Message>]) -> bool {
    let replies = before.iter().filter_map(|message| message.as_assistant());
    let calls: HashSet<&ToolCallId> =
        replies.flat_map(|reply| reply.tool_calls().map(|call| &call.id)).collect();
    let mut results = after.iter().filter_map(|message| message.as_tool_result());
    results.any(|result| calls.contains(&result.tool_call_id))
}

proptest! {
    #[test]
    fn regions_are_the_messages_in_order(steps in prop::collection::vec(step(), 0..40), keep in 0..600_u64) {
        let session = Session::of(&steps);
        if let Some(prepared) = session.prepare(keep) {
            let regions = [
                &prepared.messages_to_summarize[..],
                &prepared.turn_prefix_messages,
                &prepared.recent_messages,
            ];
            prop_assert_eq!(regions.concat(), session.messages());
            prop_assert_eq!(prepared.is_split_turn, !prepared.turn_prefix_messages.is_empty());
        }
    }

    #[test]
    fn a_tool_result_is_never_parted_from_its_call(steps in prop::collection::vec(step(), 0..40), keep in 0..600_u64) {
        if let Some(prepared) = Session::of(&steps).prepare(keep) {
            let history = &prepared.messages_to_summarize;
            let prefix = &prepared.turn_prefix_messages;
            let recent = &prepared.recent_messages;
            prop_assert!(!parts_calls_from_results(history, prefix));
            prop_assert!(!parts_calls_from_results(&[&history[..], prefix].concat(), recent));
            prop_assert!(recent[0].as_tool_result().is_none());
        }
    }

    #[test]
    fn entries_that_are_no_messages_change_nothing(steps in prop::collection::vec(step(), 0..40), keep in 0..600_u64) {
        let is_said = |step: &&Step| !matches!(step, Step::Metadata);
        // Sizes are measured by the number of the entry, which metadata would shift.
        let unmeasured = |step: &Step| match step.clone() {
            Step::Reply { chars, results, is_interrupted, .. } => {
                Step::Reply { chars, results, is_interrupted, is_measured: false }
            }
            other => other,
        };
        let with: Vec<Step> = steps.iter().map(unmeasured).collect();
        let without: Vec<Step> = steps.iter().filter(is_said).map(unmeasured).collect();
        let sizes = |prepared: Option<Preparation>| prepared.map(|prepared| (
            prepared.messages_to_summarize.len(),
            prepared.turn_prefix_messages.len(),
            prepared.recent_messages.len(),
        ));
        prop_assert_eq!(sizes(Session::of(&with).prepare(keep)), sizes(Session::of(&without).prepare(keep)));
    }

    #[test]
    fn after_any_number_of_compactions_each_message_was_summarized_or_is_still_read(
        rounds in prop::collection::vec((prop::collection::vec(step(), 1..20), 0..300_u64), 1..5),
    ) {
        let mut session = Session::default();
        let mut summarized = Vec::new();
        for (steps, keep) in rounds {
            session.take_all(&steps);
            let Some(prepared) = session.prepare(keep) else { continue };
            summarized.extend(prepared.messages_to_summarize);
            summarized.extend(prepared.turn_prefix_messages);
            session.push(json!({
                "type": "compaction",
                "summary": "so far",
                "firstKeptEntryId": prepared.first_kept_entry_id,
                "tokensBefore": 0,
            }));
            let options = RebuildOptions::default();
            let read = context::build_from_entries(&session.entries, &Leaf::Last, &options).messages;
            prop_assert_eq!(&read[1..], &prepared.recent_messages[..]);
            prop_assert_eq!([&summarized[..], &read[1..]].concat(), session.messages());
        }
    }

    #[test]
    fn a_reset_hides_what_came_before(
        before in prop::collection::vec(step(), 0..20),
        after in prop::collection::vec(step(), 0..20),
        keep in 0..300_u64,
    ) {
        let mut session = Session::of(&before);
        session.take(&Step::Reset);
        let hidden = session.messages().len();
        session.take_all(&after);
        if let Some(prepared) = session.prepare(keep) {
            let regions = [
                &prepared.messages_to_summarize[..],
                &prepared.turn_prefix_messages,
                &prepared.recent_messages,
            ];
            prop_assert_eq!(regions.concat(), &session.messages()[hidden..]);
        }
    }
}
