//! Entries at the end of the file: one write, taken back if it fails.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::Token;
use super::scan::Place;
use super::{JsonlStore, OnDisk, Pending, Session, draft};
use crate::entry::Entry;
use crate::ids::EntryId;
use crate::store::StoreError;

impl JsonlStore {
    /// Adds lines to a file that is in its place.
    pub(super) fn append_lines(&mut self, entries: &[Arc<Entry>]) -> Result<(), StoreError> {
        let io_error = self.io_error("append to");
        let path = self.path.clone();
        let line = |entry: &Arc<Entry>| Ok((entry.id.clone(), self.persistence.line(entry)?));
        let lines: Vec<(EntryId, String)> =
            entries.iter().map(line).collect::<io::Result<_>>().map_err(&io_error)?;
        let Some(Session { file: Some(file), carried, .. }) = &mut self.session else {
            return Err(StoreError::Missing { path });
        };
        let appender = file.appender(&path).map_err(&io_error)?;
        let mut text = String::new();
        if !file.is_terminated {
            text.push('\n');
        }
        let mut added = Vec::with_capacity(carried.len() + entries.len());
        for (id, line) in carried.iter().cloned().chain(lines) {
            let offset = file.bytes + text.len() as u64;
            added.push((id, Place { offset, bytes: line.len() as u64 }));
            text.push_str(&line);
            text.push('\n');
        }
        let written = draft::write_all(&*self.disk, &appender, text.as_bytes())
            .and_then(|()| Token::whole(&file.reader));
        let token = match written {
            Ok(token) => token,
            Err(append) => {
                if let Err(source) = self.disk.truncate(&appender, file.bytes) {
                    file.pending = Some(Pending::TornAppend);
                    file.token = Token::whole(&file.reader).unwrap_or(file.token);
                    return Err(StoreError::TornAppend { path, append, source });
                }
                file.token = Token::whole(&file.reader).unwrap_or(file.token);
                return Err(io_error(append));
            }
        };
        file.token = token;
        file.bytes += text.len() as u64;
        file.is_terminated = true;
        let first_line = file.lines + 1;
        file.lines += added.len();
        carried.clear();
        if let Some(session) = &mut self.session {
            for (n, (id, place)) in added.into_iter().enumerate() {
                session.add_record(id, place, first_line + n);
            }
        }
        Ok(())
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
