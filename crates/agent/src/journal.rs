//! The store of a session as its owner uses it: a failure to write is remembered, told once, and made good by the next write.
//!
//! Entries that could not be written stay readable from memory and go out, in order, before anything newer. The settings of a
//! session in which nobody has said anything yet are held back too, so that looking at a session leaves no file. No rule about
//! what an entry means lives here.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use longhand_session::store::{Adopted, ChangeSet, EntryTag, Opened, Receipt};
use longhand_session::{Entry, EntryId, EntryReader, SessionStore, StoreError};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::event::SessionEvent;
use crate::mail::{Mail, Postbox};

/// Shortest time between two requests to make the file survive the loss of power: each costs the disk several milliseconds.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// How many entries a long read takes at once. Between two lots an append may pass.
const READ_LOT: usize = 256;

type SharedStore = Arc<Mutex<Box<dyn SessionStore>>>;

/// Writes to the store, and remembers what could not be written.
pub(crate) struct Journal {
    store: SharedStore,
    /// Entries that are not in the store, in order.
    pending: Vec<Arc<Entry>>,
    /// Why they are not; `None` where they are only held back.
    failure: Option<Arc<StoreError>>,
    /// Whether somebody has said something, so that entries are written as they come.
    has_begun: bool,
    /// What other processes wrote into the session, as far as nobody took it.
    adopted: Adopted,
    sync: Sync,
}

#[derive(Default)]
struct Sync {
    is_wanted: bool,
    last: Option<Instant>,
    has_failed: bool,
}

impl Journal {
    /// Opens a store.
    pub(crate) async fn open(store: Box<dyn SessionStore>) -> Result<(Self, Opened), StoreError> {
        let store: SharedStore = Arc::new(Mutex::new(store));
        let shared = store.clone();
        let opened = blocking(move || shared.blocking_lock().open()).await?;
        let has_begun = opened.rows.iter().any(|row| row.tag.is_message());
        let journal = Self {
            store,
            pending: Vec::new(),
            failure: None,
            has_begun,
            adopted: Adopted::default(),
            sync: Sync::default(),
        };
        Ok((journal, opened))
    }

    /// Writes entries after whatever is still unwritten. Returns a failure that nobody has been told of.
    pub(crate) async fn append(&mut self, entries: &[Arc<Entry>]) -> Option<Arc<StoreError>> {
        self.pending.extend_from_slice(entries);
        self.has_begun |= entries.iter().any(|entry| EntryTag::of(&entry.kind).is_message());
        if self.has_begun { self.flush().await } else { None }
    }

    /// Somebody has said something that is to be kept: from now on entries are written as they come.
    pub(crate) fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Makes changes, whatever is still unwritten among them: all or nothing.
    pub(crate) async fn rewrite(&mut self, changes: ChangeSet) -> Result<(), Arc<StoreError>> {
        let ChangeSet { replace, remove, append, header } = changes;
        let mut pending = self.pending.clone();
        let (unwritten, replace) = replace
            .into_iter()
            .partition::<Vec<_>, _>(|new| pending.iter().any(|old| old.id == new.id));
        for new in unwritten {
            pending.iter_mut().filter(|old| old.id == new.id).for_each(|old| *old = new.clone());
        }
        let (unwritten, remove) =
            remove.into_iter().partition::<Vec<_>, _>(|id| pending.iter().any(|old| old.id == *id));
        pending.retain(|old| !unwritten.contains(&old.id));
        pending.extend(append);
        self.begin();
        let changes = ChangeSet { replace, remove, append: pending, header };
        let store = self.store.clone();
        let written = blocking(move || store.blocking_lock().rewrite(&changes)).await;
        self.written(written.map_err(Arc::new)?);
        Ok(())
    }

    /// Everything is in the store.
    fn written(&mut self, receipt: Receipt) {
        self.pending.clear();
        self.failure = None;
        self.adopt(receipt);
    }

    fn adopt(&mut self, receipt: Receipt) {
        self.adopted.rows.extend(receipt.adopted.rows);
        self.adopted.changed.extend(receipt.adopted.changed);
    }

    /// What other processes wrote, each thing once.
    pub(crate) fn take_adopted(&mut self) -> Adopted {
        std::mem::take(&mut self.adopted)
    }

