//! A session that lives only as long as its process.
//!
//! Behaves as a file does, without a place: what is appended can be read, refused changes change nothing. Never fails to write.
//! Objects without an id, which only [`SessionStore::fill`] brings, keep their places between the entries.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::entry::Entry;
use crate::header::Header;
use crate::id_source::{IdSource, SystemIds, fresh_entry_id};
use crate::ids::EntryId;
use crate::place::SessionPlace;
use crate::store::{
    ChangeSet, Damage, EntryReader, IndexRow, Lines, Opened, Receipt, SessionStore, StoreError,
};
use crate::stored_object;

/// A store in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    header: Header,
    entries: Vec<Arc<Entry>>,
    by_id: HashMap<EntryId, usize>,
    duplicate_ids: Vec<EntryId>,
    objects: Vec<Object>,
    /// Lines of entries that would be written otherwise than they came.
    as_they_came: HashMap<EntryId, String>,
}

/// An object without an id: no entry, but part of the session.
#[derive(Debug, Clone)]
struct Object {
    /// How many entries come before it.
    after_entries: usize,
    line: String,
}

impl MemoryStore {
    /// A session without entries.
    pub fn new(header: Header) -> Self {
        Self { header, ..Self::default() }
    }

    /// A session with entries, such as an imported one. The last entry of an id owns it; earlier ones get a fresh id.
    pub fn with_entries(header: Header, entries: impl IntoIterator<Item = Arc<Entry>>) -> Self {
        let mut store = Self { header, entries: entries.into_iter().collect(), ..Self::default() };
        let mut shadowed = Vec::new();
        for (at, entry) in store.entries.iter().enumerate() {
            shadowed.extend(store.by_id.insert(entry.id.clone(), at));
        }
        let ids = SystemIds::default();
        for at in shadowed {
            store.rename(at, &ids);
        }
        store
    }

    /// All entries, in the order of their arrival.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    fn line_of(&self, entry: &Entry) -> String {
        self.as_they_came.get(&entry.id).cloned().unwrap_or_else(|| entry.to_line())
    }

    /// Keeps the objects where they are between the entries that stay.
    fn move_objects(&mut self, removed: &HashSet<&EntryId>) {
        let mut objects = self.objects.iter_mut().peekable();
        let mut kept = 0;
        for (at, entry) in self.entries.iter().enumerate() {
            while let Some(object) = objects.next_if(|object| object.after_entries <= at) {
                object.after_entries = kept;
            }
            kept += usize::from(!removed.contains(&entry.id));
        }
        objects.for_each(|object| object.after_entries = kept);
    }

    fn rename(&mut self, at: usize, ids: &dyn IdSource) {
        let id = fresh_entry_id(ids, |id| self.by_id.contains_key(id));
        let old = std::mem::replace(&mut Arc::make_mut(&mut self.entries[at]).id, id.clone());
        self.duplicate_ids.push(old);
        self.by_id.insert(id, at);
    }

    fn index(&self, id: &EntryId) -> Result<usize, StoreError> {
        self.by_id.get(id).copied().ok_or_else(|| StoreError::UnknownEntry(id.clone()))
    }
}

impl EntryReader for MemoryStore {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        ids.iter().map(|id| Ok(Arc::clone(&self.entries[self.index(id)?]))).collect()
    }
}

impl SessionStore for MemoryStore {
    fn open(&mut self) -> Result<Opened, StoreError> {
        Ok(Opened {
            header: self.header.clone(),
            rows: self.entries.iter().map(|entry| IndexRow::from(&**entry)).collect(),
            damage: Damage { lines: Vec::new(), duplicate_ids: self.duplicate_ids.clone() },
            needs_rewrite: false,
        })
    }

    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        refuse_duplicates(entries, |id| self.by_id.contains_key(id))?;
        for entry in entries {
            self.by_id.insert(entry.id.clone(), self.entries.len());
            self.entries.push(Arc::clone(entry));
        }
        Ok(Receipt::default())
    }

    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError> {
        for id in changes.replace.iter().map(|entry| &entry.id).chain(&changes.remove) {
            self.index(id)?;
        }
        refuse_duplicates(&changes.append, |id| self.by_id.contains_key(id))?;
        for entry in &changes.replace {
            let at = self.index(&entry.id)?;
            self.as_they_came.remove(&entry.id);
            self.entries[at] = Arc::clone(entry);
        }
        let removed: HashSet<&EntryId> = changes.remove.iter().collect();
        self.move_objects(&removed);
        self.as_they_came.retain(|id, _| !removed.contains(id));
        self.entries.retain(|entry| !removed.contains(&entry.id));
        self.entries.extend(changes.append.iter().cloned());
        self.by_id =
            self.entries.iter().enumerate().map(|(at, entry)| (entry.id.clone(), at)).collect();
        if let Some(header) = &changes.header {
            // A session never goes back to an older version.
            let version = header.version.max(self.header.version);
            self.header = Header { version, ..header.clone() };
        }
        Ok(Receipt::default())
    }

    fn lines(&self) -> Lines<'_> {
        let mut objects = self.objects.iter().peekable();
        let mut entries = self.entries.iter().enumerate().peekable();
        Box::new(std::iter::from_fn(move || {
            let at = entries.peek().map_or(self.entries.len(), |(at, _)| *at);
            let object = objects.next_if(|object| object.after_entries <= at);
            let line = object.map(|object| object.line.clone());
            line.or_else(|| Some(self.line_of(entries.next()?.1))).map(Ok)
        }))
    }

    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError> {
        if !self.entries.is_empty() || !self.objects.is_empty() {
            return Err(StoreError::Filled);
        }
        let (mut entries, mut objects) = (Vec::new(), Vec::new());
        let mut as_they_came = HashMap::new();
        for line in lines {
            let line = line?;
            match stored_object::read(&line).map_err(StoreError::Line)? {
                Some(entry) => {
                    as_they_came.remove(&entry.id);
                    if entry.to_line() != line {
                        as_they_came.insert(entry.id.clone(), line);
                    }
                    entries.push(Arc::new(entry));
                }
                None => objects.push(Object { after_entries: entries.len(), line }),
            }
        }
        let filled = Self::with_entries(std::mem::take(&mut self.header), entries);
        *self = Self { objects, as_they_came, ..filled };
        Ok(Receipt::default())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn place(&self) -> Option<SessionPlace> {
        None
    }
}

/// Checks that each of `entries` brings an id of its own.
pub(crate) fn refuse_duplicates(
    entries: &[Arc<Entry>],
    is_taken: impl Fn(&EntryId) -> bool,
) -> Result<(), StoreError> {
    let mut seen = HashSet::with_capacity(entries.len());
    match entries.iter().find(|entry| is_taken(&entry.id) || !seen.insert(&entry.id)) {
        Some(entry) => Err(StoreError::DuplicateEntry(entry.id.clone())),
        None => Ok(()),
    }
}
