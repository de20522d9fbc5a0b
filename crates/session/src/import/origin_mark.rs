//! How a session says where it was imported from, and how such a session is found again.
//!
//! The header says it, so that a list of sessions is enough to know what was imported; an entry says it too, for other programs of the
//! format and for whoever reads the file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Origin;
use super::fields::{pick, text};
use super::foreign::{Windows, items};
use crate::header::Header;
use crate::ids::SessionId;
use crate::json::typed;
use crate::place::EXTENSION;

/// Member of a header.
const MEMBER: &str = "importedFrom";

/// Bytes of a session that are read to find its header.
const HEAD_BYTES: u64 = 4096;

/// The foreign session that one of ours was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedFrom {
    /// The program.
    pub source: Origin,
    /// Its id there.
    pub source_id: String,
}

impl ImportedFrom {
    /// What a header says; `None` where the session was not imported.
    pub fn of(header: &Header) -> Option<Self> {
        serde_json::from_str(header.extra.get(MEMBER)?.text()).ok()
    }

    pub(super) fn mark(&self, header: &mut Header) {
        let origin = serde_json::json!({"source": self.source, "sourceId": self.source_id});
        header.extra.insert(MEMBER, origin.into());
    }
}

/// A session file that was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// The file.
    pub path: PathBuf,
    /// The id of the session.
    pub id: SessionId,
    /// Where it comes from.
    pub from: ImportedFrom,
}

/// The session files of these folders that were imported, the oldest first. Reads the start of each file.
pub fn imported_files(folders: &[PathBuf]) -> Vec<ImportedFile> {
    let files = folders.iter().flat_map(|folder| items(folder)).map(|item| item.path());
    let mut found: Vec<ImportedFile> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == EXTENSION))
        .filter_map(imported_file)
        .collect();
    // The names of files begin with the time.
    found.sort_by(|a, b| a.path.file_name().cmp(&b.path.file_name()));
    found
}

fn imported_file(path: PathBuf) -> Option<ImportedFile> {
    let head = Windows::open(&path)?.head(HEAD_BYTES);
    let (id, from) = head.lines().find_map(|line| {
        let [kind, id, member] = pick(line, ["type", "id", MEMBER]);
        let is_header = text(kind).as_deref() == Some("session");
        let from: ImportedFrom = member.filter(|_| is_header).and_then(typed)?;
        Some((SessionId::from(text(id)?), from))
    })?;
    Some(ImportedFile { path, id, from })
}
