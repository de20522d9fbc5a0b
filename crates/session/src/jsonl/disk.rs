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

    /// Makes a file, or the names in a folder, survive the loss of power.
    ///
    /// # Errors
    /// The device did not confirm.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
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

    fn of(metadata: &fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino(), bytes: metadata.len() }
    }
}

impl Token {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let tail_start = metadata.len().saturating_sub(TAIL_BYTES);
        let mut tail = vec![0; (metadata.len() - tail_start) as usize];
        file.read_exact_at(&mut tail, tail_start)?;
        let mut hasher = DefaultHasher::new();
        tail.hash(&mut hasher);
        Ok(Self {
            identity: Identity::of(&metadata),
            modified: metadata.modified().ok(),
            tail_hash: hasher.finish(),
        })
    }

    /// The token of the file at a path; `None` where there is none.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Self::of(&file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
