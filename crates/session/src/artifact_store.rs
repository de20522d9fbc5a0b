//! What a session leaves behind beside its transcript: long output, elided results, texts too long for a line. Read back as
//! `artifact://N`.
//!
//! Output arrives in pieces, so that a gigabyte of it never lies in memory. A number is taken when the first piece comes; an
//! artifact can be read only when it is whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::ids::ArtifactId;
use crate::persisted::KeepText;

/// The scheme under which artifacts are read.
pub const SCHEME: &str = "artifact://";

/// Longest part of a file's name that a tool chooses.
const MAX_TOOL_CHARS: usize = 64;

/// The artifacts of one session.
pub trait ArtifactStore: Send + Sync {
    /// Begins to keep one output of a tool.
    ///
    /// # Errors
    /// Nothing can be kept.
    fn begin(&self, tool: &str) -> io::Result<Box<dyn ArtifactDraft>>;

    /// Opens an artifact.
    ///
    /// # Errors
    /// There is no such artifact; the text says which there are.
    fn open(&self, id: ArtifactId) -> io::Result<Box<dyn Read + Send>>;

    /// The numbers of all artifacts, lowest first.
    fn ids(&self) -> Vec<ArtifactId>;

    /// Keeps a whole text.
    ///
    /// # Errors
    /// It cannot be kept.
    fn save(&self, tool: &str, text: &str) -> io::Result<ArtifactId> {
        let mut draft = self.begin(tool)?;
        draft.write_all(text.as_bytes())?;
        draft.finish()
    }
}

/// An artifact that is being written. Dropping it unfinished keeps nothing.
pub trait ArtifactDraft: Write + Send {
    /// Makes it readable under its number.
    ///
    /// # Errors
    /// It cannot be kept.
    fn finish(self: Box<Self>) -> io::Result<ArtifactId>;
}

/// The number in an address such as `artifact://3`; `None` for anything else.
pub fn address(uri: &str) -> Option<ArtifactId> {
    let digits = uri.strip_prefix(SCHEME)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok().map(ArtifactId) } else { None }
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoArtifacts;

impl ArtifactStore for NoArtifacts {
    fn begin(&self, _tool: &str) -> io::Result<Box<dyn ArtifactDraft>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this session keeps no artifacts"))
    }

    fn open(&self, _id: ArtifactId) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "No session - artifacts unavailable"))
    }

    fn ids(&self) -> Vec<ArtifactId> {
        Vec::new()
    }
}

/// Artifacts as files `N.tool.log` of a folder, which is made when it is first needed. Several may share a folder.
#[derive(Debug)]
pub struct FolderArtifacts {
    folder: PathBuf,
    /// The next number, unless another has taken it.
    next: Mutex<u64>,
}

impl FolderArtifacts {
    /// Artifacts in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), next: Mutex::default() }
    }

    fn allocate(&self) -> ArtifactId {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let items = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let taken = items.filter_map(|item| {
            // Also those that are being written.
            item.file_name().to_string_lossy().split_once('.')?.0.parse::<u64>().ok()
        });
        let id = taken.max().map_or(0, |taken| taken + 1).max(*next);
        *next = id + 1;
        ArtifactId(id)
    }
}

impl ArtifactStore for FolderArtifacts {
    fn begin(&self, tool: &str) -> io::Result<Box<dyn ArtifactDraft>> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let id = self.allocate();
        let name = format!("{}.{}.log", id.0, file_part(tool));
        let file =
            tempfile::Builder::new().prefix(&format!("{name}.tmp-")).tempfile_in(&self.folder)?;
        let path = self.folder.join(name);
        Ok(Box::new(FileDraft { id, path, file: io::BufWriter::new(file), bytes: 0 }))
    }

    fn open(&self, id: ArtifactId) -> io::Result<Box<dyn Read + Send>> {
        let known = files(&self.folder);
        match known.get(&id.0) {
            Some(path) => Ok(Box::new(File::open(path)?)),
            None => Err(not_found(id, &known.into_keys().map(ArtifactId).collect::<Vec<_>>())),
        }
    }

    fn ids(&self) -> Vec<ArtifactId> {
        files(&self.folder).into_keys().map(ArtifactId).collect()
    }
}

impl KeepText for FolderArtifacts {
    fn keep(&self, text: &str) -> io::Result<ArtifactId> {
        self.save("text", text)
    }
}

struct FileDraft {
    id: ArtifactId,
    path: PathBuf,
    file: io::BufWriter<NamedTempFile>,
    bytes: u64,
}

