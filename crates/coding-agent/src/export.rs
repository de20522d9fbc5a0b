//! A session for other eyes: as a page, as Markdown, as one JSON document, or as a session file again.
//!
//! Written entry by entry: a session of any length takes the memory of its index and a few entries. What goes out can have its
//! keys taken out first.

mod flow;
mod html;
mod json;
mod jsonl;
mod markdown;
mod totals;

use std::io::{self, Write};

use longhand_session::archive::FrameSource;
use longhand_session::redaction;
use longhand_session::store::StoreError;

pub use totals::{ModelTotals, Totals};

use crate::session_file::SessionFile;

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One page that needs nothing else.
    Html,
    /// Markdown with a heading for each message.
    Markdown,
    /// Entries, tree and costs in one document.
    Json,
    /// A session file.
    Jsonl,
}

impl Format {
    /// The ending of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Whether keys are taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keys {
    /// Everything is written as it is.
    #[default]
    Kept,
    /// What looks like a key is replaced wherever text goes out.
    Redacted,
}

/// Colours of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// As whoever reads it prefers.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// What is written, and how.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether keys are taken out.
    pub keys: Keys,
    /// Colours of a page.
    pub theme: Theme,
    /// Where the frames of bitmap archives lie; without it they are missing.
    pub frames: Option<&'a dyn FrameSource>,
}

/// Why a session was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The session cannot be read.
    #[error("cannot read the session")]
    Read(#[from] StoreError),
    /// The target cannot be written.
    #[error("cannot write the export")]
    Write(#[from] io::Error),
}

/// How many entries are read at once.
const LOT: usize = 64;

/// Writes a session.
///
/// # Errors
/// The session cannot be read, or the target not written.
pub fn write(
    session: &SessionFile,
    format: Format,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    match format {
        Format::Html => html::write(session, options, out),
        Format::Markdown => markdown::write(session, options, out),
        Format::Json => json::write(session, options, out),
        Format::Jsonl => jsonl::write(session, options, out),
    }
}

impl Keys {
    /// Text as it goes out.
    fn text(self, text: &str) -> String {
        match self {
            Self::Kept => text.to_owned(),
            Self::Redacted => redaction::redact(text).into_owned(),
        }
    }

    /// A JSON text as it goes out.
    fn json(self, text: &str) -> String {
        match self {
            Self::Kept => text.to_owned(),
            Self::Redacted => redaction::redact_json(text).into_owned(),
        }
    }
}

/// A name for the file of an export, from the title.
pub fn file_name(session: &SessionFile, format: Format) -> String {
    let title = session.header.title.as_deref().unwrap_or("session").to_lowercase();
    let mut slug = String::new();
    for char in title.chars() {
        if char.is_alphanumeric() {
            slug.push(char);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.chars().take(48).collect();
    let slug = match slug.trim_matches('-') {
        "" => "session",
        slug => slug,
    };
    let id: String =
        session.header.id.as_str().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    format!("{slug}-{id}.{}", format.extension())
}
