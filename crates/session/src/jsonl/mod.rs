//! A session as a file of one JSON object a line: title slot, header, entries in the order of their creation.
//!
//! Opening reads the file once and keeps an index, about 150 bytes an entry; entries are read when they are asked for. An append is one
//! write at the end. Everything else is a new file in the place of the old one, in which untouched lines are copied
//! byte for byte. A file that is only read is never written.
//!
//! Files of older versions, and damaged ones, are as usable as any: the first append rewrites them, after the original was kept
//! beside. Several processes may write one session: each writes under a lock and takes in first what the others wrote.

mod append;
mod catch_up;
mod disk;
mod draft;
mod line;
mod lock;
mod migration;
mod read;
mod recover;
mod relocation;
mod rewrite;
mod scan;

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use disk::{Disk, SystemDisk};
pub(crate) use line::{pick, usual};
pub use recover::{recover, recover_folder, salvage};
pub use relocation::{Relocated, Relocation};

use crate::entry::Entry;
use crate::header::{Header, VERSION};
use crate::id_source::{IdSource, SystemIds};
use crate::ids::EntryId;
use crate::memory_store::refuse_duplicates;
use crate::persisted::Persistence;
use crate::place::SessionPlace;
use crate::store::{Adopted, ChangeSet, Lines, Opened, Receipt, SessionStore, StoreError};
use crate::time::{Clock, SystemClock};
use catch_up::{Found, Looking, MAX_LOOKS};
use disk::Token;
use lock::{Held, Lock, LockError};
use scan::{Content, Form, Place, Record, Scanned};

/// A session in a file.
///
/// ```
/// use std::sync::Arc;
/// use longhand_session::time::Timestamp;
/// use longhand_session::{Entry, EntryReader, Header, JsonlStore, SessionStore, Tree};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("session.jsonl");
/// let header = Header::new("s".into(), Timestamp::from_millis(0), "/work");
/// let entry: Entry = serde_json::from_str(r#"{"type":"custom","id":"a","customType":"note"}"#)?;
/// JsonlStore::create(&path, header).append(&[Arc::new(entry.clone())])?;
///
/// let mut store = JsonlStore::resume(&path);
/// let tree = Tree::new(store.open()?.rows);
/// assert_eq!(*store.read(&tree.active_path())?[0], entry);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonlStore {
    path: PathBuf,
    /// The header of a session that is not written yet.
    new: Option<Header>,
    session: Option<Session>,
    ids: Arc<dyn IdSource>,
    clock: Arc<dyn Clock>,
    disk: Arc<dyn Disk>,
    persistence: Persistence,
    lock: Option<Lock>,
    /// What other processes wrote and no receipt has told yet.
    unreported: Adopted,
}

impl fmt::Debug for JsonlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What is known of the file since it was opened or last written.
struct Session {
    header: Header,
    records: Vec<Record>,
    by_id: HashMap<EntryId, usize>,
    /// Entries that are not in the file, because another process replaced it without them. They go out with the next write.
    carried: Vec<(EntryId, String)>,
    /// `None` until the first write of a new session.
    file: Option<OnDisk>,
}

/// A file that holds the session.
struct OnDisk {
    /// Kept open: it can be read even after its name was taken.
    reader: File,
    /// Opened by the first append, so that reading needs no right to write.
    appender: Option<Arc<File>>,
    token: Token,
    header_place: Place,
    has_slot: bool,
    /// Version that the lines are in.
    version: u64,
    /// End of the last whole line.
    bytes: u64,
    lines: usize,
    is_terminated: bool,
    pending: Option<Pending>,
}

/// Why the next write is a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// The file is of an older version.
    Migration,
    /// Lines could not be read.
    Repair,
    /// What a failed append left behind; nothing of it is worth keeping.
    TornAppend,
}

