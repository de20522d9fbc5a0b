//! Paths through a session: the entries in memory that lead to a leaf, and the part of a path that still matters.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::Entry;
use crate::ids::EntryId;
use crate::store::{EntryReader, EntryTag, IndexRow, StoreError};
use crate::tree::Tree;

/// Where a path ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// At the last entry.
    Last,
    /// Before the first entry: the path is empty.
    BeforeFirst,
    /// At this entry, or at the last one where it is not known.
    At(EntryId),
}

/// Entries in memory, found by id. Of two with one id, the later counts.
pub(super) struct InMemory<'a> {
    entries: &'a [Arc<Entry>],
    by_id: HashMap<&'a EntryId, &'a Arc<Entry>>,
}

impl<'a> InMemory<'a> {
    pub(super) fn new(entries: &'a [Arc<Entry>]) -> Self {
        Self { entries, by_id: entries.iter().map(|entry| (&entry.id, entry)).collect() }
    }

    /// The path to a leaf, root first.
    pub(super) fn path(&self, leaf: &Leaf) -> Vec<IndexRow> {
        let named = match leaf {
            Leaf::BeforeFirst => return Vec::new(),
            Leaf::At(id) => self.by_id.get(id).copied(),
            Leaf::Last => None,
        };
        let Some(last) = named.or(self.entries.last()) else { return Vec::new() };
        let tree = Tree::new(self.entries.iter().map(|entry| IndexRow::from(&**entry)));
        let mut path: Vec<IndexRow> = tree.ancestors(&last.id).cloned().collect();
        path.reverse();
        path
    }
}

impl EntryReader for InMemory<'_> {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let find = |id: &EntryId| {
            let entry = self.by_id.get(id).copied().cloned();
            entry.ok_or_else(|| StoreError::UnknownEntry(id.clone()))
        };
        ids.iter().map(find).collect()
    }
}

/// What decides how much of a path a model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Landmarks {
    /// The first entry after the newest reset boundary; 0 without one.
    pub(super) after_reset: usize,
    /// The newest compaction, unless a reset boundary follows it.
    pub(super) compaction: Option<usize>,
}

impl Landmarks {
    pub(super) fn find(path: &[IndexRow]) -> Self {
        let newest = |tag| path.iter().rposition(|row| row.tag == tag);
        let after_reset = newest(EntryTag::ResetBoundary).map_or(0, |reset| reset + 1);
        let compaction = newest(EntryTag::Compaction).filter(|at| *at >= after_reset);
        Self { after_reset, compaction }
    }
}

/// Where an entry lies on a path before `end`. What is kept lies near the end, so that the search starts there.
pub(super) fn place_of(path: &[IndexRow], end: usize, id: &EntryId) -> Option<usize> {
    if id.as_str().is_empty() {
        return None;
    }
    path[..end].iter().rposition(|row| row.id == *id)
}

/// The part of a path that a compaction looks at: from the first entry that the newest compaction keeps on, or from that
/// compaction where it keeps none; after the newest reset boundary; the whole path without either. Reads the compaction only.
///
/// # Errors
/// The reader's.
pub fn working_path<'a>(
    path: &'a [IndexRow],
    reader: &dyn EntryReader,
) -> Result<&'a [IndexRow], StoreError> {
    let Landmarks { after_reset, compaction } = Landmarks::find(path);
    let Some(compaction) = compaction else { return Ok(&path[after_reset..]) };
    let entries = reader.read(std::slice::from_ref(&path[compaction].id))?;
    let kept = entries.first().and_then(|entry| entry.compaction()).and_then(|entry| {
        place_of(path, compaction, &entry.first_kept_entry_id).filter(|at| *at >= after_reset)
    });
    Ok(&path[kept.unwrap_or(compaction)..])
}
