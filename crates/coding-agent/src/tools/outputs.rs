//! Keeps output that is too long for the conversation, and gives it back as `artifact://N`.
//!
//! Output arrives in pieces, so that a gigabyte of it never lies in memory. An id is taken when the first piece is kept; a file
//! appears under its name only when it is whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longhand_session::ArtifactId;
use tempfile::NamedTempFile;

/// The scheme under which kept output is read.
pub(crate) const SCHEME: &str = "artifact://";

/// Where long output is kept.
pub trait OutputStore: Send + Sync {
    /// Begins to keep one output of a tool.
    ///
    /// # Errors
    /// Nothing can be kept.
    fn begin(&self, tool: &str) -> io::Result<Box<dyn OutputDraft>>;

    /// Opens what was kept.
    ///
    /// # Errors
    /// There is no such artifact; the text says which there are.
    fn open(&self, id: ArtifactId) -> io::Result<Box<dyn Read + Send>>;

    /// Keeps a whole output.
    ///
    /// # Errors
    /// It cannot be kept.
    fn save(&self, tool: &str, text: &str) -> io::Result<ArtifactId> {
        let mut draft = self.begin(tool)?;
        draft.write_all(text.as_bytes())?;
        draft.finish()
    }
}

/// An output that is being kept. Dropping it unfinished keeps nothing.
pub trait OutputDraft: Write + Send {
    /// Makes it readable under its id.
    ///
    /// # Errors
    /// It cannot be kept.
    fn finish(self: Box<Self>) -> io::Result<ArtifactId>;
}

/// Keeps nothing: long output is cut without a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOutputs;

impl OutputStore for NoOutputs {
    fn begin(&self, _tool: &str) -> io::Result<Box<dyn OutputDraft>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this session keeps no artifacts"))
    }

    fn open(&self, _id: ArtifactId) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "No session - artifacts unavailable"))
    }
}

/// Keeps each output as a file `N.tool.log` of a folder, which is made when first needed.
#[derive(Debug)]
pub struct OutputFolder {
    folder: PathBuf,
    /// The next id; `None` until the folder was looked at.
    next: Mutex<Option<u64>>,
}

impl OutputFolder {
    /// Keeps output in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), next: Mutex::new(None) }
    }

    fn allocate(&self) -> ArtifactId {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let id = next.unwrap_or_else(|| ids_in(&self.folder).last().map_or(0, |(id, _)| id + 1));
        *next = Some(id + 1);
        ArtifactId(id)
    }
}

impl OutputStore for OutputFolder {
    fn begin(&self, tool: &str) -> io::Result<Box<dyn OutputDraft>> {
        fs::create_dir_all(&self.folder)?;
        let id = self.allocate();
        let name = format!("{}.{}.log", id.0, file_part(tool));
        let file =
            tempfile::Builder::new().prefix(&format!("{name}.tmp-")).tempfile_in(&self.folder)?;
        Ok(Box::new(FileDraft { id, path: self.folder.join(name), file: io::BufWriter::new(file) }))
    }

    fn open(&self, id: ArtifactId) -> io::Result<Box<dyn Read + Send>> {
        let known = ids_in(&self.folder);
        match known.iter().find(|(known, _)| *known == id.0) {
            Some((_, path)) => Ok(Box::new(File::open(path)?)),
            None => Err(not_found(id, known.iter().map(|(id, _)| *id))),
        }
    }
}

struct FileDraft {
    id: ArtifactId,
    path: PathBuf,
    file: io::BufWriter<NamedTempFile>,
}

impl Write for FileDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl OutputDraft for FileDraft {
    fn finish(self: Box<Self>) -> io::Result<ArtifactId> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(self.id)
    }
}

fn not_found(id: ArtifactId, known: impl Iterator<Item = u64>) -> io::Error {
    let known: Vec<_> = known.map(|id| id.to_string()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("Artifact {} not found. Available: {known}", id.0),
    )
}

/// Ids and files of a folder, in the order of the ids. A folder that cannot be read has none.
fn ids_in(folder: &Path) -> Vec<(u64, PathBuf)> {
    let mut ids: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name();
            let (id, rest) = name.to_str()?.split_once('.')?;
            Path::new(rest).extension().filter(|ending| *ending == "log")?;
            Some((id.parse().ok()?, entry.path()))
        })
        .collect();
    ids.sort();
    ids
}

/// A tool's name as part of a file name.
fn file_part(tool: &str) -> String {
    let mut part = String::new();
    for c in tool.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            part.push(c);
        } else if !part.ends_with('_') {
            part.push('_');
        }
    }
    part.truncate(64);
    let part = part.trim_matches('_');
    if part.is_empty() { "tool".into() } else { part.into() }
}
