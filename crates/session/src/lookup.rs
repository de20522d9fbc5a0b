//! Finding a session again: the newest of a directory, or the one that a word means. Works on rows of lists, wherever they came from.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::listing::{SessionRow, Status};
use crate::place::{self, EXTENSION};

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
        matches: Vec<SessionRow>,
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

fn listed(matches: &[SessionRow]) -> String {
    matches.iter().fold(String::new(), |mut text, session| {
        let title = session.title.as_deref().unwrap_or("untitled");
        let _ = write!(text, "\n  {}  {title}", session.id);
        text
    })
}

/// Whether a session belongs to a directory. A folder of sessions may be shared by two directories; the session says which is its
/// own.
pub fn belongs_to(row: &SessionRow, directory: &Path) -> bool {
    row.cwd.as_deref().is_some_and(|own| place::canonical(own) == place::canonical(directory))
}

/// Whether a list of a directory's sessions leaves a session out: it belongs to another directory that exists.
pub fn is_of_another(row: &SessionRow, directory: &Path) -> bool {
    row.cwd
        .as_deref()
        .is_some_and(|own| own.is_dir() && place::canonical(own) != place::canonical(directory))
}

/// The newest of rows that belongs to a directory and in which something was said. `rows` are newest first.
pub fn newest<'r>(rows: &'r [SessionRow], directory: &Path) -> Option<&'r SessionRow> {
    rows.iter()
        .find(|row| row.status != Status::Damaged && !row.is_empty() && belongs_to(row, directory))
}

/// The path that a word is, if it is one: it has a slash, or the ending of session files.
pub fn as_path(wanted: &str) -> Option<&Path> {
    let path = Path::new(wanted);
    let is_path = wanted.contains('/') || path.extension().is_some_and(|e| e == EXTENSION);
    is_path.then_some(path)
}

/// The one of the rows that a word means: it is the start of an id or of a file's name, or a title, or the start of a title, in that
/// order, and in any case of letters. `rows` are newest first.
///
/// # Errors
/// The word means more than one.
pub fn find<'r>(
    wanted: &str,
    rows: &'r [SessionRow],
) -> Result<Option<&'r SessionRow>, LookupError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let lower = wanted.to_lowercase();
    let title = |row: &SessionRow| row.title.as_deref().map(str::to_lowercase);
    let ways: [&dyn Fn(&SessionRow) -> bool; 4] = [
        &|row| row.id.as_str().to_lowercase() == lower,
        &|row| names(row).iter().any(|name| name.starts_with(&lower)),
        &|row| title(row).is_some_and(|title| title == lower),
        &|row| title(row).is_some_and(|title| title.starts_with(&lower)),
    ];
    for is_match in ways {
        let matches: Vec<&SessionRow> = rows.iter().filter(|row| is_match(row)).collect();
        match matches.as_slice() {
            [] => {}
            [row] => return Ok(Some(row)),
            _ => {
                let (wanted, matches) = (wanted.to_owned(), matches.into_iter().cloned().collect());
                return Err(LookupError::Ambiguous { wanted, matches });
            }
        }
    }
    Ok(None)
}

/// The names that a session goes by: its id, its file's name, and the part of that after the time.
fn names(row: &SessionRow) -> Vec<String> {
    let mut names = vec![row.id.as_str().to_lowercase()];
    if let Some(stem) = row.place.file().and_then(Path::file_stem) {
        let stem = stem.to_string_lossy().to_lowercase();
        names.push(stem.rsplit('_').next().unwrap_or_default().to_owned());
        names.push(stem);
    }
    names
}
