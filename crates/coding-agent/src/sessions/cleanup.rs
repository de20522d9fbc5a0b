//! What lies around of sessions and is of no use any more: found first, removed only when asked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_session::SessionId;
use longhand_session::listing::SessionRow;
use longhand_session::lookup::LookupError;
use longhand_session::place::SessionPlace;
use longhand_session::sqlite::SqliteLibrary;

use super::{Scope, Sessions};

/// An empty session may be the one of a program that has just started.
const EMPTY_FOR: Duration = Duration::from_hours(24);

/// Something that can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// A file, a folder with all in it, or a session of the database as `PATH.db#ID`.
    pub path: PathBuf,
    /// Why it can go.
    pub reason: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What can go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleanup {
    /// All of it.
    pub leftovers: Vec<Leftover>,
}

impl Cleanup {
    /// Size of everything, in bytes.
    pub fn bytes(&self) -> u64 {
        self.leftovers.iter().map(|leftover| leftover.bytes).sum()
    }

    /// Removes everything.
    ///
    /// # Errors
    /// The first thing that cannot be removed; what comes after it stays.
    pub fn remove(&self) -> io::Result<()> {
        for Leftover { path, .. } in &self.leftovers {
            let removed = match SessionPlace::named(&path.to_string_lossy()) {
                SessionPlace::Database { path, id } => remove_from_database(&path, &id),
                SessionPlace::File(_) if path.is_dir() => fs::remove_dir_all(path),
                SessionPlace::File(_) => fs::remove_file(path),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Sessions {
    /// Finds what can go: deleted sessions whose thirty days are over, and sessions of yesterday or before in which nothing was
    /// said and that have no title, no pin and no artifacts.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn leftovers(&self, now: SystemTime) -> Result<Cleanup, LookupError> {
        let mut leftovers = Vec::new();
        let expired = self
            .trash
            .expired(now)
            .map_err(|source| LookupError::List { path: PathBuf::from("the trash"), source })?;
        for path in expired {
            let bytes = size(&path);
            leftovers.push(Leftover { path, reason: "deleted more than 30 days ago", bytes });
        }
        let pins = self.pins.read().unwrap_or_default();
        for row in self.rows(Scope::Everywhere)? {
            if is_forgotten(&row, now)
                && !pins.contains(&row.id)
                && !row.place.artifact_folder().exists()
            {
                let (path, bytes) = (row.place.to_string().into(), row.bytes);
                leftovers.push(Leftover { path, reason: "nothing was said in it", bytes });
            }
        }
        Ok(Cleanup { leftovers })
    }
}

fn remove_from_database(database: &Path, id: &SessionId) -> io::Result<()> {
    match SqliteLibrary::open(database).map_err(io::Error::other)? {
        Some(mut library) => library.delete(id).map_err(io::Error::other),
        None => Ok(()),
    }
}

fn is_forgotten(row: &SessionRow, now: SystemTime) -> bool {
    let is_old = now.duration_since(row.modified).is_ok_and(|age| age > EMPTY_FOR);
    is_old && row.is_empty() && row.messages == 0
}

fn size(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let items = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    items.map(|item| size(&item.path())).sum()
}
