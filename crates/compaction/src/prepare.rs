//! What of a branch a compaction replaces, and what it keeps.
//!
//! The regions are disjoint, in order, and cover every message since the compaction before; none of them parts a call from its
//! result, and entries that are no messages change nothing. Reads a snapshot, calls no model, writes nothing. Linear in the
//! entries since the compaction before.

use std::collections::HashMap;
use std::sync::Arc;

use longhand_agent::Branch;
use longhand_agent::compaction::{FileOperations, Preparation, Prepare};
use longhand_session::context::message_of;
use longhand_session::entry::CompactionEntry;
use longhand_session::tokens::{EncryptedReasoning, count_message, last_assistant_usage};
use longhand_session::{Api, Entry, EntryId, EntryKind, Message, Model, TokenCounter};
use tokio::sync::watch;

use crate::cut_point::{self, Candidate, Place};
use crate::options::Options;
use crate::threshold;

/// Prepares with the options in force.
pub struct Preparer {
    options: watch::Receiver<Arc<Options>>,
    counter: Arc<dyn TokenCounter>,
}

impl Preparer {
    /// `counter` sizes the kept region. An estimate will do: it is calibrated by what the provider measured.
    pub fn new(options: watch::Receiver<Arc<Options>>, counter: Arc<dyn TokenCounter>) -> Self {
        Self { options, counter }
    }
}

impl Prepare for Preparer {
    fn prepare(
        &self,
        branch: &Branch,
        model: Option<&Model>,
        non_message_tokens: u64,
    ) -> Option<Preparation> {
        let options = self.options.borrow().clone();
        let terms = Terms { options: &options, model, non_message_tokens, counter: &*self.counter };
        prepare(&branch.entries, &terms)
    }
}

/// What a preparation depends on besides the branch.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The options in force.
    pub options: &'a Options,
    /// The model of the conversation; `None` where there is none yet.
    pub model: Option<&'a Model>,
    /// Tokens of system prompt and tool schemas; 0 where unknown.
    pub non_message_tokens: u64,
    /// Sizes the kept region.
    pub counter: &'a dyn TokenCounter,
}

/// What to replace and what to keep of a path, oldest entry first. `None` where nothing would be replaced.
pub fn prepare(entries: &[Arc<Entry>], terms: &Terms<'_>) -> Option<Preparation> {
    if ends_compacted(entries) {
        return None;
    }
    let boundary = Boundary::find(entries, terms);
    let region = Region::collect(entries, boundary.start, terms.counter);
    let keep_tokens = calibrated_keep(entries, &boundary, &region, terms);
    let cut = cut_point::find(&region.candidates, keep_tokens);
    let history_end = cut.split_turn_start.unwrap_or(cut.first_kept);
    if cut.first_kept == 0 {
        return None;
    }
    let (dropped, recent) = region.messages.split_at(cut.first_kept);
    let (history, prefix) = dropped.split_at(history_end);

    let mut file_operations = FileOperations::default();
    let previous = boundary.previous.and_then(|at| entries[at].compaction());
    let own = previous.filter(|compaction| !compaction.is_from_extension());
    if let Some(details) = own.and_then(|compaction| compaction.details.as_ref()) {
        file_operations.add_details(details);
    }
    file_operations.add_messages(dropped);

    Some(Preparation {
        first_kept_entry_id: first_kept_id(entries, region.places[cut.first_kept]),
        messages_to_summarize: history.to_vec(),
        turn_prefix_messages: prefix.to_vec(),
        recent_messages: recent.to_vec(),
        is_split_turn: cut.split_turn_start.is_some(),
        tokens_before: last_assistant_usage(entries).map_or(0, longhand_session::Usage::context),
        previous_summary: previous.map(|compaction| compaction.summary.clone()),
        previous_preserve_data: previous.and_then(|compaction| compaction.preserve_data.clone()),
        file_operations,
    })
}

/// Whether no message came after the newest compaction. One that a provider made aside may have left messages before it.
fn ends_compacted(entries: &[Arc<Entry>]) -> bool {
    for entry in entries.iter().rev() {
        if let Some(compaction) = entry.compaction() {
            return compaction.provider_replay_through_entry_id.is_none();
        }
        if message_of(entry).is_some() {
            return false;
        }
    }
    false
}

/// Where the part of a path begins that may be replaced.
struct Boundary {
    /// The compaction whose summary goes on in the next.
    previous: Option<usize>,
    /// The first entry after both that compaction and the newest reset. What was measured before says nothing of the region.
    fresh_start: usize,
    /// The first entry of the region: reaches back over what that compaction kept.
    start: usize,
}

impl Boundary {
    fn find(entries: &[Arc<Entry>], terms: &Terms<'_>) -> Self {
        let reset = entries.iter().rposition(|e| matches!(e.kind, EntryKind::ResetBoundary(_)));
        let previous = entries
            .iter()
            .rposition(|entry| entry.compaction().is_some_and(|c| is_readable(c, terms)))
            .filter(|previous| reset.is_none_or(|reset| reset < *previous));
        let after_reset = reset.map_or(0, |reset| reset + 1);
        let Some(previous) = previous else {
            return Self { previous: None, fresh_start: after_reset, start: after_reset };
        };
        let before = &entries[after_reset..previous];
        let kept = entries[previous].compaction().and_then(|compaction| tail(compaction, before));
        let fresh_start = previous + 1;
        let start = kept.map_or(fresh_start, |offset| after_reset + offset);
        Self { previous: Some(previous), fresh_start, start }
    }
}