impl JsonlStore {
    /// A session that exists. Nothing is read before [`SessionStore::open`].
    pub fn resume(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            new: None,
            session: None,
            ids: Arc::new(SystemIds::default()),
            clock: Arc::new(SystemClock),
            disk: Arc::new(SystemDisk),
            persistence: Persistence::default(),
            lock: None,
            unreported: Adopted::default(),
        }
    }

    /// A session that does not exist yet. Its file is written by the first append; an empty change set to
    /// [`SessionStore::rewrite`] writes it without entries.
    pub fn create(path: impl Into<PathBuf>, mut header: Header) -> Self {
        header.version.get_or_insert(VERSION);
        Self { new: Some(header), ..Self::resume(path) }
    }

    /// Takes ids and time from elsewhere.
    #[must_use]
    pub fn with_sources(mut self, ids: Arc<dyn IdSource>, clock: Arc<dyn Clock>) -> Self {
        self.ids = ids;
        self.clock = clock;
        self
    }

    /// Writes through another disk.
    #[must_use]
    pub fn with_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Says where the large parts of entries go. By default pictures stay in their lines.
    #[must_use]
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// Adapts the error of an operating system call on the session's file.
    fn io_error(&self, action: &'static str) -> impl Fn(io::Error) -> StoreError + use<> {
        failed_to(action, &self.path)
    }

    /// The session, opened if nobody did.
    fn opened(&mut self) -> Result<&mut Session, StoreError> {
        if self.session.is_none() {
            self.open()?;
        }
        self.session.as_mut().ok_or_else(|| StoreError::Missing { path: self.path.clone() })
    }

    /// The right to write. The folder of a new session is made for it.
    fn held(&mut self) -> Result<Held, StoreError> {
        let file = self.file_path();
        if let Some(folder) = file.parent() {
            // Sessions are private, and so are their names.
            let mut builder = fs::DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(self.io_error("make a folder for"))?;
        }
        let lock = self.lock.get_or_insert_with(|| Lock::of(&file));
        lock.acquire().map_err(|error| match error {
            LockError::Held => StoreError::Locked { path: self.path.clone() },
            LockError::Io(source) => self.io_error("lock")(source),
        })
    }

    fn scan(&self) -> Result<Option<(File, Content)>, StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io_error("open")(error)),
        };
        let content = scan::scan(&file).map_err(self.io_error("read"))?;
        Ok(Some((file, content)))
    }

    /// A file without content gives way to a new session, and nothing else does.
    fn refuse_a_taken_place(&self) -> Result<(), StoreError> {
        let path = self.path.clone();
        match self.scan()? {
            Some((_, Content::Session(_))) => Err(StoreError::Exists { path }),
            Some((_, Content::Foreign)) => Err(StoreError::NotASession { path }),
            Some((_, Content::Nothing)) | None => Ok(()),
        }
    }

    fn open_new(&mut self, header: Header) -> Result<Opened, StoreError> {
        self.refuse_a_taken_place()?;
        self.session = Some(Session {
            header: header.clone(),
            records: Vec::new(),
            by_id: HashMap::new(),
            carried: Vec::new(),
            file: None,
        });
        Ok(Opened { header, ..Opened::default() })
    }

    fn open_existing(&mut self) -> Result<Opened, StoreError> {
        let path = || self.path.clone();
        // A line that another process is writing at this moment looks torn; the next look finds it whole.
        for _ in 0..MAX_LOOKS {
            let (reader, scanned) = match self.scan()? {
                Some((file, Content::Session(scanned))) => (file, *scanned),
                Some((_, Content::Foreign)) => {
                    return Err(StoreError::NotASession { path: path() });
                }
                None if recover(&self.path).map_err(self.io_error("recover"))? => continue,
                Some((_, Content::Nothing)) | None => {
                    return Err(StoreError::Missing { path: path() });
                }
            };
            let token = Token::of(&reader, scanned.bytes).map_err(self.io_error("read"))?;
            let Some(token) = token.filter(|token| scanned.fits(token)) else { continue };
            let (session, opened) = Session::read(scanned, reader, token);
            self.session = Some(session);
            return Ok(opened);
        }
        Err(StoreError::Conflict { path: path() })
    }
}

/// Adapts the error of an operating system call on a file.
fn failed_to(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path: path.clone(), source }
}

impl Session {
    fn read(scanned: Scanned, reader: File, token: Token) -> (Self, Opened) {
        let pending = if scanned.version < VERSION {
            Some(Pending::Migration)
        } else if scanned.damage.is_none() {
            None
        } else {
            Some(Pending::Repair)
        };
        let opened = Opened {
            header: scanned.header.clone(),
            rows: scanned.rows,
            damage: scanned.damage,
            needs_rewrite: pending.is_some(),
        };
        let file = OnDisk {
            reader,
            appender: None,
            token,
            header_place: scanned.header_place,
            has_slot: scanned.has_slot,
            version: scanned.version,
            bytes: scanned.bytes,
            lines: scanned.lines,
            is_terminated: scanned.is_terminated,
            pending,
        };
        let session = Self {
            header: scanned.header,
            records: scanned.records,
            by_id: scanned.by_id,
            carried: Vec::new(),
            file: Some(file),
        };
        (session, opened)
    }

    fn index(&self, id: &EntryId) -> Result<usize, StoreError> {
        self.by_id.get(id).copied().ok_or_else(|| StoreError::UnknownEntry(id.clone()))
    }

    fn add_record(&mut self, id: EntryId, place: Place, line: usize) {
        self.by_id.insert(id.clone(), self.records.len());
        self.records.push(Record { id: Some(id), place, line, form: Form::Whole });
    }
}

impl SessionStore for JsonlStore {
    fn open(&mut self) -> Result<Opened, StoreError> {
        match self.new.clone() {
            Some(header) => self.open_new(header),
            None => self.open_existing(),
        }
    }

    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        let session = self.opened()?;
        refuse_duplicates(entries, |id| session.by_id.contains_key(id))?;
        if session.file.is_none() && entries.is_empty() {
            return Ok(Receipt::default());
        }
        let _held = self.held()?;
        let place = self.catch_up(Looking::AtItsEnd, entries)?;
        if entries.is_empty() {
            return Ok(self.receipt());
        }
        let session = self.opened()?;
        refuse_duplicates(entries, |id| session.by_id.contains_key(id))?;
        let needs_new_file = session.file.as_ref().is_none_or(|file| file.pending.is_some());
        if needs_new_file || place == Found::Gone {
            let append = entries.to_vec();
            self.replace_file(&ChangeSet { append, ..ChangeSet::default() })?;
        } else {
            self.append_lines(entries)?;
        }
        Ok(self.receipt())
    }

    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError> {
        self.opened()?;
        let _held = self.held()?;
        self.catch_up(Looking::AtAll, &changes.append)?;
        self.replace_file(changes)?;
        Ok(self.receipt())
    }

    fn lines(&self) -> Lines<'_> {
        let records = self.session.as_ref().map_or(0, |session| session.records.len());
        Box::new((0..records).map(|at| self.line_of(at)))
    }

    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError> {
        if !self.opened()?.records.is_empty() {
            return Err(StoreError::Filled);
        }
        let _held = self.held()?;
        self.fill_file(lines)?;
        Ok(self.receipt())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.session.as_ref().and_then(|session| session.file.as_ref()) else {
            return Ok(());
        };
        self.disk.sync(&file.reader).map_err(self.io_error("sync"))
    }

    fn place(&self) -> Option<SessionPlace> {
        Some(SessionPlace::File(self.path.clone()))
    }
}