    /// Looks what other processes wrote. A failure is that of the next write.
    pub(crate) async fn look(&mut self) {
        if self.has_begun && self.pending.is_empty() {
            let looked = self.store.lock().await.append(&[]);
            let Ok(receipt) = looked else { return };
            self.adopt(receipt);
        }
    }

    /// Tries to write what is unwritten.
    pub(crate) async fn flush(&mut self) -> Option<Arc<StoreError>> {
        if self.pending.is_empty() {
            return None;
        }
        let written = self.store.lock().await.append(&self.pending);
        match written {
            Ok(receipt) => {
                self.written(receipt);
                None
            }
            Err(error) => self.latch(error),
        }
    }

    /// Why part of the transcript is only in memory, if it is.
    pub(crate) fn failure(&self) -> Option<Arc<StoreError>> {
        self.failure.clone()
    }

    /// What new listeners are told: that part of the transcript is only in memory.
    pub(crate) fn standing(&self) -> Option<SessionEvent> {
        self.failure.as_deref().map(persistence_error)
    }

    /// Reads entries, unwritten ones included, apart from the owner.
    pub(crate) fn reader(&self) -> Reader {
        let unwritten = self.pending.iter().map(|entry| (entry.id.clone(), entry.clone()));
        Reader { store: self.store.clone(), unwritten: unwritten.collect() }
    }

    /// The end of a turn or of a compaction: soon it should survive the loss of power.
    pub(crate) fn want_sync(&mut self) {
        self.sync.is_wanted = true;
    }

    /// Waits until a sync is due; for ever where none is wanted, or where there is something to be written first.
    pub(crate) async fn sync_due(&self) {
        if !self.sync.is_wanted || self.failure.is_some() {
            return std::future::pending().await;
        }
        if let Some(last) = self.sync.last {
            tokio::time::sleep_until(last + SYNC_INTERVAL).await;
        }
    }

    /// Begins a sync, whose result comes by mail.
    pub(crate) fn begin_sync(&mut self, postbox: Postbox) {
        self.sync.is_wanted = false;
        self.sync.last = Some(Instant::now());
        let store = self.store.clone();
        tokio::spawn(async move {
            let result = blocking(move || store.blocking_lock().sync()).await;
            postbox.send(Mail::Synced(result)).await;
        });
    }

    /// Takes the result of a sync. One that failed is tried again. Returns a failure that nobody has been told of.
    pub(crate) fn end_sync(&mut self, result: Result<(), StoreError>) -> Option<StoreError> {
        self.sync.is_wanted |= result.is_err();
        let was_told = std::mem::replace(&mut self.sync.has_failed, result.is_err());
        result.err().filter(|_| !was_told && self.failure.is_none())
    }

    /// Writes what is unwritten and waits until it would survive the loss of power.
    pub(crate) async fn close(&mut self) -> Result<(), Arc<StoreError>> {
        if !self.has_begun {
            return Ok(());
        }
        self.flush().await;
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let store = self.store.clone();
        blocking(move || store.blocking_lock().sync()).await.map_err(Arc::new)
    }

    /// Remembers a failure. Returns it if it is news.
    fn latch(&mut self, error: StoreError) -> Option<Arc<StoreError>> {
        let is_news = self.failure.is_none();
        let error = self.failure.insert(Arc::new(error));
        is_news.then(|| error.clone())
    }
}

/// Reads a session while its owner goes on.
pub(crate) struct Reader {
    store: SharedStore,
    unwritten: HashMap<EntryId, Arc<Entry>>,
}

impl Reader {
    /// Runs a long read on a thread of its own.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        read: impl FnOnce(&dyn EntryReader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        blocking(move || read(&self)).await
    }
}

impl EntryReader for Reader {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let mut entries = Vec::with_capacity(ids.len());
        for lot in ids.chunks(READ_LOT) {
            let is_written = |id: &&EntryId| !self.unwritten.contains_key(*id);
            let written: Vec<EntryId> = lot.iter().filter(is_written).cloned().collect();
            let mut read = self.store.blocking_lock().read(&written)?.into_iter();
            let unwritten = lot.iter().map(|id| self.unwritten.get(id).cloned());
            entries.extend(unwritten.filter_map(|entry| entry.or_else(|| read.next())));
        }
        Ok(entries)
    }
}

/// The event that tells of a failure to write.
pub(crate) fn persistence_error(error: &StoreError) -> SessionEvent {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    SessionEvent::PersistenceError { message }
}

/// Runs file work on a thread that may wait. A panic in there goes on in here.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going away, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
