//! All sessions of a database: listed, found, searched, deleted. New ones are made by
//! [`SqliteStore::create`](super::SqliteStore::create).

use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{OptionalExtension, Row, params};

use super::database::{Database, error};
use super::named;
use super::search::{self, Hit};
use super::summary::Summary;
use super::writing::session_bytes;
use crate::header::Header;
use crate::ids::SessionId;
use crate::import::ImportedFrom;
use crate::listing::SessionRow;
use crate::place::SessionPlace;
use crate::store::StoreError;
use crate::time::Timestamp;

/// All sessions of a database.
///
/// ```
/// # use longhand_session::sqlite::{SqliteLibrary, SqliteStore};
/// # use longhand_session::store::ChangeSet;
/// # use longhand_session::time::Timestamp;
/// # use longhand_session::{Header, SessionStore};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sessions.db");
/// assert!(SqliteLibrary::open(&path)?.is_none(), "there is no database, and none is made");
///
/// let mut header = Header::new("s".into(), Timestamp::from_millis(0), "/work");
/// header.title = Some("Retry of timed-out requests".into());
/// SqliteStore::create(&path, header).rewrite(&ChangeSet::default())?;
///
/// let library = SqliteLibrary::open(&path)?.expect("the database");
/// assert_eq!(library.list()?.len(), 1);
/// assert_eq!(library.search("request retr", 0, 10)?[0].session.id, "s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteLibrary {
    database: Database,
}

impl SqliteLibrary {
    /// Opens the database at a path; `None` where there is no file.
    ///
    /// # Errors
    /// The file is no database of sessions, or one that a later version wrote. It is left as it is.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        Ok(Database::open(path)?.map(|database| Self { database }))
    }

    /// All sessions, the last written first. Reads no session.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn list(&self) -> Result<Vec<SessionRow>, StoreError> {
        let read = || {
            let mut statement = self.database.connection.prepare(&format!(
                "SELECT {COLUMNS}, {} FROM sessions ORDER BY modified DESC, created DESC, id DESC",
                Summary::COLUMNS
            ))?;
            let rows = statement.query_map([], |row| self.row(row))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(error("list the sessions of", &self.database.path))
    }

    /// The session of an id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn find(&self, id: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS}, {} FROM sessions WHERE id = ?", Summary::COLUMNS);
        let found = self.database.connection.query_row(&sql, [id.as_str()], |row| self.row(row));
        found.optional().map_err(error("list the sessions of", &self.database.path))
    }

    /// The sessions that were imported, and where from, the oldest first. Looks at every header.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn imports(&self) -> Result<Vec<(SessionId, ImportedFrom)>, StoreError> {
        let read = || {
            let sql = "SELECT id, header FROM sessions ORDER BY created, id";
            let mut statement = self.database.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        };
        let headers = read().map_err(error("list the sessions of", &self.database.path))?;
        let imports = headers.into_iter().filter_map(|(id, header)| {
            let from = ImportedFrom::of(&Header::from_line(&header)?)?;
            Some((SessionId::from(id), from))
        });
        Ok(imports.collect())
    }

    /// The sessions in which all words of a query occur, in one message, one summary or the title; the best first.
    ///
    /// Words are compared without regard to case and accents, and one of three letters or more also finds those that start with it. `now_millis` is the
    /// time, in milliseconds after 1970: of two sessions that match alike, the one that was written later comes first.
    ///
    /// # Errors
    /// The database cannot be read. No query is an error; one without words finds nothing.
    pub fn search(
        &self,
        query: &str,
        now_millis: i64,
        most: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        search::search(&self.database.connection, query, now_millis, most, |row| self.row(row))
            .map_err(error("search", &self.database.path))
    }

    /// Says when a session was last written: a copy keeps the time of its original.
    ///
    /// # Errors
    /// There is no such session, or another process writes for too long.
    pub fn set_modified(&mut self, id: &SessionId, time: SystemTime) -> Result<(), StoreError> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        let sql = "UPDATE sessions SET modified = ? WHERE id = ?";
        let updated = self.database.connection.execute(sql, params![millis, id.as_str()]);
        if updated.map_err(error("write", &self.database.path))? == 0 {
            return Err(StoreError::Missing { path: named(&self.database.path, id) });
        }
        Ok(())
    }

    /// Deletes a session for good.
    ///
    /// # Errors
    /// There is no such session, or another process writes for too long. Nothing was deleted.
    pub fn delete(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.database.path.clone();
        let transaction = self.database.begin()?;
        let delete = || {
            let sql =
                "DELETE FROM lines WHERE session = (SELECT session FROM sessions WHERE id = ?)";
            transaction.execute(sql, [id.as_str()])?;
            transaction.execute("DELETE FROM sessions WHERE id = ?", [id.as_str()])
        };
        if delete().map_err(error("write", &path))? == 0 {
            return Err(StoreError::Missing { path: named(&path, id) });
        }
        transaction.commit().map_err(error("write", &path))?;
        // The session is gone; room that is not given back now is used by the next one.
        if let Err(failure) = self.database.connection.execute_batch("PRAGMA incremental_vacuum") {
            tracing::debug!("`{}` keeps its room: {failure}", path.display());
        }
        Ok(())
    }

    fn row(&self, row: &Row<'_>) -> rusqlite::Result<SessionRow> {
        let id = SessionId::from(row.get::<_, String>(0)?);
        let summary = Summary::of_row(row, SUMMARY)?;
        let modified = u64::try_from(row.get::<_, i64>(5)?).unwrap_or_default();
        Ok(SessionRow {
            place: SessionPlace::Database { path: self.database.path.clone(), id: id.clone() },
            id,
            cwd: row.get::<_, Option<String>>(1)?.map(Into::into),
            title: row
                .get::<_, Option<String>>(2)?
                .or_else(|| summary.other_title().map(str::to_owned)),
            parent: row.get(3)?,
            created: Timestamp::new(row.get::<_, String>(4)?),
            modified: SystemTime::UNIX_EPOCH + Duration::from_millis(modified),
            bytes: session_bytes(summary.bytes, row.get(6)?),
            messages: u64::try_from(summary.messages).unwrap_or_default(),
            assistant_turns: u64::try_from(summary.assistant_turns).unwrap_or_default(),
            all_text: summary.opening.clone(),
            status: summary.status,
            first_message: summary.into_first_message(),
        })
    }
}

/// Number of the first column of the summary.
const SUMMARY: usize = 7;

/// What a row is made of, before the columns of the summary.
pub(super) const COLUMNS: &str = "id, cwd, title, parent, created, modified, octet_length(header)";
