//! Several processes on one session: before a write, what others wrote since is taken in.
//!
//! Lines that were added are indexed, and nothing else is read. A file that was replaced is indexed anew; entries of ours that it
//! lacks go out with the next write. Nobody's entries are lost, whoever writes last. Called under the lock.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::disk::{Identity, Token};
use super::draft::Draft;
use super::scan::{self, Added, Content, Place};
use super::{JsonlStore, Session};
use crate::entry::Entry;
use crate::header::VERSION;
use crate::ids::EntryId;
use crate::store::StoreError;

/// How often a file is looked at that grows while it is read: another program does not know the lock.
pub(super) const MAX_LOOKS: usize = 5;

/// Bytes compared at once.
const COMPARED_BYTES: u64 = 64 << 10;

/// How carefully a file is compared with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looking {
    /// Its length, and whether it is the same file: enough to add to it.
    AtItsEnd,
    /// Also when it was written, and its last bytes: before it is replaced.
    AtAll,
}

/// Where the file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// In its place.
    InPlace,
    /// Nowhere: it is still open, but its name is gone.
    Gone,
}

impl JsonlStore {
    /// Takes in what others wrote since this store last read or wrote the file. `unwritten` are entries on their way into it.
    ///
    /// # Errors
    /// The file cannot be read, or holds another session. Then the own entries were saved beside it.
    pub(super) fn catch_up(
        &mut self,
        looking: Looking,
        unwritten: &[Arc<Entry>],
    ) -> Result<Found, StoreError> {
        for _ in 0..MAX_LOOKS {
            let Some(Session { file: Some(file), .. }) = &self.session else {
                self.refuse_a_taken_place()?;
                return Ok(Found::Gone);
            };
            let found = Identity::at(&self.path).map_err(self.io_error("look at"))?;
            let Some(found) = found else { return Ok(Found::Gone) };
            let is_known = found == file.token.identity
                && (looking == Looking::AtItsEnd
                    || Token::at(&self.path).map_err(self.io_error("look at"))?
                        == Some(file.token));
            if is_known || self.take_in_added(found)? {
                return Ok(Found::InPlace);
            }
            self.take_in_replaced(unwritten)?;
        }
        Err(StoreError::Conflict { path: self.path.clone() })
    }

    /// Indexes lines that were added. `false` where more than that has happened.
    fn take_in_added(&mut self, found: Identity) -> Result<bool, StoreError> {
        let read = self.io_error("read");
        let Some(Session { file: Some(file), by_id, records, .. }) = &mut self.session else {
            return Ok(false);
        };
        let is_longer = found.is_longer_than(&file.token.identity);
        let is_plain = file.version == VERSION && file.is_terminated && file.pending.is_none();
        if !is_longer || !is_plain || !file.token.fits_start(&file.reader).map_err(&read)? {
            return Ok(false);
        }
        let added = scan::scan_added(&file.reader, file.bytes, file.lines).map_err(&read)?;
        let Some(Added { records: added, rows, bytes, lines }) = added else { return Ok(false) };
        let token = Token::of(&file.reader, bytes).map_err(&read)?;
        let Some(token) = token.filter(|_| rows.iter().all(|row| !by_id.contains_key(&row.id)))
        else {
            return Ok(false);
        };
        (file.token, file.bytes, file.lines) = (token, bytes, lines);
        for record in added {
            if let Some(id) = &record.id {
                by_id.insert(id.clone(), records.len());
            }
            records.push(record);
        }
        self.unreported.rows.extend(rows);
        Ok(true)
    }

