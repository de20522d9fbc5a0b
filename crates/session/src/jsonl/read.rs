//! Entries by their ids, parsed when they are asked for, in the form of today.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::migration::{self, Target};
use super::scan::{Form, Place};
use super::{JsonlStore, Session, line};
use crate::damaged_line;
use crate::entry::Entry;
use crate::ids::EntryId;
use crate::persisted::Persistence;
use crate::stale_state;
use crate::store::{EntryReader, StoreError};

impl EntryReader for JsonlStore {
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError> {
        let (Some(session), false) = (&self.session, ids.is_empty()) else {
            return match ids.first() {
                Some(id) => Err(StoreError::UnknownEntry(id.clone())),
                None => Ok(Vec::new()),
            };
        };
        let mut window = Window::default();
        let mut entries = Vec::with_capacity(ids.len());
        for id in ids {
            let at = session.index(id)?;
            let record = &session.records[at];
            let Some(file) = &session.file else {
                return Err(StoreError::UnknownEntry(id.clone()));
            };
            let ahead = if ids.len() > 1 { READ_AHEAD_BYTES } else { 0 };
            let bytes = window
                .get(&file.reader, record.place, file.bytes, ahead)
                .map_err(self.io_error("read"))?;
            let mut entry =
                session.entry(at, bytes, file.version, &self.persistence).unwrap_or_else(|error| {
                    let (path, line) = (self.path.display(), record.line);
                    tracing::warn!("`{path}`, line {line}: the entry cannot be read: {error}");
                    let text = String::from_utf8_lossy(bytes);
                    damaged_line::stand_in(id.clone(), parent_of_damaged(bytes), &text)
                });
            entry.id = id.clone();
            entries.push(Arc::new(stale_state::dropped(entry)));
        }
        Ok(entries)
    }
}

impl JsonlStore {
    /// The line of a record, in the form of today. A damaged one is as it lies, or its stand-in where it would need another id.
    pub(super) fn line_of(&self, at: usize) -> Result<String, StoreError> {
        let missing = || StoreError::Missing { path: self.path.clone() };
        let session = self.session.as_ref().ok_or_else(missing)?;
        let (Some(record), Some(file)) = (session.records.get(at), &session.file) else {
            return Err(missing());
        };
        let mut bytes = vec![0; record.place.bytes as usize];
        file.reader
            .read_exact_at(&mut bytes, record.place.offset)
            .map_err(self.io_error("read"))?;
        Ok(match record.form {
            Form::Edited => session.edited_or_stand_in(at, &bytes, file.version),
            Form::Whole | Form::SharedLine => String::from_utf8_lossy(&bytes).trim_end().to_owned(),
        })
    }
}

/// How much is read at once where several entries are wanted: a branch mostly lies together.
const READ_AHEAD_BYTES: u64 = 64 << 10;

/// The part of the file that was read last.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    offset: u64,
}

impl Window {
    fn get(&mut self, file: &File, place: Place, end: u64, ahead: u64) -> io::Result<&[u8]> {
        let is_inside =
            place.offset >= self.offset && place.end() <= self.offset + self.bytes.len() as u64;
        if !is_inside {
            let until = (place.offset + ahead).min(end).max(place.end());
            self.bytes.resize((until - place.offset) as usize, 0);
            self.offset = place.offset;
            if let Err(error) = file.read_exact_at(&mut self.bytes, place.offset) {
                self.bytes.clear();
                return Err(error);
            }
        }
        let start = (place.offset - self.offset) as usize;
        Ok(&self.bytes[start..start + place.bytes as usize])
    }
}

impl Session {
    /// The text of an edited record as it is to be.
    fn edited(&self, at: usize, bytes: &[u8], version: u64) -> Result<String, serde_json::Error> {
        let record = &self.records[at];
        let Some(id) = &record.id else { return Ok(String::from_utf8_lossy(bytes).into_owned()) };
        let previous = self.records[..at].iter().rev().find_map(|record| record.id.as_ref());
        let nth = |object: u64| {
            let at = usize::try_from(object).ok()?.checked_sub(1)?;
            self.records.get(at)?.id.clone()
        };
        let target = Target { version, id, previous, nth: &nth };
        migration::migrate(&String::from_utf8_lossy(bytes), &target)
    }

    /// The same, or what stands in its place where it is damaged: as it lies it would have the id of another entry.
    pub(super) fn edited_or_stand_in(&self, at: usize, bytes: &[u8], version: u64) -> String {
        self.edited(at, bytes, version).unwrap_or_else(|_| {
            let id = self.records[at].id.clone();
            damaged_line::line(id, parent_of_damaged(bytes), &String::from_utf8_lossy(bytes))
        })
    }

    fn entry(
        &self,
        at: usize,
        bytes: &[u8],
        version: u64,
        persistence: &Persistence,
    ) -> Result<Entry, serde_json::Error> {
        let line = match self.records[at].form {
            Form::Whole | Form::SharedLine => String::from_utf8_lossy(bytes),
            Form::Edited => self.edited(at, bytes, version)?.into(),
        };
        serde_json::from_str(&persistence.read(&line))
    }
}

/// The parent of an entry whose line looked whole when the file was opened.
fn parent_of_damaged(bytes: &[u8]) -> Option<EntryId> {
    line::usual(bytes)?.parent_id.as_deref().map(EntryId::from)
}
