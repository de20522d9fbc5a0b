//! What is written of an entry, and what is read back.
//!
//! Pictures become blobs, so that a line stays short; a text beyond any use in a line is cut, after the whole was kept as an artifact;
//! copies of what is there anyway are left out. The entry in memory stays as it is. Works on the text of a line: members and digits
//! that nobody knows survive.

mod large_text;
mod looked_for;
mod resolved;
mod rewriting;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

use crate::blob_store::BlobStore;
use crate::entry::Entry;
use crate::ids::ArtifactId;
use crate::json::single_line;

/// Keeps a text that is too long for a line, and says under which number.
pub trait KeepText: fmt::Debug + Send + Sync {
    /// Keeps it.
    ///
    /// # Errors
    /// It cannot be kept.
    fn keep(&self, text: &str) -> io::Result<ArtifactId>;
}

/// Where the large parts of entries go.
#[derive(Debug, Clone, Default)]
pub struct Persistence {
    /// For pictures. Without it they stay in their line, whole.
    pub blobs: Option<Arc<dyn BlobStore>>,
    /// For texts. Without it a text that is too long is cut all the same, as other programs do.
    pub texts: Option<Arc<dyn KeepText>>,
}

impl Persistence {
    /// The line of an entry as it is written. What it refers to is kept before.
    ///
    /// # Errors
    /// A picture or a text cannot be kept. Nothing was lost.
    pub fn line(&self, entry: &Entry) -> io::Result<String> {
        let line = entry.to_line();
        match self.written(&line)? {
            Cow::Owned(written) => Ok(written),
            Cow::Borrowed(_) => Ok(line),
        }
    }

    /// The line that is written of an entry's line. Most stay as they are, which costs one search of the line.
    ///
    /// # Errors
    /// A picture or a text cannot be kept. Nothing was lost.
    pub fn written<'l>(&self, line: &'l str) -> io::Result<Cow<'l, str>> {
        if !looked_for::may_change(line, self) {
            return Ok(line.into());
        }
        let Ok(raw) = serde_json::from_str(line) else { return Ok(line.into()) };
        let written = rewriting::Rewriting { persistence: self }.entry(raw)?;
        Ok(written.map_or(line.into(), |line| single_line(line).into()))
    }

    /// The line of an entry with its pictures in it again. Frames of archives stay references: they are read when they are shown.
    /// A blob that is missing stays a reference too.
    pub fn read<'l>(&self, line: &'l str) -> Cow<'l, str> {
        match &self.blobs {
            Some(blobs) if looked_for::has_references(line) => resolved::resolved(line, &**blobs),
            _ => line.into(),
        }
    }
}
