//! What a model sees of a path: the newest compaction's summary, what it keeps, and what follows.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::emission::{self, Replay};
use super::path::{Landmarks, place_of};
use super::source::Source;
use crate::archive::{self, Archive, FrameSource};
use crate::entry::{CompactionEntry, Entry, EntryKind};
use crate::message::{Attribution, CompactionSummaryMessage, Message};
use crate::store::{EntryTag, StoreError};

/// Value of `details.kind` of a compaction that starts a new context in the middle of a task.
const ROLLOVER: &str = "experimental-context-rollover";

pub(super) fn messages(
    source: &mut Source<'_>,
    frames: Option<&dyn FrameSource>,
) -> Result<Vec<Arc<Message>>, StoreError> {
    let Landmarks { after_reset, compaction } = Landmarks::find(source.path);
    let mut messages = Vec::new();
    let Some(at) = compaction else {
        emit(source, after_reset..source.path.len(), &mut messages)?;
        return Ok(messages);
    };
    let entry = source.read(at)?;
    if let Some((entry, compaction)) =
        entry.as_deref().and_then(|entry| Some((entry, entry.compaction()?)))
    {
        let replay = Replay::read(compaction);
        let kept = kept_tail(source, at, compaction, replay.as_ref());
        let mut summary = summary(entry, compaction, frames);
        if matches!(replay, Some(Replay::Anthropic(_))) && !kept.is_empty() {
            // Signed reasoning of the tail is valid only while nothing before it is younger.
            let first = source.read(kept.start)?;
            summary.history_rewrite_at = first.as_deref().map(|entry| emission::millis(entry) - 1);
        }
        summary.provider_payload = replay.map(Replay::into_payload);
        messages.push(emission::summary_message(summary));
        if is_rollover(compaction) {
            let end = if kept.is_empty() { at } else { kept.start };
            messages.extend(latest_request(source, after_reset..at, end)?);
        }
        emit(source, kept, &mut messages)?;
    }
    emit(source, at + 1..source.path.len(), &mut messages)?;
    Ok(messages)
}

fn emit(
    source: &mut Source<'_>,
    places: Range<usize>,
    messages: &mut Vec<Arc<Message>>,
) -> Result<(), StoreError> {
    let path = source.path;
    source.load(places.clone().filter(|at| emission::may_emit(path[*at].tag)))?;
    messages.extend(places.filter_map(|at| emission::for_model(source.entry(at)?)));
    Ok(())
}

/// The places that a compaction keeps verbatim; an empty range where it names none that lies before it.
fn kept_tail(
    source: &Source<'_>,
    at: usize,
    compaction: &CompactionEntry,
    replay: Option<&Replay>,
) -> Range<usize> {
    let after_replayed = || {
        let through = compaction.provider_replay_through_entry_id.as_ref()?;
        Some(place_of(source.path, at, through)? + 1)
    };
    let start = match replay {
        Some(Replay::Openai(_)) => after_replayed(),
        Some(Replay::Anthropic(_)) if compaction.first_kept_entry_id.as_str().is_empty() => {
            after_replayed()
        }
        _ => first_kept(source, at, compaction),
    };
    start.unwrap_or(at)..at
}

/// The place of the first entry that a compaction keeps.
pub(super) fn first_kept(
    source: &Source<'_>,
    at: usize,
    compaction: &CompactionEntry,
) -> Option<usize> {
    place_of(source.path, at, &compaction.first_kept_entry_id)
}

fn summary(
    entry: &Entry,
    compaction: &CompactionEntry,
    frames: Option<&dyn FrameSource>,
) -> CompactionSummaryMessage {
    let mut summary = emission::compaction_summary(entry, compaction);
    if let Some(archive) = compaction.preserve_data.as_ref().and_then(Archive::read) {
        let budget = archive::model_budget(&archive, frames);
        emission::set_blocks(&mut summary, archive::history_blocks(&archive, budget, frames));
    }
    summary
}

fn is_rollover(compaction: &CompactionEntry) -> bool {
    let kind = compaction.details.as_ref().and_then(|details| details.get("kind"));
    kind.and_then(Value::as_str) == Some(ROLLOVER)
}

/// The newest request of the user in `places`, if it lies before `end`: behind it, it is emitted anyway.
fn latest_request(
    source: &mut Source<'_>,
    places: Range<usize>,
    end: usize,
) -> Result<Option<Arc<Message>>, StoreError> {
    for at in places.rev() {
        if !matches!(source.path[at].tag, EntryTag::User | EntryTag::CustomMessage) {
            continue;
        }
        let entry = source.read(at)?;
        if let Some(entry) = entry.filter(|entry| is_request(entry)) {
            return Ok(if at < end { emission::for_model(&entry) } else { None });
        }
    }
    Ok(None)
}

fn is_request(entry: &Entry) -> bool {
    match &entry.kind {
        EntryKind::Message(_) => true,
        EntryKind::CustomMessage(custom) => {
            custom.attribution == Some(Attribution::User)
                && matches!(custom.custom_type.as_str(), "skill-prompt" | "collab-prompt")
        }
        _ => false,
    }
}
