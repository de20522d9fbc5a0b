//! The table of sessions that Codex keeps in a database.
//!
//! It is only read. Where it is missing, locked or of another shape, it has no rows, and the folders of transcripts tell.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::import::Origin;
use crate::import::foreign::{ForeignSession, items, shown};
use crate::import::survey::clean_title;
use crate::time::Timestamp;

/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_millis(200);

/// The sessions of the newest database whose transcripts exist.
pub(super) fn read(root: &Path) -> Vec<ForeignSession> {
    let Some(database) = newest(root) else { return Vec::new() };
    match rows(&database, root) {
        Ok(sessions) => sessions,
        Err(error) => {
            tracing::warn!("cannot read `{}`: {error}", database.display());
            Vec::new()
        }
    }
}

/// `state_<n>.sqlite` with the highest number.
fn newest(root: &Path) -> Option<PathBuf> {
    let number = |path: &Path| -> Option<u64> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse().ok()
    };
    let files = items(root).into_iter().map(|item| item.path());
    files.filter_map(|path| Some((number(&path)?, path))).max().map(|(_, path)| path)
}

fn rows(database: &Path, root: &Path) -> rusqlite::Result<Vec<ForeignSession>> {
    let connection = open(database)?;
    connection.busy_timeout(PATIENCE)?;
    let mut statement = connection.prepare(
        "SELECT id, rollout_path, updated_at, cwd, title, first_user_message FROM threads",
    )?;
    let mut rows = statement.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.extend(session(row, root));
    }
    Ok(sessions)
}

/// Opens a database so that nothing is written beside it: with no log of changes there is nothing to share with a writer.
fn open(database: &Path) -> rusqlite::Result<Connection> {
    let log = format!("{}-wal", database.display());
    let has_log = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let plain = database.to_str().filter(|path| !path.contains(['?', '#', '%']));
    match plain {
        Some(path) if !has_log => Connection::open_with_flags(
            format!("file:{path}?immutable=1"),
            flags | OpenFlags::SQLITE_OPEN_URI,
        ),
        _ => Connection::open_with_flags(database, flags),
    }
}

/// A row whose transcript exists.
fn session(row: &Row<'_>, root: &Path) -> Option<ForeignSession> {
    let text = |column: &str| match row.get_ref(column).ok()? {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    };
    let text = |column: &str| text(column).filter(|text| !text.trim().is_empty());
    let path = root.join(text("rollout_path")?);
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let first_prompt = text("first_user_message").as_deref().and_then(shown);
    // The title is often nothing but the first message.
    let title = text("title").as_deref().and_then(clean_title).filter(|title| {
        first_prompt.as_deref().is_none_or(|prompt| !prompt.starts_with(title.as_str()))
    });
    Some(ForeignSession {
        origin: Origin::Codex,
        id: text("id")?,
        path,
        cwd: text("cwd").map(PathBuf::from),
        title,
        first_prompt,
        prompts: None,
        modified: updated(row).or_else(|| metadata.modified().ok())?,
        bytes: metadata.len(),
    })
}

/// When a session was last written: seconds, milliseconds, or text.
fn updated(row: &Row<'_>) -> Option<SystemTime> {
    let millis = match row.get_ref("updated_at").ok()? {
        ValueRef::Integer(time) => crate::import::fields::millis_of(time as f64),
        ValueRef::Real(time) => crate::import::fields::millis_of(time),
        ValueRef::Text(text) => {
            Timestamp::new(String::from_utf8_lossy(text).into_owned()).millis()?
        }
        ValueRef::Null | ValueRef::Blob(_) => return None,
    };
    let since = Duration::from_millis(u64::try_from(millis).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}
