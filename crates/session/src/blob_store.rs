//! Pictures and other large contents, kept once for all sessions under the hash of what they hold.
//!
//! A session names one by a reference, `blob:sha256:` and 64 lower-case hexadecimal digits. Nothing else is a reference, so that no
//! text of a session leads to another file.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::archive::{BLOB_PREFIX, FrameSource};

/// The name of a blob: the hash of its content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobRef(String);

impl BlobRef {
    /// The name of some content.
    pub fn of(content: &[u8]) -> Self {
        let hash = Sha256::digest(content);
        Self(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Reads a reference; `None` for anything else.
    pub fn parse(reference: &str) -> Option<Self> {
        let hash = reference.strip_prefix(BLOB_PREFIX)?;
        let is_hash = hash.len() == 64
            && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        is_hash.then(|| Self(hash.to_owned()))
    }

    /// The hash in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BLOB_PREFIX}{}", self.0)
    }
}

/// Keeps blobs.
pub trait BlobStore: fmt::Debug + Send + Sync {
    /// Keeps some content, if it is not kept yet.
    ///
    /// # Errors
    /// It cannot be kept.
    fn put(&self, content: &[u8]) -> io::Result<BlobRef>;

    /// The content of a blob; `None` where it is not kept.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, blob: &BlobRef) -> io::Result<Option<Vec<u8>>>;

    /// Length of a blob, in bytes; `None` where it is not kept. Reads no content.
    ///
    /// # Errors
    /// It cannot be looked at.
    fn bytes(&self, blob: &BlobRef) -> io::Result<Option<u64>>;
}

/// Blobs as the source of the frames of archives.
#[derive(Debug, Clone)]
pub struct BlobFrames(pub Arc<dyn BlobStore>);

impl FrameSource for BlobFrames {
    fn encoded_bytes(&self, reference: &str) -> Option<u64> {
        let bytes = self.0.bytes(&BlobRef::parse(reference)?).ok()??;
        Some(bytes.div_ceil(3) * 4)
    }

    fn read(&self, reference: &str) -> Option<String> {
        let content = self.0.read(&BlobRef::parse(reference)?).ok()??;
        Some(STANDARD.encode(content))
    }
}

/// Blobs in a folder, a file each. The folder is made by the first one.
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    folder: PathBuf,
}

impl FolderBlobs {
    /// Blobs in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// All blobs, with when each was last written, for whoever removes those that no session names.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn list(&self) -> io::Result<Vec<(BlobRef, PathBuf)>> {
        let items = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            items => items?,
        };
        let mut blobs = Vec::new();
        for item in items {
            let item = item?;
            let name = item.file_name();
            let reference = format!("{BLOB_PREFIX}{}", name.to_string_lossy());
            blobs.extend(BlobRef::parse(&reference).map(|blob| (blob, item.path())));
        }
        blobs.sort();
        Ok(blobs)
    }

    fn path(&self, blob: &BlobRef) -> PathBuf {
        self.folder.join(&blob.0)
    }
}

impl BlobStore for FolderBlobs {
    fn put(&self, content: &[u8]) -> io::Result<BlobRef> {
        let blob = BlobRef::of(content);
        if self.bytes(&blob)? == Some(content.len() as u64) {
            return Ok(blob);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut draft = NamedTempFile::new_in(&self.folder)?;
        draft.write_all(content)?;
        draft.as_file().sync_data()?;
        draft.persist(self.path(&blob)).map_err(|error| error.error)?;
        Ok(blob)
    }

    fn read(&self, blob: &BlobRef) -> io::Result<Option<Vec<u8>>> {
        found(fs::read(self.path(blob)))
    }

    fn bytes(&self, blob: &BlobRef) -> io::Result<Option<u64>> {
        Ok(found(fs::metadata(self.path(blob)))?.map(|metadata| metadata.len()))
    }
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Blobs in memory.
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    contents: Mutex<HashMap<BlobRef, Vec<u8>>>,
}

impl BlobStore for MemoryBlobs {
    fn put(&self, content: &[u8]) -> io::Result<BlobRef> {
        let blob = BlobRef::of(content);
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.entry(blob.clone()).or_insert_with(|| content.to_vec());
        Ok(blob)
    }

    fn read(&self, blob: &BlobRef) -> io::Result<Option<Vec<u8>>> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(contents.get(blob).cloned())
    }

    fn bytes(&self, blob: &BlobRef) -> io::Result<Option<u64>> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(contents.get(blob).map(|content| content.len() as u64))
    }
}

/// References to blobs in the lines of sessions, for whoever removes blobs that nothing names.
pub fn references(line: &str) -> impl Iterator<Item = BlobRef> + '_ {
    line.match_indices(BLOB_PREFIX)
        .filter_map(|(at, _)| BlobRef::parse(line.get(at..at + BLOB_PREFIX.len() + 64)?))
}

/// The folder of blobs beside other data of a user.
pub fn folder(data: &Path) -> PathBuf {
    data.join("blobs")
}
