use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhand_session::place::SessionPlace;
use longhand_session::store::{ChangeSet, Lines, Opened, Receipt};
use longhand_session::{
    Entry, EntryId, EntryReader, MemoryStore, Message, SessionStore, StoreError,
};

/// A store in memory that can be looked into while a session writes it, and told to fail.
#[derive(Debug, Clone, Default)]
pub struct SharedStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    store: MemoryStore,
    is_failing: bool,
    syncs: usize,
}

impl SharedStore {
    /// Holds a session.
    pub fn new(store: MemoryStore) -> Self {
        let inner = Inner { store, ..Inner::default() };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// From now on every write fails.
    pub fn fail(&self) {
        self.inner().is_failing = true;
    }

    /// Writes succeed again.
    pub fn recover(&self) {
        self.inner().is_failing = false;
    }

    /// All entries, in the order they were written.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.inner().store.entries().to_vec()
    }

    /// All messages among them.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.inner().store.entries().iter().filter_map(|e| e.message().cloned()).collect()
    }

    /// How often it was told to survive the loss of power.
    pub fn syncs(&self) -> usize {
        self.inner().syncs
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics while it holds the lock, so a poisoned store is a whole one.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self, action: &'static str) -> Result<MutexGuard<'_, Inner>, StoreError> {
        let inner = self.inner();
        if inner.is_failing {
            let source = io::Error::from(io::ErrorKind::StorageFull);
            return Err(StoreError::Io { action, path: PathBuf::from("memory"), source });
        }
        Ok(inner)
    }
}

impl EntryReader for SharedStore {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.inner().store.read(ids)
    }
}

impl SessionStore for SharedStore {
    fn open(&mut self) -> Result<Opened, StoreError> {
        self.inner().store.open()
    }

    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        self.writing("append to")?.store.append(entries)
    }

    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError> {
        self.writing("replace")?.store.rewrite(changes)
    }

    fn lines(&self) -> Lines<'_> {
        let lines: Vec<_> = self.inner().store.lines().collect();
        Box::new(lines.into_iter())
    }

    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError> {
        self.writing("fill")?.store.fill(lines)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.writing("sync")?.syncs += 1;
        Ok(())
    }

    fn place(&self) -> Option<SessionPlace> {
        None
    }
}
