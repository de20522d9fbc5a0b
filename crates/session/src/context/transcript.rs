//! What a person sees of a path: everything that was said, or without what the newest compaction replaced.

use std::collections::HashSet;
use std::sync::Arc;

use super::emission::{self, Replay};
use super::model_view::first_kept;
use super::path::Landmarks;
use super::settings::{Settings, model_of};
use super::source::Source;
use super::{RebuildOptions, View};
use crate::archive::{self, Archive, FrameBudget};
use crate::entry::{CompactionEntry, Entry, EntryKind};
use crate::message::{CompactionSummaryMessage, Message};
use crate::store::{EntryTag, IndexRow, StoreError};

/// Stand in the place of summaries that a newer one includes. Stored and compared by other programs.
const SUPERSEDED: &str = "[Superseded compaction summary elided after a newer compaction]";
const SUPERSEDED_SHORT: &str = "Superseded compaction elided";

/// The value of `method` of a compaction with a bitmap archive.
const SNAPCOMPACT: &str = "snapcompact";

/// The messages of a transcript, and for each whether a change explains a missed cache.
pub(super) fn messages(
    source: &mut Source<'_>,
    settings: &Settings,
    options: &RebuildOptions<'_>,
) -> Result<(Vec<Arc<Message>>, Vec<bool>), StoreError> {
    let start = match options.view {
        View::CollapsedTranscript => collapsed_start(source)?,
        View::Transcript | View::Model => 0,
    };
    let path = source.path;
    let is_shown =
        |at: &usize| emission::may_emit(path[*at].tag) || path[*at].tag == EntryTag::Compaction;
    source.load((start..path.len()).filter(is_shown))?;
    let mut flags = CacheFlags::before(source, settings, start)?;
    let newest = path.iter().rposition(|row| row.tag == EntryTag::Compaction);
    let mut shown = (Vec::new(), Vec::new());
    for at in start..path.len() {
        let Some(entry) = source.entry(at) else {
            flags.pass(at);
            continue;
        };
        let message = match entry.compaction() {
            Some(compaction) => {
                let is_newest = newest == Some(at);
                summary(source, at, compaction, is_newest, options)
            }
            None => emission::for_person(entry),
        };
        let is_explained = flags.pass_entry(at, entry);
        if let Some(message) = message {
            shown.0.push(message);
            shown.1.push(is_explained);
        }
    }
    Ok(shown)
}

/// Where the collapsed view starts: after a reset; or at the first start of a turn that the newest compaction keeps.
fn collapsed_start(source: &mut Source<'_>) -> Result<usize, StoreError> {
    let Landmarks { after_reset, compaction } = Landmarks::find(source.path);
    let Some(at) = compaction else { return Ok(after_reset) };
    source.load([at])?;
    let Some((_, compaction)) = source.compaction(at) else { return Ok(at) };
    let Some(kept) = first_kept(source, at, compaction) else { return Ok(at) };
    let path = source.path;
    source.load((kept..at).filter(|at| path[*at].tag == EntryTag::OtherMessage))?;
    let is_start = |at: &usize| match path[*at].tag {
        EntryTag::User | EntryTag::CustomMessage | EntryTag::BranchSummary => true,
        EntryTag::OtherMessage => source.entry(*at).is_some_and(|entry| is_bash(entry)),
        _ => false,
    };
    Ok((kept..at).find(is_start).unwrap_or(kept))
}

fn is_bash(entry: &Entry) -> bool {
    matches!(&entry.kind, EntryKind::Message(stored) if matches!(*stored.message, Message::BashExecution(_)))
}

fn summary(
    source: &Source<'_>,
    at: usize,
    compaction: &CompactionEntry,
    is_newest: bool,
    options: &RebuildOptions<'_>,
) -> Option<Arc<Message>> {
    let is_collapsed = options.view == View::CollapsedTranscript;
    if is_replaced(source, at, compaction) || (is_collapsed && !is_newest) {
        return None;
    }
    let entry = source.entry(at)?;
    let mut message = emission::compaction_summary(entry, compaction);
    if !is_newest {
        message = CompactionSummaryMessage {
            summary: SUPERSEDED.to_owned(),
            short_summary: Some(SUPERSEDED_SHORT.to_owned()),
            ..message
        };
    } else if is_collapsed {
        message.provider_payload = Replay::read(compaction).map(Replay::into_payload);
    } else {
        let archive = compaction.preserve_data.as_ref().and_then(Archive::read);
        let blocks = archive.map(|archive| {
            archive::history_blocks(&archive, FrameBudget::Unlimited, options.frames)
        });
        emission::set_blocks(&mut message, blocks.unwrap_or_default());
    }
    Some(emission::summary_message(message))
}

/// Whether the same archive follows with fewer frames, made because these did not have room. What a pass writes about itself may
/// lie between the two.
fn is_replaced(source: &Source<'_>, at: usize, compaction: &CompactionEntry) -> bool {
    let is_archive =
        |compaction: &CompactionEntry| compaction.method.as_deref() == Some(SNAPCOMPACT);
    let later = &source.path[at + 1..];
    let Some(between) = later.iter().position(|row| row.tag != EntryTag::Bookkeeping) else {
        return false;
    };
    let follows = |pair: &[IndexRow]| pair[1].parent_id.as_ref() == Some(&pair[0].id);
    let next = at + 1 + between;
    source.compaction(next).is_some_and(|(_, replacement)| {
        is_archive(compaction)
            && is_archive(replacement)
            && source.path[at..=next].windows(2).all(follows)
            && replacement.first_kept_entry_id == compaction.first_kept_entry_id
            && replacement.tokens_before == compaction.tokens_before
    })
}

/// Follows what makes a provider's cache miss.
struct CacheFlags {
    /// Places of settings entries that break the cache.
    breaks: HashSet<usize>,
    is_pending: bool,
    model: Option<String>,
}

impl CacheFlags {
    /// The state before `start`. Reads the newest reply before it, and no other.
    fn before(
        source: &mut Source<'_>,
        settings: &Settings,
        start: usize,
    ) -> Result<Self, StoreError> {
        let path = source.path;
        let breaks: HashSet<usize> = settings.cache_breaks.iter().copied().collect();
        let reply = path[..start].iter().rposition(|row| row.tag == EntryTag::Assistant);
        let since = reply.map_or(0, |reply| reply + 1);
        let is_pending =
            (since..start).any(|at| breaks.contains(&at) || path[at].tag == EntryTag::Compaction);
        let reply = reply.map(|reply| source.read(reply)).transpose()?.flatten();
        let model = reply.and_then(|entry| Some(model_of(entry.message()?.as_assistant()?)));
        Ok(Self { breaks, is_pending, model })
    }

    /// Goes past an entry that is not shown.
    fn pass(&mut self, at: usize) {
        self.is_pending |= self.breaks.contains(&at);
    }

    /// Goes past an entry; true where it is a reply whose missed cache is explained.
    fn pass_entry(&mut self, at: usize, entry: &Entry) -> bool {
        self.pass(at);
        self.is_pending |= entry.compaction().is_some();
        let Some(reply) = entry.message().and_then(|message| message.as_assistant()) else {
            return false;
        };
        let model = model_of(reply);
        let is_other = self.model.as_ref().is_some_and(|before| *before != model);
        self.model = Some(model);
        std::mem::take(&mut self.is_pending) || is_other
    }
}