impl Write for FileDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl ArtifactDraft for FileDraft {
    fn finish(self: Box<Self>) -> io::Result<ArtifactId> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let found = file.as_file().metadata()?.len();
        if found != self.bytes {
            let path = self.path.display();
            let text = format!("`{path}` has {found} bytes instead of {}", self.bytes);
            return Err(io::Error::other(text));
        }
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(self.id)
    }
}

/// Artifacts of a session that is only in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryArtifacts {
    inner: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    next: u64,
    contents: BTreeMap<u64, Arc<[u8]>>,
}

impl ArtifactStore for MemoryArtifacts {
    fn begin(&self, _tool: &str) -> io::Result<Box<dyn ArtifactDraft>> {
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ArtifactId(kept.next);
        kept.next += 1;
        Ok(Box::new(MemoryDraft { id, content: Vec::new(), artifacts: self.clone() }))
    }

    fn open(&self, id: ArtifactId) -> io::Result<Box<dyn Read + Send>> {
        let kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.contents.get(&id.0) {
            Some(content) => Ok(Box::new(Cursor::new(Arc::clone(content)))),
            None => Err(not_found(
                id,
                &kept.contents.keys().copied().map(ArtifactId).collect::<Vec<_>>(),
            )),
        }
    }

    fn ids(&self) -> Vec<ArtifactId> {
        let kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        kept.contents.keys().copied().map(ArtifactId).collect()
    }
}

struct MemoryDraft {
    id: ArtifactId,
    content: Vec<u8>,
    artifacts: MemoryArtifacts,
}

impl Write for MemoryDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ArtifactDraft for MemoryDraft {
    fn finish(self: Box<Self>) -> io::Result<ArtifactId> {
        let mut kept = self.artifacts.inner.lock().unwrap_or_else(PoisonError::into_inner);
        kept.contents.insert(self.id.0, self.content.into());
        Ok(self.id)
    }
}

fn not_found(id: ArtifactId, known: &[ArtifactId]) -> io::Error {
    let known: Vec<_> = known.iter().map(|id| id.0.to_string()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("Artifact {} not found. Available: {known}", id.0),
    )
}

/// Artifacts of a folder by their numbers. A folder that cannot be read has none.
fn files(folder: &Path) -> BTreeMap<u64, PathBuf> {
    let items = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    items
        .filter_map(|item| Some((number(&item.file_name().to_string_lossy())?, item.path())))
        .collect()
}

/// The number of an artifact's file; `None` for other files, and for those that are not whole.
fn number(name: &str) -> Option<u64> {
    let (id, rest) = name.split_once('.')?;
    Path::new(rest).extension().filter(|ending| *ending == "log")?;
    id.parse().ok()
}

/// A tool's name as part of a file's name.
fn file_part(tool: &str) -> String {
    let mut part = String::new();
    for c in tool.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            part.push(c);
        } else if !part.ends_with('_') {
            part.push('_');
        }
    }
    part.truncate(MAX_TOOL_CHARS);
    let part = part.trim_matches('_');
    if part.is_empty() { "tool".into() } else { part.into() }
}

/// Copies the artifacts of one session to another, with all that lies among them. A folder that does not exist is empty. Links are
/// left out: they may lead anywhere.
///
/// # Errors
/// Something cannot be copied.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let items = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        items => items?,
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    for item in items {
        let item = item?;
        let target = to.join(item.file_name());
        let kind = item.file_type()?;
        if kind.is_dir() {
            copy_folder(&item.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(item.path(), target)?;
        }
    }
    Ok(())
}

/// Moves artifacts to another folder, and replaces nothing there: neither a name nor a number. Gives what stays where it was.
///
/// # Errors
/// Something cannot be moved. What was moved stays moved.
pub fn merge_folder(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    if !from.is_dir() {
        return Ok(Vec::new());
    }
    if !to.exists() {
        return fs::rename(from, to).map(|()| Vec::new());
    }
    let taken = files(to);
    let mut staying = Vec::new();
    for item in fs::read_dir(from)? {
        let item = item?;
        let name = item.file_name();
        let has_taken_number =
            number(&name.to_string_lossy()).is_some_and(|number| taken.contains_key(&number));
        if has_taken_number || to.join(&name).exists() {
            staying.push(item.path());
        } else {
            fs::rename(item.path(), to.join(&name))?;
        }
    }
    if staying.is_empty() {
        fs::remove_dir(from)?;
    }
    staying.sort();
    Ok(staying)
}
