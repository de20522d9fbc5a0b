//! A store that somebody opened already, so that whoever opens it next does not read the session twice.

use std::sync::Arc;

use longhand_session::place::SessionPlace;
use longhand_session::store::{ChangeSet, Lines, Opened, Receipt};
use longhand_session::{Entry, EntryId, EntryReader, SessionStore, StoreError};

/// A store, and what was found when it was opened.
pub(crate) struct OpenedStore {
    store: Box<dyn SessionStore>,
    found: Option<Opened>,
}

impl OpenedStore {
    /// Opens a store.
    pub(crate) fn open(mut store: Box<dyn SessionStore>) -> Result<(Self, Opened), StoreError> {
        let found = store.open()?;
        Ok((Self { store, found: Some(found.clone()) }, found))
    }
}

impl EntryReader for OpenedStore {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.store.read(ids)
    }
}

impl SessionStore for OpenedStore {
    fn open(&mut self) -> Result<Opened, StoreError> {
        match self.found.take() {
            Some(found) => Ok(found),
            None => self.store.open(),
        }
    }

    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        self.store.append(entries)
    }

    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError> {
        self.store.rewrite(changes)
    }

    fn lines(&self) -> Lines<'_> {
        self.store.lines()
    }

    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError> {
        self.store.fill(lines)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.store.sync()
    }

    fn place(&self) -> Option<SessionPlace> {
        self.store.place()
    }
}
