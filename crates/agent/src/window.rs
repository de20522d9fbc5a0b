//! Which part of a path decides what the model sees: from the kept tail of the newest compaction on, or from the newest reset.
//!
//! Entries before it are never read when a session opens, and dropped from memory when a compaction lands.

use std::sync::Arc;

use imbl::Vector;
use longhand_session::entry::{CompactionEntry, EntryKind};
use longhand_session::store::{EntryTag, IndexRow};
use longhand_session::{Entry, EntryId, EntryReader, StoreError};

/// Reads the window of a path that runs from the root to a leaf.
pub(crate) fn read(
    path: &[IndexRow],
    reader: &dyn EntryReader,
) -> Result<Vec<Arc<Entry>>, StoreError> {
    let start = match newest_cut(path) {
        None => 0,
        Some(at) if path[at].tag == EntryTag::ResetBoundary => at,
        Some(at) => {
            let read = reader.read(std::slice::from_ref(&path[at].id))?;
            let compaction = read.first().and_then(|entry| entry.compaction());
            compaction.map_or(at, |compaction| kept_start(&path[..at], compaction))
        }
    };
    let ids: Vec<EntryId> = path[start..].iter().map(|row| row.id.clone()).collect();
    reader.read(&ids)
}

/// The window of entries that are in memory already.
pub(crate) fn trimmed(entries: &Vector<Arc<Entry>>) -> Vector<Arc<Entry>> {
    let path: Vec<IndexRow> = entries.iter().map(|entry| IndexRow::from(&**entry)).collect();
    let start = newest_cut(&path).map_or(0, |at| match &entries[at].kind {
        EntryKind::Compaction(compaction) => kept_start(&path[..at], compaction),
        _ => at,
    });
    entries.skip(start)
}

/// The entry that the newest compaction of a window wants to keep, if it is not on the path before it. One that names itself wants to
/// keep nothing.
pub(crate) fn lost_kept_entry(window: &[Arc<Entry>]) -> Option<&EntryId> {
    let at = window.iter().rposition(|entry| entry.compaction().is_some())?;
    let kept = &window[at].compaction()?.first_kept_entry_id;
    let is_lost = !kept.as_str().is_empty() && window[..=at].iter().all(|entry| entry.id != *kept);
    is_lost.then_some(kept)
}

fn newest_cut(path: &[IndexRow]) -> Option<usize> {
    path.iter().rposition(|row| matches!(row.tag, EntryTag::Compaction | EntryTag::ResetBoundary))
}

/// Where the entries begin that a compaction keeps, on the path before it.
fn kept_start(before: &[IndexRow], compaction: &CompactionEntry) -> usize {
    let place = |id: &EntryId| before.iter().position(|row| row.id == *id);
    let kept = place(&compaction.first_kept_entry_id);
    let replayed = compaction.provider_replay_through_entry_id.as_ref().and_then(place);
    let kind = compaction.details.as_ref().and_then(|details| details.get("kind")?.as_str());
    // Such a compaction carries the newest request of the user over, wherever it stands.
    let carried = (kind == Some("experimental-context-rollover"))
        .then(|| before.iter().rposition(|row| row.tag == EntryTag::User).unwrap_or(0));
    let starts = [kept, replayed.map(|at| at + 1), carried];
    starts.into_iter().flatten().min().unwrap_or(before.len())
}
