//! Remembers what of each file the model has seen, so that a file that changed meanwhile is not overwritten unseen.
//!
//! Contents are told apart by length and hash, not by time alone: a file that was touched but not changed counts as seen. Lives as long
//! as the session's process; a resumed session has seen nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A content, told from others by its length and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    bytes: u64,
    hash: u64,
}

impl Fingerprint {
    pub(crate) fn of(content: &[u8]) -> Self {
        let mut print = Fingerprinter::default();
        print.push(content);
        print.finish()
    }
}

/// Makes a [`Fingerprint`] of a content that comes in pieces, cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Fingerprinter {
    bytes: u64,
    hasher: DefaultHasher,
}

impl Fingerprinter {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.hasher.write(piece);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint { bytes: self.bytes, hash: self.hasher.finish() }
    }
}

/// What of each file the model has seen.
#[derive(Debug, Default)]
pub struct ReadLog(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    files: HashMap<PathBuf, Fingerprint>,
    /// The last read and how often it came in a row.
    last: Option<(u64, u32)>,
}

impl ReadLog {
    /// The model saw this content of the file.
    pub(crate) fn saw(&self, real: &Path, print: Fingerprint) {
        self.lock().files.insert(real.to_owned(), print);
    }

    /// Whether the model saw the file, but another content of it.
    pub(crate) fn is_stale(&self, real: &Path, now: Fingerprint) -> bool {
        self.lock().files.get(real).is_some_and(|seen| *seen != now)
    }

    /// The file went from one content to the other by an edit: it is as well known as before.
    pub(crate) fn edited(&self, real: &Path, before: Fingerprint, after: Fingerprint) {
        if let Some(seen) = self.lock().files.get_mut(real).filter(|seen| **seen == before) {
            *seen = after;
        }
    }

    /// Counts reads of the same lines of the same content in a row, this one included.
    pub(crate) fn repeats(&self, argument: &str, print: Fingerprint) -> u32 {
        let mut hasher = DefaultHasher::new();
        (argument, print.bytes, print.hash).hash(&mut hasher);
        let read = hasher.finish();
        let mut seen = self.lock();
        let count = seen.last.filter(|(last, _)| *last == read).map_or(1, |(_, count)| count + 1);
        seen.last = Some((read, count));
        count
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
