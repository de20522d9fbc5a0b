//! A foreign session as a file: looked through once, then written into a store of ours.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::{Entries, Facts, ImportedFrom, Making, Origin, Survey, Tally};
use crate::entry::{CustomEntry, Entry, EntryKind};
use crate::header::Header;
use crate::ids::EntryId;
use crate::json::Json;
use crate::store::{SessionStore, StoreError};
use crate::time::Timestamp;

/// Kind of the entry that tells where a session comes from.
const MARK: &str = "foreign_session_import";

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// A foreign session that was looked through.
#[derive(Debug)]
pub struct Transcript {
    origin: Origin,
    path: PathBuf,
    source_id: String,
    file: File,
    survey: Survey,
}

/// Why a foreign session was not imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The operating system refused.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The transcript.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// No line of it is a record.
    #[error("`{}` is no session of {}: none of its lines can be read", path.display(), origin.program())]
    NothingReadable {
        /// The transcript.
        path: PathBuf,
        /// The program.
        origin: Origin,
    },
    /// There is no message in it.
    #[error("`{}` holds no message of {}", path.display(), origin.program())]
    NoMessages {
        /// The transcript.
        path: PathBuf,
        /// The program.
        origin: Origin,
    },
    /// The own session cannot be written.
    #[error("cannot write the imported session")]
    Store(#[from] StoreError),
}

impl Transcript {
    /// Looks through a transcript. Reads all of it, and keeps an index.
    ///
    /// # Errors
    /// It cannot be read, none of its lines is a record, or none of its records a message.
    pub fn open(origin: Origin, path: &Path) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let survey = Survey::read(origin, BufReader::with_capacity(BUFFER_BYTES, &file));
        let survey = survey.map_err(failed)?;
        if survey.facts.records == 0 && survey.facts.bytes > 0 {
            return Err(ImportError::NothingReadable { path: path.to_owned(), origin });
        }
        if !survey.facts.has_messages {
            return Err(ImportError::NoMessages { path: path.to_owned(), origin });
        }
        let source_id = source_id(origin, path, survey.facts());
        Ok(Self { origin, path: path.to_owned(), source_id, file, survey })
    }

    /// The program that it comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its id in the program that it comes from.
    pub fn source_id(&self) -> &str {
        &self.source_id
    }

    /// How the session that it becomes says where it comes from.
    pub fn imported_from(&self) -> ImportedFrom {
        ImportedFrom { source: self.origin, source_id: self.source_id.clone() }
    }

    /// What the first look learned.
    pub fn facts(&self) -> &Facts {
        self.survey.facts()
    }

    /// Counts what an import would make, and writes nothing.
    ///
    /// # Errors
    /// It cannot be read, or holds no message.
    pub fn count(&self, making: Making<'_>) -> Result<Tally, ImportError> {
        let mut entries = self.entries(making)?;
        for entry in &mut entries {
            entry.map_err(|source| self.failed(source))?;
        }
        let tally = entries.tally().clone();
        if has_messages(&tally) { Ok(tally) } else { Err(self.no_messages()) }
    }

    /// The header of the session that it becomes: `header` with the title and the origin of the transcript.
    pub fn header(&self, header: Header) -> Header {
        let title = self.facts().title.clone();
        let mut header = Header {
            title: title.as_ref().map(|title| title.text.clone()),
            title_source: title.map(|title| title.source.as_str().to_owned()),
            ..header
        };
        self.imported_from().mark(&mut header);
        header
    }

    /// Writes the session into a new store. All or nothing.
    ///
    /// # Errors
    /// It cannot be read, holds no message, or the store cannot be written.
    pub fn fill(
        &self,
        store: &mut dyn SessionStore,
        making: Making<'_>,
    ) -> Result<Tally, ImportError> {
        let mut entries = self.entries(making)?;
        let mut last = None;
        let mut is_marked = false;
        let mut has_nothing = false;
        let lines = std::iter::from_fn(|| {
            let entry = match entries.next() {
                Some(entry) => entry,
                None if is_marked => return None,
                None if !has_messages(entries.tally()) => {
                    has_nothing = true;
                    // Nothing is written after an error.
                    Err(io::ErrorKind::InvalidData.into())
                }
                None => {
                    is_marked = true;
                    Ok(self.mark(last.take(), making))
                }
            };
            let line = entry.map(|entry| {
                last = Some(entry.id.clone());
                entry.to_line()
            });
            Some(line.map_err(|source| StoreError::Io {
                action: "read",
                path: self.path.clone(),
                source,
            }))
        });
        match store.fill(Box::new(lines)) {
            Err(_) if has_nothing => Err(self.no_messages()),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(entries.tally().clone()),
        }
    }

    fn no_messages(&self) -> ImportError {
        ImportError::NoMessages { path: self.path.clone(), origin: self.origin }
    }

    fn entries<'a>(
        &'a self,
        making: Making<'a>,
    ) -> Result<Entries<'a, BufReader<io::Take<&'a File>>>, ImportError> {
        let mut file = &self.file;
        file.rewind().map_err(|source| self.failed(source))?;
        // What was added since the first look is no part of it.
        let same = file.take(self.facts().bytes);
        Ok(self.survey.entries(BufReader::with_capacity(BUFFER_BYTES, same), making))
    }

    fn failed(&self, source: io::Error) -> ImportError {
        ImportError::Read { path: self.path.clone(), source }
    }

    /// The entry that tells where the session comes from.
    fn mark(&self, parent_id: Option<EntryId>, making: Making<'_>) -> Entry {
        let data = serde_json::json!({
            "source": self.origin,
            "sourceId": self.source_id,
            "sourcePath": self.path,
            "sourceCwd": self.facts().cwd,
        });
        Entry {
            id: making.ids.entry_candidate(),
            parent_id,
            timestamp: Timestamp::from_millis(making.clock.now_millis()),
            kind: EntryKind::Custom(CustomEntry {
                custom_type: MARK.into(),
                data: Some(Json::from(data)),
                ..CustomEntry::default()
            }),
        }
    }
}

fn has_messages(tally: &Tally) -> bool {
    tally.messages() > 0 || tally.entries.contains_key("compaction")
}

/// The id of a session: its file is named for it, or its records tell.
fn source_id(origin: Origin, path: &Path, facts: &Facts) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = match origin {
        Origin::Claude => Uuid::parse_str(&stem).is_ok().then(|| stem.clone()),
        Origin::Codex => None,
    };
    named.or_else(|| facts.source_id.clone()).unwrap_or(stem)
}
