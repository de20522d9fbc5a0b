//! The database file: how it is made, told from other files, and opened.
//!
//! A database appears under its name whole or not at all. A file that is something else, or of a later version, is left as it is.
//! The write-ahead log is on: a commit is in the kernel when it returns, and readers wait for nobody.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::database_error::DatabaseError;
use crate::store::StoreError;

/// Marks a database as ours: `LHSD` in ASCII.
const APPLICATION_ID: i64 = 0x4c48_5344;

/// The schema, step by step. A database of version n has had the first n.
const SCHEMA: &[&str] = &[include_str!("schema_1.sql")];

const NEWEST: i64 = SCHEMA.len() as i64;

/// How long a write waits for another process. A session's owner rather hears of it than hangs.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Room that the log keeps between two checkpoints: four times what it usually takes.
const MAX_LOG_BYTES: i64 = 16 << 20;

/// Sessions hold what people talk about: nobody else reads them.
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

/// An open database.
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
    identity: Identity,
    folder_is_synced: bool,
}

/// Which file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn at(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl Database {
    /// Opens the database at a path; `None` where there is no file.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let identity = match Identity::at(path) {
            Ok(identity) => identity,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io_error("look at", path)(source)),
        };
        let failed = error("open", path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
        connection.busy_timeout(LONGEST_WAIT).map_err(&failed)?;
        let mark: i64 = pragma(&connection, "application_id").map_err(&failed)?;
        if mark != APPLICATION_ID {
            return Err(DatabaseError::Foreign { path: path.to_owned() }.into());
        }
        let found: i64 = pragma(&connection, "user_version").map_err(&failed)?;
        if found > NEWEST {
            let path = path.to_owned();
            return Err(DatabaseError::TooNew { path, found, newest: NEWEST }.into());
        }
        configure(&connection).map_err(&failed)?;
        if found < NEWEST {
            migrate(&mut connection).map_err(error("bring up to date", path))?;
        }
        let path = path.to_owned();
        Ok(Some(Self { path, connection, identity, folder_is_synced: false }))
    }

    /// Opens the database at a path, and makes one where there is no file.
    pub(super) fn open_or_create(path: &Path) -> Result<Self, StoreError> {
        if let Some(database) = Self::open(path)? {
            return Ok(database);
        }
        create(path)?;
        Self::open(path)?.ok_or_else(|| StoreError::Missing { path: path.to_owned() })
    }

    /// Whether its name still leads to it. Looks at the name alone: to open the file once more would end the locks on it.
    pub(super) fn is_in_its_place(&self) -> bool {
        Identity::at(&self.path).is_ok_and(|found| found == self.identity)
    }

    /// Begins to write, after whoever writes now.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        let failed = error("write", &self.path);
        self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)
    }

    /// Makes what was committed survive the loss of power. What is not in the log any more is on the device already.
    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        // SQLite holds no lock on this file, so that it may be closed again here.
        match File::open(log_of(&self.path)).and_then(|log| log.sync_all()) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("sync", &self.path)(source));
            }
            _ => {}
        }
        if !self.folder_is_synced {
            sync_folder(&self.path).map_err(io_error("sync the folder of", &self.path))?;
            self.folder_is_synced = true;
        }
        Ok(())
    }
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // A log that one long session has made long becomes short again.
    connection.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    // In the log at each commit, on the device when it is asked for.
    connection.pragma_update(None, "synchronous", "normal")
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    let found = pragma(&transaction, "user_version")?;
    for step in SCHEMA.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", NEWEST)?;
    transaction.commit()
}

/// Makes a database beside its place and gives it its name, unless somebody else was first.
fn create(path: &Path) -> Result<(), StoreError> {
    let create_error = io_error("create", path);
    let folder = folder_of(path);
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder).map_err(&create_error)?;
    let draft = Draft::new(path).map_err(&create_error)?;
    build(&draft.path).map_err(error("create", path))?;
    match fs::hard_link(&draft.path, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(create_error(error)),
        _ => Ok(()),
    }
}

fn build(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "full")?;
    // Only an empty database takes this: what is deleted gives its room back.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    migrate(&mut connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // The last connection takes the log with it.
    connection.close().map_err(|(_, error)| error)
}

/// A database in the making, which goes when it is dropped.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn new(of: &Path) -> io::Result<Self> {
        let name = of.file_name().unwrap_or_default().to_string_lossy();
        let unique = uuid::Uuid::new_v4().simple();
        let path = of.with_file_name(format!(".{name}.{unique}.tmp"));
        OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // What is left behind is found by its name; there is nobody to tell here.
        let _ = fs::remove_file(&self.path);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn io_error(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path: path.clone(), source }
}

/// Adapts the error of a statement.
pub(super) fn error(
    action: &'static str,
    path: &Path,
) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |error| {
        let path = path.clone();
        let code = error.sqlite_error_code();
        let source = Box::new(error);
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Locked { path }
            }
            Some(ErrorCode::NotADatabase) => DatabaseError::Foreign { path }.into(),
            Some(ErrorCode::DatabaseCorrupt) => DatabaseError::Damaged { path, source }.into(),
            _ => DatabaseError::Failed { action, path, source }.into(),
        }
    }
}
