//! Finding a session again: the newest of a directory, or the one that a word means.
//!
//! Of each file the first kilobytes are read, whatever its size, and no more than ten times that to know that nothing was said in it.
//! Subagents' sessions lie one level deeper and are not seen.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem;
use serde_json::value::RawValue;

use crate::ids::SessionId;
use crate::json::typed;
use crate::jsonl::pick;
use crate::place::{self, EXTENSION};
use crate::time::Timestamp;
use crate::title_slot::TitleSlot;

/// What a glance at a session file tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// Id of the session.
    pub id: SessionId,
    /// Its working directory; `None` in very old files.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// When it began.
    pub created: Timestamp,
    /// When it was last written.
    pub modified: SystemTime,
    /// Length of the file.
    pub bytes: u64,
    /// Whether nobody said anything in it.
    pub is_empty: bool,
}

/// Why a word did not lead to a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No id, file name or title is like it.
    #[error("no session matches `{wanted}`")]
    NotFound {
        /// The word.
        wanted: String,
    },
    /// Several are.
    #[error("`{wanted}` matches {} sessions:{}", matches.len(), listed(matches))]
    Ambiguous {
        /// The word.
        wanted: String,
        /// The sessions, newest first.
        matches: Vec<SessionFile>,
    },
    /// A folder of sessions cannot be listed.
    #[error("cannot list sessions in `{}`", path.display())]
    List {
        /// The folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

fn listed(matches: &[SessionFile]) -> String {
    matches.iter().fold(String::new(), |mut text, session| {
        let title = session.title.as_deref().unwrap_or("untitled");
        let _ = write!(text, "\n  {}  {title}", session.id);
        text
    })
}

/// Bytes read at the start of a file: title slot, header and the first entries.
const HEAD_BYTES: u64 = 4096;

/// A session beyond this size is not empty.
const EMPTY_BYTES: u64 = 36_864;

/// Looks at a file; `None` where it holds no session.
///
/// # Errors
/// It cannot be read.
pub fn glance(path: &Path) -> io::Result<Option<SessionFile>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let bytes = metadata.len();
    let head = part(&file, 0, bytes.min(HEAD_BYTES))?;
    let text = String::from_utf8_lossy(&head);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);

    let slot = text.lines().next().and_then(|line| TitleSlot::from_line(line.as_bytes()));
    let Some(header) = text.lines().find_map(read_header) else { return Ok(None) };
    let title = match slot {
        Some(slot) => Some(slot.title).filter(|title| !title.is_empty()),
        None => header.title,
    };
    let says_something = |part: &[u8]| memmem::find(part, br#""type":"message""#).is_some();
    let is_empty = title.is_none()
        && bytes <= EMPTY_BYTES
        && !says_something(&head)
        && !says_something(&part(&file, 0, bytes)?);
    Ok(Some(SessionFile {
        path: path.to_owned(),
        id: header.id,
        cwd: header.cwd,
        title,
        created: header.created,
        modified: metadata.modified()?,
        bytes,
        is_empty,
    }))
}

fn part(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; bytes as usize];
    file.read_exact_at(&mut part, offset)?;
    Ok(part)
}

struct HeaderParts {
    id: SessionId,
    cwd: Option<PathBuf>,
    title: Option<String>,
    created: Timestamp,
}

/// Reads a header, even one that the end of the window cut off.
fn read_header(line: &str) -> Option<HeaderParts> {
    let [kind, id, cwd, title, created] = pick(line, ["type", "id", "cwd", "title", "timestamp"])
        .map(|raw: Option<&RawValue>| raw.and_then(typed::<String>));
    if kind? != "session" {
        return None;
    }
    Some(HeaderParts {
        id: id?.into(),
        cwd: cwd.map(PathBuf::from),
        title: title.filter(|title| !title.is_empty()),
        created: Timestamp::new(created.unwrap_or_default()),
    })
}

