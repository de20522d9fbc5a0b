//! Sessions whose file is missing or has no header: what a crash left behind is found again.
//!
//! A file is replaced by writing a new one beside it and giving that its name. A process that dies in between may leave the new
//! one without the name, and on some systems the old one under another. Nothing here changes a file that is in its place.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::line;
use super::lock::{Lock, LockError};
use super::scan::{self, Content, Lines};
use super::{JsonlStore, failed_to};
use crate::header::Header;
use crate::place::EXTENSION;
use crate::store::{Receipt, SessionStore, StoreError};

/// Age at which nobody is writing a draft any more.
const ABANDONED: Duration = Duration::from_hours(1);

/// Brings the file of a session back that is missing, from the newest backup, else from the newest draft that is whole. Tells
/// whether it did.
///
/// # Errors
/// The folder cannot be read, or a file not renamed.
pub fn recover(session: &Path) -> io::Result<bool> {
    let folder = session.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = session.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let left_behind = left_behind(folder.unwrap_or(Path::new(".")))?;
    match left_behind.get(&name) {
        Some(remains) if !session.exists() => remains.bring_back(session),
        _ => Ok(false),
    }
}

/// Brings every session of a folder back whose file is missing, and removes drafts that nobody has written for an hour. Gives the
/// files that came back. A folder without such remains is only listed.
///
/// # Errors
/// The folder cannot be read. A session that cannot be brought back is left as it is.
pub fn recover_folder(folder: &Path, now: SystemTime) -> io::Result<Vec<PathBuf>> {
    let mut recovered = Vec::new();
    for (name, remains) in left_behind(folder)? {
        let session = folder.join(name);
        if !session.exists() {
            match remains.bring_back(&session) {
                Ok(true) => recovered.push(session.clone()),
                Ok(false) => {}
                Err(error) => tracing::warn!("cannot recover `{}`: {error}", session.display()),
            }
        }
        remains.remove_abandoned_drafts(now);
    }
    Ok(recovered)
}

/// Makes a new session at `into` of the entries in a file that has no header. The file is only read. `header` is that of the new
/// session.
///
/// # Errors
/// The file cannot be read, has no entry, or something is at `into`.
pub fn salvage(file: &Path, into: &Path, header: Header) -> Result<Receipt, StoreError> {
    let source = File::open(file).map_err(failed_to("open", file))?;
    let mut store = JsonlStore::create(into, header);
    store.open()?;
    let mut lines = Lines::new(&source, 0, 0);
    let mut objects = Vec::new();
    while let Some(line) = lines.next(usize::MAX).map_err(failed_to("read", file))? {
        for object in line::judge(line.bytes).objects {
            let is_entry = object.names.id.is_some()
                && !matches!(&*object.names.type_name, "" | "session" | "title");
            if is_entry {
                objects.push(String::from_utf8_lossy(&line.bytes[object.range]).into_owned());
            }
        }
    }
    if objects.is_empty() {
        return Err(StoreError::NotASession { path: file.to_owned() });
    }
    store.fill(Box::new(objects.into_iter().map(Ok)))
}

/// What lies beside a session's file or its place.
#[derive(Debug, Default)]
struct Remains {
    /// The newest first.
    backups: Vec<(SystemTime, PathBuf)>,
    /// The newest first.
    drafts: Vec<(SystemTime, PathBuf)>,
}

/// Drafts and backups of a folder, by the name of their session's file.
fn left_behind(folder: &Path) -> io::Result<BTreeMap<String, Remains>> {
    let mut sessions: BTreeMap<String, Remains> = BTreeMap::new();
    let items = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sessions),
        items => items?,
    };
    for item in items {
        let item = item?;
        let name = item.file_name().to_string_lossy().into_owned();
        let Some((session, kind)) = session_of(&name) else { continue };
        let Ok(modified) = item.metadata().and_then(|metadata| metadata.modified()) else {
            continue;
        };
        let remains = sessions.entry(session.to_owned()).or_default();
        match kind {
            Kind::Backup => remains.backups.push((modified, item.path())),
            Kind::Draft => remains.drafts.push((modified, item.path())),
        }
    }
    for remains in sessions.values_mut() {
        remains.backups.sort_by(|a, b| b.cmp(a));
        remains.drafts.sort_by(|a, b| b.cmp(a));
    }
    Ok(sessions)
}

enum Kind {
    Backup,
    Draft,
}

/// Whose backup or draft a name is: `SESSION.jsonl.ID.bak`, `.SESSION.jsonl.ID.tmp`.
fn session_of(name: &str) -> Option<(&str, Kind)> {
    let (rest, kind) = if let Some(rest) = name.strip_suffix(".bak") {
        (rest, Kind::Backup)
    } else {
        (name.strip_prefix('.')?.strip_suffix(".tmp")?, Kind::Draft)
    };
    let (session, _) = rest.rsplit_once('.')?;
    let is_session = Path::new(session).extension().is_some_and(|ending| ending == EXTENSION);
    is_session.then_some((session, kind))
}

impl Remains {
    /// Under the lock: a draft that somebody is writing at this moment is not taken away.
    fn bring_back(&self, session: &Path) -> io::Result<bool> {
        let _held = match Lock::of(session).acquire() {
            Ok(held) => held,
            Err(LockError::Held) => return Ok(false),
            Err(LockError::Io(error)) => return Err(error),
        };
        if session.exists() {
            return Ok(false);
        }
        if let Some((_, backup)) = self.backups.first() {
            fs::rename(backup, session)?;
            return Ok(true);
        }
        for (_, draft) in &self.drafts {
            if is_whole(draft)? {
                fs::rename(draft, session)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remove_abandoned_drafts(&self, now: SystemTime) {
        for (modified, draft) in &self.drafts {
            let age = now.duration_since(*modified).unwrap_or_default();
            if age > ABANDONED
                && let Err(error) = fs::remove_file(draft)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!("cannot remove `{}`: {error}", draft.display());
            }
        }
    }
}

fn is_whole(draft: &Path) -> io::Result<bool> {
    let Content::Session(scanned) = scan::scan(&File::open(draft)?)? else { return Ok(false) };
    Ok(scanned.damage.is_none() && scanned.is_terminated)
}