/// Where the messages begin, among the entries before a compaction, that its summary does not cover.
fn tail(compaction: &CompactionEntry, before: &[Arc<Entry>]) -> Option<usize> {
    let position = |id: &EntryId| before.iter().position(|entry| entry.id == *id);
    if native_provider(compaction).is_some() {
        // The provider's payload holds the kept messages as well, up to where it was requested.
        let through = compaction.provider_replay_through_entry_id.as_ref()?;
        return position(through).map(|at| at + 1);
    }
    position(&compaction.first_kept_entry_id)
}

/// The provider whose payload stands for the history, where a compaction has one.
fn native_provider(compaction: &CompactionEntry) -> Option<&serde_json::Value> {
    compaction.preserve_data.as_ref()?.get("openaiRemoteCompaction").map(|slot| &slot["provider"])
}

/// Whether the summary can go on in the next. That of a provider's own compaction is a placeholder, worth something only where
/// its payload can be sent again.
fn is_readable(compaction: &CompactionEntry, terms: &Terms<'_>) -> bool {
    let (Some(provider), Some(model)) = (native_provider(compaction), terms.model) else {
        return true;
    };
    let speaks_responses = matches!(
        model.api,
        Api::OpenaiResponses | Api::AzureOpenaiResponses | Api::OpenaiCodexResponses
    );
    terms.options.remote_enabled && speaks_responses && *provider == model.provider.as_str()
}

/// The messages that may be replaced, each with its place on the path.
struct Region {
    messages: Vec<Arc<Message>>,
    places: Vec<usize>,
    candidates: Vec<Candidate>,
}

impl Region {
    fn collect(entries: &[Arc<Entry>], start: usize, counter: &dyn TokenCounter) -> Self {
        let mut region = Self { messages: Vec::new(), places: Vec::new(), candidates: Vec::new() };
        for (at, entry) in entries.iter().enumerate().skip(start) {
            let Some(message) = message_of(entry) else { continue };
            let tokens = count_message(counter, &message, EncryptedReasoning::Counted);
            region.candidates.push(Candidate { place: Place::of(&entry.kind), tokens });
            region.messages.push(message);
            region.places.push(at);
        }
        region.hold_results_to_calls();
        region
    }

    /// Forbids cuts between a call and its result. A message that was delivered while tools ran lies between them.
    fn hold_results_to_calls(&mut self) {
        let mut calls = HashMap::new();
        let mut last_result = vec![0; self.messages.len()];
        for (at, message) in self.messages.iter().enumerate() {
            match &**message {
                Message::Assistant(reply) => {
                    calls.extend(reply.tool_calls().map(|call| (&call.id, at)));
                }
                Message::ToolResult(result) => {
                    if let Some(call_at) = calls.remove(&result.tool_call_id) {
                        last_result[call_at] = at;
                    }
                }
                _ => {}
            }
        }
        let mut held_through = 0;
        for (at, candidate) in self.candidates.iter_mut().enumerate() {
            if at <= held_through && at > 0 {
                candidate.place = Place::Inside;
            }
            held_through = held_through.max(last_result[at]);
        }
    }

    fn tokens(&self) -> u64 {
        self.candidates.iter().map(|candidate| candidate.tokens).sum()
    }
}

/// How many tokens, as the counter counts them, amount to what should be kept, as the provider measures. Never more than what
/// is set.
fn calibrated_keep(
    entries: &[Arc<Entry>],
    boundary: &Boundary,
    region: &Region,
    terms: &Terms<'_>,
) -> u64 {
    let window = terms.model.and_then(|model| model.context_window);
    let keep_tokens = threshold::keep_recent(window, terms.options);
    let Some(usage) = last_assistant_usage(&entries[boundary.fresh_start..]) else {
        return keep_tokens;
    };
    let measured_tokens = usage.prompt().saturating_sub(terms.non_message_tokens);
    let counted_tokens = region.tokens();
    if counted_tokens == 0 || measured_tokens <= counted_tokens {
        return keep_tokens;
    }
    let ratio = measured_tokens as f64 / counted_tokens as f64;
    ((keep_tokens as f64 / ratio).floor() as u64).max(1)
}

/// The id of the first kept entry: that of the message, or of the oldest entry directly before it that no model sees.
fn first_kept_id(entries: &[Arc<Entry>], message_at: usize) -> EntryId {
    let is_transparent = |entry: &&Arc<Entry>| {
        Place::of(&entry.kind) != Place::Boundary && message_of(entry).is_none()
    };
    let pulled = entries[..message_at].iter().rev().take_while(is_transparent).count();
    entries[message_at - pulled].id.clone()
}