/// The sessions of a folder, newest first. A folder that does not exist has none; files that hold no session are left out.
///
/// # Errors
/// The folder cannot be listed.
pub fn list(folder: &Path) -> Result<Vec<SessionFile>, LookupError> {
    let mut sessions: Vec<SessionFile> = items(folder)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == EXTENSION))
        .filter_map(|path| match glance(&path) {
            Ok(session) => session,
            Err(error) => {
                tracing::warn!("cannot read `{}`: {error}", path.display());
                None
            }
        })
        .collect();
    sort_newest_first(&mut sessions);
    Ok(sessions)
}

fn items(folder: &Path) -> Result<Vec<PathBuf>, LookupError> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed,
    };
    listed
        .and_then(|items| items.map(|item| Ok(item?.path())).collect())
        .map_err(|source| LookupError::List { path: folder.to_owned(), source })
}

fn sort_newest_first(sessions: &mut [SessionFile]) {
    sessions.sort_by(|a, b| {
        let key = |session: &SessionFile| (session.modified, session.created.as_str().to_owned());
        key(b).cmp(&key(a)).then_with(|| b.path.cmp(&a.path))
    });
}

/// The newest session of a bucket that belongs to a directory and in which something was said.
///
/// # Errors
/// The bucket cannot be listed.
pub fn newest(bucket: &Path, cwd: &Path) -> Result<Option<SessionFile>, LookupError> {
    let cwd = place::canonical(cwd);
    let belongs = |session: &SessionFile| {
        session.cwd.as_deref().is_some_and(|own| place::canonical(own) == cwd)
    };
    Ok(list(bucket)?.into_iter().find(|session| !session.is_empty && belongs(session)))
}

/// The file that a word of the user means.
///
/// A path is taken as it is. Otherwise it is the start of an id or of a file's name, a title, or the start of a title, in that
/// order; first among the sessions of `bucket`, then among those of all buckets below `sessions_root`.
///
/// # Errors
/// Nothing matches, or more than one.
pub fn find(wanted: &str, bucket: &Path, sessions_root: &Path) -> Result<PathBuf, LookupError> {
    let is_path =
        wanted.contains('/') || Path::new(wanted).extension().is_some_and(|e| e == EXTENSION);
    if is_path {
        return Ok(PathBuf::from(wanted));
    }
    if let Some(path) = only_match(wanted, &list(bucket)?)? {
        return Ok(path);
    }
    let mut all = Vec::new();
    for folder in items(sessions_root)?.iter().filter(|item| item.is_dir()) {
        all.extend(list(folder)?);
    }
    sort_newest_first(&mut all);
    let found = only_match(wanted, &all)?;
    found.ok_or_else(|| LookupError::NotFound { wanted: wanted.to_owned() })
}

fn only_match(wanted: &str, sessions: &[SessionFile]) -> Result<Option<PathBuf>, LookupError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let lower = wanted.to_lowercase();
    let has_title = |session: &SessionFile| session.title.as_deref() == Some(wanted);
    let has_title_start = |session: &SessionFile| {
        session.title.as_ref().is_some_and(|title| title.to_lowercase().starts_with(&lower))
    };
    let ways: [&dyn Fn(&SessionFile) -> bool; 4] = [
        &|session| session.id.as_str().to_lowercase() == lower,
        &|session| names(session).iter().any(|name| name.starts_with(&lower)),
        &has_title,
        &has_title_start,
    ];
    for is_match in ways {
        let matches: Vec<&SessionFile> =
            sessions.iter().filter(|session| is_match(session)).collect();
        match matches.as_slice() {
            [] => {}
            [session] => return Ok(Some(session.path.clone())),
            _ => {
                return Err(LookupError::Ambiguous {
                    wanted: wanted.to_owned(),
                    matches: matches.into_iter().cloned().collect(),
                });
            }
        }
    }
    Ok(None)
}

/// The names that a session goes by: its id, its file's name, and the part of that after the time.
fn names(session: &SessionFile) -> [String; 3] {
    let stem = session.path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let tail = stem.rsplit('_').next().unwrap_or_default().to_owned();
    [session.id.as_str().to_lowercase(), stem, tail]
}
