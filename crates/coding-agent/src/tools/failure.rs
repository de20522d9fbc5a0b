//! Why a call failed, in the words that the model reads.
//!
//! A text and nothing else: nobody decides by it, the model is its only reader.

use std::io;
use std::path::Path;

use longhand_agent::ToolOutput;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A file that could not be worked with: `cannot read `a.rs`: No such file or directory`.
    pub(crate) fn file(action: &str, path: &Path, cause: &io::Error) -> Self {
        Self(format!("cannot {action} `{}`: {cause}", path.display()))
    }

    /// A pipe, a device or a socket: reading it may never end, and replacing it breaks it.
    pub(crate) fn irregular(name: &str) -> Self {
        Self(format!("`{name}` is neither a file nor a directory"))
    }

    /// The call was stopped before it was done.
    pub(crate) fn cancelled() -> Self {
        Self::new("The call was cancelled.")
    }
}

impl From<Failure> for ToolOutput {
    fn from(failure: Failure) -> Self {
        Self::error(failure.0)
    }
}
