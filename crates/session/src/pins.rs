//! Sessions that the user has pinned: they come first in every list.
//!
//! One file for all of them, a JSON array of ids. A change reads it anew under a lock, so that two programs lose no pin.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::ids::SessionId;
use crate::listing::SessionRow;

/// The file of the pins.
#[derive(Debug, Clone)]
pub struct Pins {
    file: PathBuf,
}

impl Pins {
    /// The pins in a file, which is made by the first pin.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// The pinned sessions, in the order of pinning.
    ///
    /// # Errors
    /// The file cannot be read, or is not a list of ids.
    pub fn read(&self) -> io::Result<Vec<SessionId>> {
        match fs::read(&self.file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                let file = self.file.display();
                io::Error::new(io::ErrorKind::InvalidData, format!("`{file}`: {error}"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Pins a session. A pinned one stays where it is.
    ///
    /// # Errors
    /// The file cannot be read or written. Nothing has changed.
    pub fn pin(&self, id: &SessionId) -> io::Result<()> {
        self.change(|pins| {
            if !pins.contains(id) {
                pins.push(id.clone());
            }
        })
    }

    /// Takes the pin of a session away.
    ///
    /// # Errors
    /// The file cannot be read or written. Nothing has changed.
    pub fn unpin(&self, id: &SessionId) -> io::Result<()> {
        self.change(|pins| pins.retain(|pinned| pinned != id))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<SessionId>)) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let lock = private().create(true).truncate(false).open(self.beside("lock"))?;
        lock.lock()?;
        let mut pins = self.read()?;
        change(&mut pins);
        let draft = self.beside("tmp");
        let written = write(&draft, &pins).and_then(|()| fs::rename(&draft, &self.file));
        if written.is_err() {
            // The draft is of no use; why it is there is told.
            let _ = fs::remove_file(&draft);
        }
        written
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        self.file.with_file_name(format!(".{name}.{ending}"))
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn write(path: &Path, pins: &[SessionId]) -> io::Result<()> {
    let mut file: File = private().create(true).truncate(true).open(path)?;
    file.write_all(&serde_json::to_vec(pins)?)?;
    file.sync_all()
}

/// Puts pinned sessions first; all keep their order otherwise.
pub fn pinned_first(rows: &mut [SessionRow], pins: &[SessionId]) {
    rows.sort_by_key(|row| !pins.contains(&row.id));
}
