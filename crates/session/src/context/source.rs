//! The entries of a path, read when they are first needed and at most once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{CompactionEntry, Entry};
use crate::store::{EntryReader, IndexRow, StoreError};

pub(super) struct Source<'a> {
    pub(super) path: &'a [IndexRow],
    reader: &'a dyn EntryReader,
    entries: HashMap<usize, Arc<Entry>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a [IndexRow], reader: &'a dyn EntryReader) -> Self {
        Self { path, reader, entries: HashMap::new() }
    }

    /// Reads entries by their place on the path, in one go.
    pub(super) fn load(
        &mut self,
        places: impl IntoIterator<Item = usize>,
    ) -> Result<(), StoreError> {
        let mut missing: Vec<usize> =
            places.into_iter().filter(|at| !self.entries.contains_key(at)).collect();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = missing.iter().map(|at| self.path[*at].id.clone()).collect();
        self.entries.extend(missing.into_iter().zip(self.reader.read(&ids)?));
        Ok(())
    }

    /// An entry that was loaded.
    pub(super) fn entry(&self, at: usize) -> Option<&Arc<Entry>> {
        self.entries.get(&at)
    }

    /// One entry, loaded now.
    pub(super) fn read(&mut self, at: usize) -> Result<Option<Arc<Entry>>, StoreError> {
        self.load([at])?;
        Ok(self.entries.get(&at).cloned())
    }

    /// A compaction that was loaded.
    pub(super) fn compaction(&self, at: usize) -> Option<(&Entry, &CompactionEntry)> {
        let entry = self.entries.get(&at)?;
        Some((entry, entry.compaction()?))
    }
}
