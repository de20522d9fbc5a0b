//! Entries at the end of the file: one write, taken back if it fails.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{Identity, Token};
use super::scan::Place;
use super::{JsonlStore, OnDisk, Pending, Session, draft};
use crate::entry::Entry;
use crate::store::{Receipt, StoreError};

impl JsonlStore {
    /// Whether the file is where it was; `false` if its name is gone.
    ///
    /// # Errors
    /// Another process wrote it, or put another file in its place.
    pub(super) fn is_in_its_place(&self) -> Result<bool, StoreError> {
        let known = self.session.as_ref().and_then(|session| session.file.as_ref());
        let found = Identity::at(&self.path).map_err(self.io_error("look at"))?;
        match (known, found) {
            (Some(known), Some(found)) if known.token.identity == found => Ok(true),
            (_, None) => Ok(false),
            (_, Some(_)) => Err(StoreError::Conflict { path: self.path.clone() }),
        }
    }

    /// Adds lines to a file that is in its place.
    pub(super) fn append_lines(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError> {
        let io_error = self.io_error("append to");
        let path = self.path.clone();
        let Some(Session { file: Some(file), .. }) = &mut self.session else {
            return Err(StoreError::Missing { path });
        };
        let appender = file.appender(&path).map_err(&io_error)?;
        let mut text = String::new();
        if !file.is_terminated {
            text.push('\n');
        }
        let mut places = Vec::with_capacity(entries.len());
        for entry in entries {
            let line = entry.to_line();
            let offset = file.bytes + text.len() as u64;
            places.push(Place { offset, bytes: line.len() as u64 });
            text.push_str(&line);
            text.push('\n');
        }
        let written = draft::write_all(&*self.disk, &appender, text.as_bytes())
            .and_then(|()| Token::of(&file.reader));
        let token = match written {
            Ok(token) => token,
            Err(append) => {
                if let Err(source) = self.disk.truncate(&appender, file.bytes) {
                    file.pending = Some(Pending::TornAppend);
                    file.token = Token::of(&file.reader).unwrap_or(file.token);
                    return Err(StoreError::TornAppend { path, append, source });
                }
                file.token = Token::of(&file.reader).unwrap_or(file.token);
                return Err(io_error(append));
            }
        };
        file.token = token;
        file.bytes += text.len() as u64;
        file.is_terminated = true;
        let first_line = file.lines + 1;
        file.lines += entries.len();
        if let Some(session) = &mut self.session {
            for (n, (entry, place)) in entries.iter().zip(places).enumerate() {
                session.add_record(entry.id.clone(), place, first_line + n);
            }
        }
        Ok(self.receipt())
    }
}

impl OnDisk {
    /// The descriptor that writes at the end. Shared, because the file's facts change while it is used.
    fn appender(&mut self, path: &Path) -> io::Result<Arc<File>> {
        if let Some(appender) = &self.appender {
            return Ok(Arc::clone(appender));
        }
        let appender = Arc::new(OpenOptions::new().append(true).open(path)?);
        self.appender = Some(Arc::clone(&appender));
        Ok(appender)
    }
}
