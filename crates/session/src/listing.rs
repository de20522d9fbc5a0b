//! Lists of sessions: what is shown of each without reading it, and in which order.
//!
//! Of a file the first four kilobytes and the last thirty-two are read, whatever its size. A file that cannot be read as a session is
//! listed as damaged and hides no other. Subagents' sessions lie one level deeper and are not seen.

mod glance;
mod said;
mod search;
mod text_search;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

pub use glance::glance;
pub(crate) use said::{spoken, status_after};
pub use search::{Found, Match, search};
pub use text_search::{Passage, search_text};

use crate::ids::SessionId;
use crate::place::{EXTENSION, SessionPlace};
use crate::time::Timestamp;

/// One session of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Where it lies.
    pub place: SessionPlace,
    /// Its id.
    pub id: SessionId,
    /// Its working directory; `None` in very old files.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// The session that it was forked or extracted from, as id or path.
    pub parent: Option<String>,
    /// When it began.
    pub created: Timestamp,
    /// When it was last written.
    pub modified: SystemTime,
    /// Size in bytes.
    pub bytes: u64,
    /// Messages, as far as the part that was read tells.
    pub messages: u64,
    /// Answers of the model, as far as the part that was read tells.
    pub assistant_turns: u64,
    /// What the user said first; else the first text of anybody.
    pub first_message: Option<String>,
    /// Texts of user and model in the part that was read, for searching.
    pub all_text: String,
    /// How it was left.
    pub status: Status,
}

/// How a session was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// The model finished its answer.
    Complete,
    /// The model was cut off, or a tool call has no answer yet.
    Interrupted,
    /// The user stopped it.
    Aborted,
    /// The last request failed.
    Error,
    /// The user has the last word.
    Pending,
    /// There is nothing to tell it from.
    #[default]
    Unknown,
    /// The file cannot be read as a session. It is listed all the same.
    Damaged,
}

impl Status {
    /// The name as shown and as given to scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Aborted => "aborted",
            Self::Error => "error",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::Damaged => "damaged",
        }
    }

    /// The status of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        use Status::{Aborted, Complete, Damaged, Error, Interrupted, Pending, Unknown};
        [Complete, Interrupted, Aborted, Error, Pending, Unknown, Damaged]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

impl SessionRow {
    /// Whether nobody said anything in it. Such a session is not offered, and not gone on with.
    pub fn is_empty(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Unknown)
            && self.assistant_turns == 0
            && self.title.is_none()
            && self.first_message.is_none()
    }

    /// What a list calls it.
    pub fn name(&self) -> &str {
        self.title.as_deref().or(self.first_message.as_deref()).unwrap_or("(no messages)")
    }
}

/// What was seen of files before. A file that has not changed since is not read again.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    rows: HashMap<PathBuf, SessionRow>,
}

/// More files than this are shared among threads.
const FILES_PER_THREAD: usize = 64;

const MAX_THREADS: usize = 16;

/// The sessions of a folder, newest first. A folder that does not exist has none.
///
/// # Errors
/// The folder cannot be listed.
pub fn list(folder: &Path, seen: &mut Seen) -> io::Result<Vec<SessionRow>> {
    rows(&files(folder)?, seen)
}

/// The sessions of all folders below a root, newest first.
///
/// # Errors
/// The root cannot be listed. A folder that cannot is left out.
pub fn list_all(root: &Path, seen: &mut Seen) -> io::Result<Vec<SessionRow>> {
    let mut all = Vec::new();
    for folder in items(root)?.iter().filter(|item| item.is_dir()) {
        match files(folder) {
            Ok(files) => all.extend(files),
            Err(error) => tracing::warn!("cannot list `{}`: {error}", folder.display()),
        }
    }
    rows(&all, seen)
}

/// Newest first: by the time of the last write, then by when the session began, then by its place.
pub fn sort_newest_first(rows: &mut [SessionRow]) {
    rows.sort_by(|a, b| {
        let key = |row: &SessionRow| (row.modified, row.created.as_str().to_owned());
        key(b).cmp(&key(a)).then_with(|| b.place.cmp(&a.place))
    });
}

/// The row of a file that cannot be read as what it should be; `None` where there is none.
pub fn damaged_row(file: &Path) -> Option<SessionRow> {
    let metadata = fs::metadata(file).ok()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(glance::damaged(file, modified, metadata.len()))
}

fn items(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        items => items?.map(|item| Ok(item?.path())).collect(),
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut items = items(folder)?;
    items.retain(|path| {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        !is_hidden && path.extension().is_some_and(|ending| ending == EXTENSION)
    });
    Ok(items)
}

fn rows(files: &[PathBuf], seen: &mut Seen) -> io::Result<Vec<SessionRow>> {
    let threads = thread::available_parallelism()?.get();
    let threads = threads.min(MAX_THREADS).min(files.len() / FILES_PER_THREAD).max(1);
    let share = files.len().div_ceil(threads).max(1);
    let known = &*seen;
    let mut rows: Vec<SessionRow> = thread::scope(|scope| {
        let shares: Vec<_> = files
            .chunks(share)
            .map(|files| {
                scope.spawn(move || {
                    files.iter().filter_map(|file| row(file, known)).collect::<Vec<_>>()
                })
            })
            .collect();
        shares.into_iter().filter_map(|share| share.join().ok()).flatten().collect()
    });
    for row in &rows {
        if let SessionPlace::File(path) = &row.place {
            seen.rows.insert(path.clone(), row.clone());
        }
    }
    sort_newest_first(&mut rows);
    Ok(rows)
}

/// The row of a file; `None` where it has gone.
fn row(file: &Path, seen: &Seen) -> Option<SessionRow> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) => {
            tracing::warn!("cannot look at `{}`: {error}", file.display());
            return None;
        }
    };
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    if let Some(row) = seen.rows.get(file)
        && (row.modified, row.bytes) == (modified, metadata.len())
    {
        return Some(row.clone());
    }
    Some(glance(file).unwrap_or_else(|error| {
        tracing::warn!("cannot read `{}`: {error}", file.display());
        glance::damaged(file, modified, metadata.len())
    }))
}
