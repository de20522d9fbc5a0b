//! What the sessions of the crash test are kept in: files, or a database for the session and its forks.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use longhand_session::jsonl::Disk;
use longhand_session::place::SessionPlace;
use longhand_session::sqlite::SqliteLibrary;
use longhand_session::time::Timestamp;
use longhand_session::{Header, JsonlStore, SessionStore, SqliteStore};

/// What a session is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KeptIn {
    /// A file
    Jsonl,
    /// A database
    Sqlite,
}

/// Id of the session in a database.
const ID: &str = "crash";

impl KeptIn {
    /// Where the session of a folder lies.
    pub(crate) fn place(self, folder: &Path) -> SessionPlace {
        match self {
            Self::Jsonl => SessionPlace::File(folder.join("session.jsonl")),
            Self::Sqlite => {
                SessionPlace::Database { path: folder.join("sessions.db"), id: ID.into() }
            }
        }
    }
}

/// A session that exists. A database uses the machine's disk: `disk` is for files.
pub(crate) fn resume(place: &SessionPlace, disk: Arc<dyn Disk>) -> Box<dyn SessionStore> {
    match place {
        SessionPlace::File(path) => Box::new(JsonlStore::resume(path).with_disk(disk)),
        SessionPlace::Database { path, id } => Box::new(SqliteStore::resume(path, id.clone())),
    }
}

/// A session that does not exist yet.
pub(crate) fn create(place: &SessionPlace, disk: Arc<dyn Disk>) -> Box<dyn SessionStore> {
    let header = |id: &str| Header::new(id.into(), Timestamp::from_millis(0), "/work");
    match place {
        SessionPlace::File(path) => Box::new(JsonlStore::create(path, header(ID)).with_disk(disk)),
        SessionPlace::Database { path, id } => {
            Box::new(SqliteStore::create(path, header(id.as_str())))
        }
    }
}

/// Where a fork of a session goes.
pub(crate) fn fork(place: &SessionPlace, name: &str) -> SessionPlace {
    match place {
        SessionPlace::File(path) => {
            SessionPlace::File(path.with_file_name(format!("{name}.jsonl")))
        }
        SessionPlace::Database { path, .. } => {
            SessionPlace::Database { path: path.clone(), id: name.into() }
        }
    }
}

/// Takes a session away.
pub(crate) fn remove(place: &SessionPlace) -> Result<()> {
    match place {
        SessionPlace::File(path) => std::fs::remove_file(path)?,
        SessionPlace::Database { path, id } => {
            SqliteLibrary::open(path)?.context("the database is gone")?.delete(id)?;
        }
    }
    Ok(())
}