    /// Indexes a file that took the place of the known one, and keeps what it lacks.
    fn take_in_replaced(&mut self, unwritten: &[Arc<Entry>]) -> Result<(), StoreError> {
        let (reader, scanned) = match self.scan()? {
            Some((file, Content::Session(scanned))) => (file, *scanned),
            Some((_, Content::Foreign)) => return Err(self.rescued(unwritten)),
            // Its name is gone again, or it is being made: the next look tells.
            Some((_, Content::Nothing)) | None => return Ok(()),
        };
        let Some(old) = &self.session else { return Ok(()) };
        if scanned.header.id != old.header.id {
            return Err(self.rescued(unwritten));
        }
        let token = Token::of(&reader, scanned.bytes).map_err(self.io_error("read"))?;
        let Some(token) = token.filter(|token| scanned.fits(token)) else { return Ok(()) };
        let rows = scanned.rows.clone();
        let (mut new, _) = Session::read(scanned, reader, token);
        let changed = self.changed(old, &new)?;
        new.carried = self.lacking(old, &new)?;
        self.unreported
            .rows
            .extend(rows.into_iter().filter(|row| !old.by_id.contains_key(&row.id)));
        self.unreported.changed.extend(changed);
        self.session = Some(new);
        Ok(())
    }

    /// Entries that lie otherwise in the new file than in the old one.
    fn changed(&self, old: &Session, new: &Session) -> Result<Vec<EntryId>, StoreError> {
        let (Some(old_file), Some(new_file)) = (&old.file, &new.file) else {
            return Ok(Vec::new());
        };
        let mut changed = Vec::new();
        for (id, at) in &old.by_id {
            let Some(now) = new.by_id.get(id) else { continue };
            let (was, is) = (old.records[*at].place, new.records[*now].place);
            let same = was.bytes == is.bytes
                && holds_the_same((&old_file.reader, was), (&new_file.reader, is))
                    .map_err(self.io_error("read"))?;
            if !same {
                changed.push(id.clone());
            }
        }
        Ok(changed)
    }

    /// Lines of entries that the new file lacks, in their order.
    fn lacking(&self, old: &Session, new: &Session) -> Result<Vec<(EntryId, String)>, StoreError> {
        let mut lacking: Vec<(EntryId, String)> =
            old.carried.iter().filter(|(id, _)| !new.by_id.contains_key(id)).cloned().collect();
        for (at, record) in old.records.iter().enumerate() {
            if let Some(id) = record.id.as_ref().filter(|id| !new.by_id.contains_key(*id)) {
                lacking.push((id.clone(), self.line_of(at)?));
            }
        }
        Ok(lacking)
    }

    /// Saves the session beside the file that another one has taken, and tells of it.
    fn rescued(&self, unwritten: &[Arc<Entry>]) -> StoreError {
        let path = self.path.clone();
        match self.rescue(unwritten) {
            Ok(rescued) => StoreError::Replaced { path, rescued },
            Err(error) => self.io_error("save the entries of")(error),
        }
    }

    fn rescue(&self, unwritten: &[Arc<Entry>]) -> io::Result<PathBuf> {
        let process = std::process::id();
        let name = self.beside(|name| format!("{name}.{process}.rescued.jsonl"));
        let draft = self.beside(|name| format!(".{name}.{:016x}.tmp", self.ids.snowflake()));
        let mut draft = Draft::create(&self.disk, draft, None)?;
        if let Some(session) = &self.session {
            draft.line(session.header.to_line().as_bytes())?;
            for (_, line) in &session.carried {
                draft.line(line.as_bytes())?;
            }
            for at in 0..session.records.len() {
                let line = self.line_of(at).map_err(io::Error::other)?;
                draft.line(line.as_bytes())?;
            }
        }
        for entry in unwritten {
            draft.line(entry.to_line().as_bytes())?;
        }
        draft.finish()?;
        draft.publish(&name)?;
        Ok(name)
    }
}

fn holds_the_same(old: (&File, Place), new: (&File, Place)) -> io::Result<bool> {
    let mut left = vec![0; COMPARED_BYTES.min(old.1.bytes) as usize];
    let mut right = left.clone();
    let mut done = 0;
    while done < old.1.bytes {
        let now = (old.1.bytes - done).min(COMPARED_BYTES) as usize;
        old.0.read_exact_at(&mut left[..now], old.1.offset + done)?;
        new.0.read_exact_at(&mut right[..now], new.1.offset + done)?;
        if left[..now] != right[..now] {
            return Ok(false);
        }
        done += now as u64;
    }
    Ok(true)
}
