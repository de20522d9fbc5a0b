//! Where a session lies: the name of its file, the folder of its working directory, the folder of its artifacts.
//!
//! Names are made from what is passed in; nothing here reads the environment. A folder of sessions, a bucket, is named for a working
//! directory, but two directories may share one: only the header of a session says where it belongs.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::header::Header;
use crate::ids::SessionId;

/// Where one session lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionPlace {
    /// In a file of its own.
    File(PathBuf),
    /// In a database, with others.
    Database {
        /// The database.
        path: PathBuf,
        /// Its id there.
        id: SessionId,
    },
}

/// The path of the file; for a session of a database `PATH#ID`, which [`SessionPlace::named`] reads.
impl fmt::Display for SessionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Database { path, id } => write!(f, "{}#{id}", path.display()),
        }
    }
}

impl SessionPlace {
    /// The place that a text names: a session of a database as `PATH.db#ID`, else a file. Nothing needs to be there.
    pub fn named(text: &str) -> Self {
        let in_database = text.split_once(DATABASE_MARK).filter(|(_, id)| !id.is_empty());
        match in_database {
            Some((stem, id)) => {
                Self::Database { path: format!("{stem}.db").into(), id: SessionId::from(id) }
            }
            None => Self::File(text.into()),
        }
    }

    /// The file of a session that has one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Database { .. } => None,
        }
    }

    /// The folder for what tools leave behind in the session: beside its file, or with those of the other sessions beside its
    /// database.
    pub fn artifact_folder(&self) -> PathBuf {
        match self {
            Self::File(path) => artifact_folder(path),
            Self::Database { path, id } => path.with_extension("artifacts").join(folder_name(id)),
        }
    }
}

/// What stands between the stem of a database and the id of a session in it.
const DATABASE_MARK: &str = ".db#";

/// The longest id that is a folder's name as it is. File systems allow 255 bytes.
const MAX_NAME_BYTES: usize = 100;

/// A folder's name for an id. Ids of other programs have any form, and none of them may lead to another folder.
fn folder_name(id: &SessionId) -> String {
    let id = id.as_str();
    let is_name = !id.is_empty()
        && !id.starts_with('.')
        && id.len() <= MAX_NAME_BYTES
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if is_name {
        return id.to_owned();
    }
    Sha256::digest(id.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Ending of a session file.
pub const EXTENSION: &str = "jsonl";

/// The name of a new session's file: when it began, and its id. Times and ids of other programs lead to no other folder either.
pub fn file_name(header: &Header) -> String {
    let stamp = header.timestamp.as_str().replace(|char: char| !char.is_ascii_alphanumeric(), "-");
    format!("{stamp}_{}.{EXTENSION}", folder_name(&header.id))
}

/// The folder for what tools leave behind in a session: beside its file, under the name without the ending.
pub fn artifact_folder(session: &Path) -> PathBuf {
    if session.extension().is_some_and(|ending| ending == EXTENSION) {
        session.with_extension("")
    } else {
        let mut name = session.as_os_str().to_owned();
        name.push(".d");
        name.into()
    }
}

/// The path with links resolved; as it is where it cannot be.
pub fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Folders that buckets are named relative to.
#[derive(Debug, Clone)]
pub struct Landmarks {
    home: PathBuf,
    temp: PathBuf,
}

impl Landmarks {
    /// Takes the user's home folder and the folder for temporary files.
    pub fn new(home: &Path, temp: &Path) -> Self {
        Self { home: canonical(home), temp: canonical(temp) }
    }

    /// The bucket of a working directory: `-a-b` below home, `-tmp-a-b` below the temporary folder, `--a-b--` elsewhere.
    pub fn bucket(&self, cwd: &Path) -> String {
        let cwd = canonical(cwd);
        if let Ok(below) = cwd.strip_prefix(&self.home) {
            return format!("-{}", dashed(below));
        }
        match cwd.strip_prefix(&self.temp) {
            Ok(below) if below.as_os_str().is_empty() => "-tmp".to_owned(),
            Ok(below) => format!("-tmp-{}", dashed(below)),
            Err(_) => format!("--{}--", dashed(cwd.strip_prefix("/").unwrap_or(&cwd))),
        }
    }

    /// Renames the folder that earlier versions of the format used for a directory below home or the temporary folder, or moves
    /// its sessions into the one of today. What has a name that is taken there stays, with a warning.
    pub fn adopt_old_bucket(&self, sessions_root: &Path, cwd: &Path) {
        let cwd = canonical(cwd);
        let old = format!("--{}--", dashed(cwd.strip_prefix("/").unwrap_or(&cwd)));
        let (old, new) = (sessions_root.join(old), sessions_root.join(self.bucket(&cwd)));
        if old == new || !old.is_dir() {
            return;
        }
        if let Err(error) = merge(&old, &new) {
            let (old, new) = (old.display(), new.display());
            tracing::warn!("cannot move the sessions of `{old}` to `{new}`: {error}");
        }
    }

    /// Where a new session goes, below the root of all sessions.
    pub fn new_session(&self, sessions_root: &Path, cwd: &Path, header: &Header) -> PathBuf {
        sessions_root.join(self.bucket(cwd)).join(file_name(header))
    }
}

/// Moves what is in one folder to another, but replaces nothing there.
fn merge(from: &Path, to: &Path) -> io::Result<()> {
    if !to.exists() {
        return fs::rename(from, to);
    }
    let mut is_empty = true;
    for item in fs::read_dir(from)? {
        let item = item?;
        let target = to.join(item.file_name());
        if target.exists() {
            is_empty = false;
            tracing::warn!("`{}` stays: its name is taken", item.path().display());
        } else {
            fs::rename(item.path(), target)?;
        }
    }
    if is_empty { fs::remove_dir(from) } else { Ok(()) }
}

fn dashed(path: &Path) -> String {
    path.to_string_lossy().replace(['/', '\\', ':'], "-")
}
