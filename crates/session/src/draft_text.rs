//! What a user was writing when a program ended: kept beside the session, and given back by the next program that opens it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Name of the file among the artifacts of its session.
const FILE: &str = "draft.txt";

/// The unsent text of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftText {
    folder: PathBuf,
}

impl DraftText {
    /// The text beside the artifacts in a folder, which is made by the first text.
    pub fn among(artifacts: impl Into<PathBuf>) -> Self {
        Self { folder: artifacts.into() }
    }

    /// The text; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is no text.
    pub fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.file()) {
            Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a text in the place of the one before; an empty one keeps none, and leaves no empty folder behind.
    ///
    /// # Errors
    /// It cannot be written. The text before is still there.
    pub fn write(&self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return self.remove();
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut draft = NamedTempFile::new_in(&self.folder)?;
        draft.write_all(text.as_bytes())?;
        draft.persist(self.file()).map(drop).map_err(|error| error.error)
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => removed?,
        }
        match fs::remove_dir(&self.folder) {
            // Other artifacts lie there.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(Path::new(FILE))
    }
}
