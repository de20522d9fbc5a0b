//! One session of a database.
//!
//! Keeps no index in memory: ids are looked up in the database, so that a session of any length costs nothing to hold. A session
//! whose database was taken away is copied into a new one by the next write, from the file that is still open.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::adoption::Known;
use super::database::{Database, error};
use super::named;
use super::reading::{self, Found, Texts};
use super::writing::{Changes, Finished, Writing, Written};
use crate::entry::Entry;
use crate::header::{Header, VERSION};
use crate::id_source::{IdSource, SystemIds};
use crate::ids::{EntryId, SessionId};
use crate::persisted::Persistence;
use crate::place::SessionPlace;
use crate::store::{ChangeSet, EntryReader, Lines, Opened, Receipt, SessionStore, StoreError};
use crate::time::{Clock, SystemClock};

/// A session in a database.
///
/// ```
/// use std::sync::Arc;
/// use longhand_session::sqlite::SqliteStore;
/// use longhand_session::time::Timestamp;
/// use longhand_session::{Entry, EntryReader, Header, SessionStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sessions.db");
/// let header = Header::new("s".into(), Timestamp::from_millis(0), "/work");
/// let entry: Entry = serde_json::from_str(r#"{"type":"custom","id":"a","customType":"note"}"#)?;
/// SqliteStore::create(&path, header).append(&[Arc::new(entry.clone())])?;
///
/// let mut store = SqliteStore::resume(&path, "s".into());
/// assert_eq!(store.open()?.rows.len(), 1);
/// assert_eq!(*store.read(&["a".into()])?[0], entry);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteStore {
    path: PathBuf,
    id: SessionId,
    /// The header of a session that is not written yet.
    new: Option<Header>,
    session: Option<Session>,
    ids: Arc<dyn IdSource>,
    clock: Arc<dyn Clock>,
    persistence: Persistence,
}

/// A session that is in its database.
struct Session {
    database: Database,
    /// Its number there.
    number: i64,
    known: Known,
    header: Header,
    bytes: u64,
}

/// What a write does to a session.
enum Work<'w> {
    Append(Vec<Written<'w>>),
    Apply(Changes<'w>),
    Fill(Lines<'w>),
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// A session that exists. Nothing is read before [`SessionStore::open`].
    pub fn resume(database: impl Into<PathBuf>, id: SessionId) -> Self {
        Self {
            path: database.into(),
            id,
            new: None,
            session: None,
            ids: Arc::new(SystemIds::default()),
            clock: Arc::new(SystemClock),
            persistence: Persistence::default(),
        }
    }

    /// A session that does not exist yet. It is written, and its database made where there is none, by the first append; an empty
    /// change set to [`SessionStore::rewrite`] writes it without entries.
    pub fn create(database: impl Into<PathBuf>, mut header: Header) -> Self {
        header.version.get_or_insert(VERSION);
        Self { new: Some(header.clone()), ..Self::resume(database, header.id) }
    }

    /// Takes ids and time from elsewhere.
    #[must_use]
    pub fn with_sources(mut self, ids: Arc<dyn IdSource>, clock: Arc<dyn Clock>) -> Self {
        self.ids = ids;
        self.clock = clock;
        self
    }

    /// Says where the large parts of entries go. By default pictures stay in their lines.
    #[must_use]
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// The lines of entries, after what they refer to was kept: nobody waits for that.
    fn written<'e>(&self, entries: &'e [Arc<Entry>]) -> Result<Vec<Written<'e>>, StoreError> {
        let write = |entry: &'e Arc<Entry>| {
            let line = self.persistence.line(entry).map_err(|source| StoreError::Io {
                action: "keep what belongs to an entry of",
                path: self.named(),
                source,
            })?;
            Ok(Written { entry, line })
        };
        entries.iter().map(write).collect()
    }

    fn named(&self) -> PathBuf {
        named(&self.path, &self.id)
    }

    fn open_new(&self, header: Header) -> Result<Opened, StoreError> {
        if let Some(mut database) = Database::open(&self.path)?
            && reading::find(&mut database, &self.id)?.is_some()
        {
            return Err(StoreError::Exists { path: self.named() });
        }
        Ok(Opened { header, ..Opened::default() })
    }

    fn open_existing(&mut self) -> Result<Opened, StoreError> {
        let missing = || StoreError::Missing { path: self.named() };
        let mut database = Database::open(&self.path)?.ok_or_else(missing)?;
        let found = reading::find(&mut database, &self.id)?.ok_or_else(missing)?;
        let Found { number, header, known, bytes, rows, damage } = found;
        self.session = Some(Session { database, number, known, header: header.clone(), bytes });
        Ok(Opened { header, rows, damage, needs_rewrite: false })
    }

    fn write(&mut self, work: Work<'_>) -> Result<Receipt, StoreError> {
        if self.session.is_none() && self.new.is_none() {
            self.open_existing()?;
        }
        if self.session.as_ref().is_some_and(|session| !session.database.is_in_its_place()) {
            self.move_to_a_new_database()?;
        }
        let now = self.clock.now_millis();
        match (&mut self.session, &self.new) {
            (Some(session), _) => {
                let receipt = session.write(work, &*self.ids, now)?;
                self.id.clone_from(&session.header.id);
                Ok(receipt)
            }
            (None, Some(header)) => {
                let session = Session::create(&self.path, header, work, &*self.ids, now)?;
                let bytes = session.bytes;
                self.id.clone_from(&session.header.id);
                self.session = Some(session);
                self.new = None;
                Ok(Receipt { bytes, ..Receipt::default() })
            }
            (None, None) => Err(StoreError::Missing { path: self.named() }),
        }
    }

    /// Copies the session out of a database whose name is gone, or leads to another.
    fn move_to_a_new_database(&mut self) -> Result<(), StoreError> {
        let Some(lost) = &self.session else { return Ok(()) };
        tracing::warn!("`{}` was taken away; the session is written anew", self.path.display());
        let lines: Lines<'_> = Box::new(Texts::new(&lost.database, lost.number));
        let now = self.clock.now_millis();
        let copied = Session::create(&self.path, &lost.header, Work::Fill(lines), &*self.ids, now);
        self.session = Some(copied.map_err(|error| match error {
            // Somebody put a copy there that may know less or more; to join the two is not for a store to decide.
            StoreError::Exists { path } => StoreError::Conflict { path },
            error => error,
        })?);
        Ok(())
    }
}

