//! A session that is only read: for looking at it, not for going on with it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use longhand_session::context::{self, RebuildOptions, SessionContext, working_path};
use longhand_session::header::Header;
use longhand_session::place::SessionPlace;
use longhand_session::store::{
    Damage, EntryReader, IndexRow, Lines, Opened, SessionStore, StoreError,
};
use longhand_session::time::Timestamp;
use longhand_session::tree::Tree;
use longhand_session::{Entry, EntryId};

use crate::stores;

/// A session that is only read. Nothing is written: no migration, no repair, no lock.
pub struct SessionFile {
    entries: Kept,
    /// Header of the session.
    pub header: Header,
    /// What could not be read.
    pub damage: Damage,
    /// One row an entry, in the order of the file.
    pub rows: Vec<IndexRow>,
    /// The tree of the entries.
    pub tree: Tree,
    /// Where the session lies; `None` in memory.
    pub place: Option<SessionPlace>,
    /// Length of the session, in bytes; 0 in memory.
    pub bytes: u64,
    /// When it was last written.
    pub modified: Option<Timestamp>,
}

impl SessionFile {
    /// Opens a session for reading.
    ///
    /// # Errors
    /// The store cannot be read, or holds no session.
    pub fn open(mut store: Box<dyn SessionStore>) -> Result<Self, StoreError> {
        let Opened { header, rows, damage, .. } = store.open()?;
        let place = store.place();
        let facts = place.as_ref().map(stores::facts).transpose()?.flatten();
        Ok(Self {
            tree: Tree::new(rows.iter().cloned()),
            header,
            damage,
            rows,
            bytes: facts.as_ref().map_or(0, |facts| facts.bytes),
            modified: facts.and_then(|facts| facts.modified).map(timestamp),
            place,
            entries: Kept { store, read: RefCell::default() },
        })
    }

    /// The branch that ends at an entry, or at the leaf where none is named.
    ///
    /// # Errors
    /// The entry is not in the session.
    pub fn path(&self, at: Option<&EntryId>) -> Result<Vec<IndexRow>, StoreError> {
        let ids = match at {
            Some(id) if self.tree.contains(id) => self.tree.path(id),
            Some(id) => return Err(StoreError::UnknownEntry(id.clone())),
            None => self.tree.active_path(),
        };
        Ok(ids.iter().filter_map(|id| self.tree.row(id)).cloned().collect())
    }

    /// What a model would see of a branch, before conversion to the roles that providers take.
    ///
    /// # Errors
    /// The entries cannot be read.
    pub fn context(&self, path: &[IndexRow]) -> Result<SessionContext, StoreError> {
        context::build(path, &self.entries, &RebuildOptions::default())
    }

    /// The settings in force at the end of a branch, such as its models, without its messages.
    ///
    /// # Errors
    /// The entries cannot be read.
    pub fn settings(&self, path: &[IndexRow]) -> Result<SessionContext, StoreError> {
        context::settings(path, &self.entries)
    }

    /// The part of a branch that a compaction looks at.
    ///
    /// # Errors
    /// The entries cannot be read.
    pub fn working_path<'a>(&self, path: &'a [IndexRow]) -> Result<&'a [IndexRow], StoreError> {
        working_path(path, &self.entries)
    }

    /// Reads entries. An entry that was read before is the same one again.
    ///
    /// # Errors
    /// An entry is missing, or cannot be read.
    pub fn read(&self, rows: &[IndexRow]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let ids: Vec<EntryId> = rows.iter().map(|row| row.id.clone()).collect();
        self.entries.read(&ids)
    }
}

impl SessionFile {
    /// Reads entries without keeping them, for whoever looks at each once.
    ///
    /// # Errors
    /// An entry is missing, or cannot be read.
    pub fn read_once(&self, rows: &[IndexRow]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let ids: Vec<EntryId> = rows.iter().map(|row| row.id.clone()).collect();
        self.entries.store.read(&ids)
    }

    /// The lines of the session after its header, as they lie.
    pub fn lines(&self) -> Lines<'_> {
        self.entries.store.lines()
    }
}

/// A store that keeps what it has read, so that messages can be told by identity.
struct Kept {
    store: Box<dyn SessionStore>,
    read: RefCell<HashMap<EntryId, Arc<Entry>>>,
}

impl EntryReader for Kept {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let mut read = self.read.borrow_mut();
        let missing: Vec<EntryId> =
            ids.iter().filter(|id| !read.contains_key(*id)).cloned().collect();
        for entry in self.store.read(&missing)? {
            read.insert(entry.id.clone(), entry);
        }
        ids.iter()
            .map(|id| read.get(id).cloned().ok_or_else(|| StoreError::UnknownEntry(id.clone())))
            .collect()
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
