//! The sessions of a user that lie in the database. There need not be one.

use std::collections::HashMap;
use std::path::PathBuf;

use longhand_session::import::ImportedFrom;
use longhand_session::listing::{SessionRow, damaged_row};
use longhand_session::place::SessionPlace;
use longhand_session::sqlite::{Hit, SqliteLibrary};
use longhand_session::{SessionId, StoreError};

/// The database of a user's sessions.
#[derive(Debug, Clone)]
pub struct SessionDatabase {
    /// Where it lies, or will.
    pub path: PathBuf,
}

impl SessionDatabase {
    /// Its sessions. One that cannot be read is listed as damaged, and hides no session of another place.
    pub(super) fn rows(&self) -> Vec<SessionRow> {
        let listed = match SqliteLibrary::open(&self.path) {
            Ok(None) => return Vec::new(),
            Ok(Some(library)) => library.list(),
            Err(error) => Err(error),
        };
        listed.unwrap_or_else(|error| {
            tracing::warn!("cannot list the sessions of `{}`: {error}", self.path.display());
            damaged_row(&self.path).into_iter().collect()
        })
    }

    /// Its sessions that were imported, by where they come from. A database that cannot be read has none.
    pub(super) fn imports(&self) -> HashMap<ImportedFrom, (SessionPlace, SessionId)> {
        let listed = SqliteLibrary::open(&self.path).and_then(|library| match library {
            Some(library) => library.imports(),
            None => Ok(Vec::new()),
        });
        let listed = listed.unwrap_or_else(|error| {
            tracing::warn!("cannot look for imports in `{}`: {error}", self.path.display());
            Vec::new()
        });
        let place =
            |id: &SessionId| SessionPlace::Database { path: self.path.clone(), id: id.clone() };
        listed.into_iter().map(|(id, from)| (from, (place(&id), id))).collect()
    }

    /// The sessions in which all words of a query were said, best first, at most `most`. Works on an index: takes milliseconds,
    /// however much was said.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn search(
        &self,
        query: &str,
        now_millis: i64,
        most: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        match SqliteLibrary::open(&self.path)? {
            Some(library) => library.search(query, now_millis, most),
            None => Ok(Vec::new()),
        }
    }
}