impl Session {
    /// Writes a session that is not in its database yet.
    fn create(
        path: &Path,
        header: &Header,
        work: Work<'_>,
        ids: &dyn IdSource,
        now_millis: i64,
    ) -> Result<Self, StoreError> {
        let mut database = Database::open_or_create(path)?;
        let transaction = database.begin()?;
        let mut writing = Writing::create(&transaction, path, header)?;
        let number = writing.session;
        let header = work.run(&mut writing, header, ids)?;
        let Finished { known, bytes } = writing.finish(now_millis)?;
        transaction.commit().map_err(error("write", path))?;
        Ok(Self { database, number, known, header, bytes })
    }

    /// Takes in what others wrote, and writes nothing.
    fn look(&mut self) -> Result<Receipt, StoreError> {
        let path = self.database.path.clone();
        let transaction = self.database.connection.transaction().map_err(error("read", &path))?;
        let writing = Writing::resume(&transaction, &path, self.number)?
            .ok_or_else(|| StoreError::Missing { path: named(&path, &self.header.id) })?;
        let adopted = writing.adopt(self.known)?;
        let Finished { known, bytes } = writing.unchanged()?;
        self.known = known;
        self.bytes = bytes;
        Ok(Receipt { bytes, adopted })
    }

    fn write(
        &mut self,
        work: Work<'_>,
        ids: &dyn IdSource,
        now_millis: i64,
    ) -> Result<Receipt, StoreError> {
        let path = self.database.path.clone();
        let transaction = self.database.begin()?;
        let mut writing = Writing::resume(&transaction, &path, self.number)?
            .ok_or_else(|| StoreError::Missing { path: named(&path, &self.header.id) })?;
        let adopted = writing.adopt(self.known)?;
        let header = work.run(&mut writing, &self.header, ids)?;
        let Finished { known, bytes } = writing.finish(now_millis)?;
        transaction.commit().map_err(error("write", &path))?;
        self.known = known;
        self.header = header;
        self.bytes = bytes;
        Ok(Receipt { bytes, adopted })
    }
}

impl Work<'_> {
    /// Does it, and gives the header after it.
    fn run(
        self,
        writing: &mut Writing<'_>,
        header: &Header,
        ids: &dyn IdSource,
    ) -> Result<Header, StoreError> {
        match self {
            Self::Append(entries) => writing.append(&entries)?,
            Self::Fill(lines) => writing.fill(lines, ids)?,
            Self::Apply(changes) => {
                writing.apply(&changes)?;
                if let Some(new) = changes.header {
                    // A session never goes back to an older version.
                    let version = new.version.max(header.version);
                    let header = Header { version, ..new.clone() };
                    writing.set_header(&header)?;
                    return Ok(header);
                }
            }
        }
        Ok(header.clone())
    }
}

impl EntryReader for SqliteStore {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        match (&self.session, ids.first()) {
            (_, None) => Ok(Vec::new()),
            (None, Some(id)) => Err(StoreError::UnknownEntry(id.clone())),
            (Some(session), Some(_)) => {
                reading::entries(&session.database, session.number, ids, &self.persistence)
            }
        }
    }
}

impl SessionStore for SqliteStore {
    fn open(&mut self) -> Result<Opened, StoreError> {
        match self.new.clone() {
            Some(header) => self.open_new(header),
            None => self.open_existing(),
        }
    }

    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        match &mut self.session {
            Some(session) if entries.is_empty() => session.look(),
            None if entries.is_empty() => Ok(Receipt::default()),
            _ => {
                let entries = self.written(entries)?;
                self.write(Work::Append(entries))
            }
        }
    }

    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError> {
        let changes = Changes {
            replace: self.written(&changes.replace)?,
            remove: &changes.remove,
            append: self.written(&changes.append)?,
            header: changes.header.as_ref(),
        };
        self.write(Work::Apply(changes))
    }

    fn lines(&self) -> Lines<'_> {
        match &self.session {
            Some(session) => Box::new(Texts::new(&session.database, session.number)),
            None => Box::new(std::iter::empty()),
        }
    }

    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError> {
        self.write(Work::Fill(lines))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        match &mut self.session {
            Some(session) => session.database.sync(),
            None => Ok(()),
        }
    }

    fn place(&self) -> Option<SessionPlace> {
        Some(SessionPlace::Database { path: self.path.clone(), id: self.id.clone() })
    }
}
