//! The few ways in which a session file is changed, as a seam, so that a test can let each of them fail.

use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::SystemTime;

/// Changes files. The methods do what the machine does; a test overrides one to let it fail.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Writes at the end of a file, perhaps only some of the bytes.
    ///
    /// # Errors
    /// Nothing was written.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    /// Writes in the middle of a file.
    ///
    /// # Errors
    /// Some bytes may be written.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// Cuts a file off.
    ///
    /// # Errors
    /// The file is as long as before.
    fn truncate(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }

    /// Makes the content of a file, or the names in a folder, survive the loss of power.
    ///
    /// # Errors
    /// The device did not confirm.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Gives a file another name, in the place of what had it.
    ///
    /// # Errors
    /// Both names are as before.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Keeps the content of a file under a further name, which is free: by a link, or a copy where there are no links.
    ///
    /// # Errors
    /// The content is not kept.
    fn keep(&self, file: &Path, name: &Path) -> io::Result<()> {
        fs::hard_link(file, name).or_else(|_| fs::copy(file, name).map(drop))
    }
}

/// The machine's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {}

/// How many bytes at the end tell one content from another.
const TAIL_BYTES: u64 = 4096;

/// What a file looked like when it was last read or written. Another token means that somebody else wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) identity: Identity,
    /// When the file was written; `None` where it has grown since.
    modified: Option<SystemTime>,
    tail_hash: u64,
}

/// Which file it is, and how long. All that an append needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    pub(crate) bytes: u64,
}

impl Identity {
    /// The file at a path; `None` where there is none.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether it is the same file, which only has grown.
    pub(crate) fn is_longer_than(self, before: &Self) -> bool {
        (self.device, self.inode) == (before.device, before.inode) && self.bytes > before.bytes
    }

    fn of(metadata: &fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino(), bytes: metadata.len() }
    }
}

impl Token {
    /// The token of a file that is `bytes` long; `None` where it is shorter now. What came after is not part of it.
    pub(crate) fn of(file: &File, bytes: u64) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        if metadata.len() < bytes {
            return Ok(None);
        }
        Ok(Some(Self {
            identity: Identity { bytes, ..Identity::of(&metadata) },
            // A file that has grown is not what it was at that time.
            modified: Some(metadata.modified()?).filter(|_| metadata.len() == bytes),
            tail_hash: tail_hash(file, bytes)?,
        }))
    }

    /// The token of a whole file.
    pub(crate) fn whole(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            identity: Identity::of(&metadata),
            modified: Some(metadata.modified()?),
            tail_hash: tail_hash(file, metadata.len())?,
        })
    }

    /// Whether the file was no longer than what the token is of.
    pub(crate) fn is_of_the_whole_file(&self) -> bool {
        self.modified.is_some()
    }

    /// Whether a file that has grown begins with what it was.
    pub(crate) fn fits_start(&self, file: &File) -> io::Result<bool> {
        Ok(tail_hash(file, self.identity.bytes)? == self.tail_hash)
    }

    /// The token of the file at a path; `None` where there is none.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Self::whole(&file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A hash of the last bytes before `end`.
fn tail_hash(file: &File, end: u64) -> io::Result<u64> {
    let start = end.saturating_sub(TAIL_BYTES);
    let mut tail = vec![0; (end - start) as usize];
    file.read_exact_at(&mut tail, start)?;
    let mut hasher = DefaultHasher::new();
    tail.hash(&mut hasher);
    Ok(hasher.finish())
}
