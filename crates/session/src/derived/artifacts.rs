//! Copies of what tools left behind, for a session that names it too.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::DeriveError;

/// Marks a session that holds a draft and nothing else. The copy holds more.
const DRAFT_ONLY: &str = ".draft-only-session";

/// A folder that was made by [`copy`].
pub(super) struct Copied(PathBuf);

impl Copied {
    /// Removes it again. What stays is in nobody's way: no session has its name.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!("cannot remove `{}`: {error}", self.0.display());
        }
    }
}

/// Copies a folder with all that is in it; `None` where there is none. Links are left out: they may lead anywhere.
///
/// # Errors
/// Something cannot be copied, or there is something in the place of the copy. There is no copy.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Option<Copied>, DeriveError> {
    if !from.is_dir() {
        return Ok(None);
    }
    if let Some(parent) = to.parent() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(failed(parent))?;
    }
    fs::DirBuilder::new().mode(0o700).create(to).map_err(failed(to))?;
    let copied = Copied(to.to_owned());
    match copy_items(from, to) {
        Ok(()) => Ok(Some(copied)),
        Err(error) => {
            copied.remove();
            Err(error)
        }
    }
}

fn copy_items(from: &Path, to: &Path) -> Result<(), DeriveError> {
    for item in fs::read_dir(from).map_err(failed(from))? {
        let item = item.map_err(failed(from))?;
        let (path, name) = (item.path(), item.file_name());
        let kind = item.file_type().map_err(failed(&path))?;
        if kind.is_dir() {
            let folder = to.join(&name);
            fs::create_dir(&folder).map_err(failed(&folder))?;
            copy_items(&path, &folder)?;
        } else if kind.is_file() && name != DRAFT_ONLY {
            fs::copy(&path, to.join(&name)).map_err(failed(&path))?;
        }
    }
    Ok(())
}

fn failed(path: &Path) -> impl Fn(io::Error) -> DeriveError + use<> {
    let path = path.to_owned();
    move |source| DeriveError::Artifacts { path: path.clone(), source }
}
