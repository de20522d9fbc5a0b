//! Frames as files: of the archive of a session, or of any text.
//!
//! Nothing is overwritten. A folder gets its manifest last, so that one without it is unfinished.

mod of_archive;
mod of_text;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use longhand_snapcompact::Error;
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use of_archive::of_archive;
pub use of_text::of_text;

/// Name of the manifest.
const MANIFEST: &str = "manifest.json";

/// Why there are no files.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// The text cannot be drawn.
    #[error(transparent)]
    Draw(#[from] Error),
    /// The session has no archive there.
    #[error("{0}")]
    NoArchive(String),
    /// The folder holds something already.
    #[error("`{}` is not empty; name a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// Entry of the archive; empty for a text.
    pub entry: String,
    /// Shape of the frames that are read best; empty where it is not known.
    pub shape: String,
    /// The frames, oldest first.
    pub frames: Vec<FrameFacts>,
    /// Tokens of the oldest text.
    pub head_tokens: u64,
    /// Tokens of the newest text.
    pub tail_tokens: u64,
    /// The model that tokens are counted for; empty where none is known.
    pub model: String,
}

/// One frame as a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameFacts {
    /// Its name in the folder; empty where its picture is not there.
    pub file: String,
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// `hq` for the shape that is read best, `lq` for the denser one.
    pub class: &'static str,
    /// Name of the shape.
    pub shape: String,
    /// Characters drawn.
    pub chars: u64,
    /// Tokens that it is billed at.
    pub tokens: u64,
    /// Of the file, in hex.
    pub sha256: String,
}

/// Files that are to be written into one folder.
#[derive(Debug, Clone)]
pub struct FrameFiles {
    /// What they are.
    pub manifest: Manifest,
    /// Names and contents.
    pub files: Vec<(String, Vec<u8>)>,
}

impl FrameFiles {
    /// Writes the files into a folder that is new or empty.
    ///
    /// # Errors
    /// The folder holds something, or cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FramesError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            |source| FramesError::Write { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
            return Err(FramesError::NotEmpty(folder.to_path_buf()));
        }
        let manifest = serde_json::to_string_pretty(&self.manifest).unwrap_or_default() + "\n";
        let manifest = (MANIFEST.to_owned(), manifest.into_bytes());
        for (name, content) in self.files.iter().chain([&manifest]) {
            let path = folder.join(name);
            fs::write(&path, content).map_err(failed(&path))?;
        }
        Ok(())
    }
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
