//! The session as a new file in the place of the old one.
//!
//! Lines that nothing touches are copied as they lie, in one pass and constant memory. Until the new file has its name the old one
//! is untouched, and a failure leaves everything as it was.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Token;
use super::draft::Draft;
use super::scan::{Form, Place, Record};
use super::{JsonlStore, OnDisk, Pending, Session};
use crate::entry::Entry;
use crate::header::{self, Header, VERSION};
use crate::ids::EntryId;
use crate::memory_store::refuse_duplicates;
use crate::store::{ChangeSet, Lines, Receipt, StoreError};
use crate::stored_object;
use crate::time::Timestamp;
use crate::title_slot::{SLOT_BYTES, TitleSlot};

impl JsonlStore {
    /// Writes the session with `changes`, and what was pending, as a new file.
    pub(super) fn replace_file(&mut self, changes: &ChangeSet) -> Result<(), StoreError> {
        let missing = || StoreError::Missing { path: self.path.clone() };
        let session = self.session.as_ref().ok_or_else(missing)?;
        refuse_unknown(session, changes)?;
        if let Some(header) = new_title(session, changes) {
            return self.write_title(header);
        }

        let draft = self.draft(session).map_err(self.io_error("create a file beside"))?;
        let written = self
            .write(session, changes, draft)
            .map_err(self.io_error("write the replacement of"))?;
        let replaced = self.publish(session, changes, written)?;
        self.session = Some(replaced);
        self.new = None;
        Ok(())
    }

    /// Writes a session that has nothing yet, with these lines.
    pub(super) fn fill_file(&mut self, lines: Lines<'_>) -> Result<(), StoreError> {
        let missing = || StoreError::Missing { path: self.path.clone() };
        let session = self.session.as_ref().ok_or_else(missing)?;
        self.refuse_a_changed_file(session)?;
        let io_error = self.io_error("write the replacement of");
        let draft = self.draft(session).map_err(self.io_error("create a file beside"))?;
        let mut writing = Written::new(draft);
        let changes = ChangeSet::default();
        writing.slot_and_header(session, &changes, self.now()).map_err(&io_error)?;
        for line in lines {
            writing.line(&line?, &io_error)?;
        }
        let filled = self.publish(session, &changes, writing)?;
        self.session = Some(filled);
        self.new = None;
        Ok(())
    }

    /// What a write left behind, and what others wrote before it, told once.
    pub(super) fn receipt(&mut self) -> Receipt {
        let file = self.session.as_ref().and_then(|session| session.file.as_ref());
        let bytes = file.map_or(0, |file| file.bytes);
        Receipt { bytes, adopted: std::mem::take(&mut self.unreported) }
    }

    /// Checks that nobody wrote the file since. One whose name is gone is still there to be read, and is written anew.
    fn refuse_a_changed_file(&self, session: &Session) -> Result<(), StoreError> {
        let Some(file) = &session.file else { return self.refuse_a_taken_place() };
        let found = Token::at(&self.path).map_err(self.io_error("look at"))?;
        if found.is_none_or(|token| token == file.token) {
            Ok(())
        } else {
            Err(StoreError::Conflict { path: self.path.clone() })
        }
    }

    fn draft(&self, session: &Session) -> io::Result<Draft> {
        let id = self.ids.snowflake();
        let path = self.beside(|name| format!(".{name}.{id:016x}.tmp"));
        let replaced = session.file.as_ref().map(|file| &file.reader);
        Draft::create(&self.disk, path, replaced)
    }

    /// The file itself, where the path is a link to it: a link is kept.
    pub(super) fn file_path(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// A path in the folder of the file, from the file's name.
    pub(super) fn beside(&self, name: impl FnOnce(&str) -> String) -> PathBuf {
        let file = self.file_path();
        let own = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        file.with_file_name(name(&own))
    }

    fn write(&self, session: &Session, changes: &ChangeSet, draft: Draft) -> io::Result<Written> {
        let mut writing = Written::new(draft);
        writing.slot_and_header(session, changes, self.now())?;
        if let Some(file) = &session.file {
            writing.records(self, session, file, changes)?;
        }
        for (id, line) in &session.carried {
            let place = writing.draft.line(line.as_bytes())?;
            writing.add(Some(id.clone()), place);
        }
        for entry in &changes.append {
            writing.entry(self, entry)?;
        }
        Ok(writing)
    }

    /// Gives the new file its name, once it is safe on the device, and so is the original where it has something that the new one
    /// has not.
    fn publish(
        &self,
        session: &Session,
        changes: &ChangeSet,
        written: Written,
    ) -> Result<Session, StoreError> {
        let Written { mut draft, records, header_place, lines, .. } = written;
        let token = draft.finish().map_err(self.io_error("write the replacement of"))?;
        let bytes = draft.bytes();
        self.refuse_a_changed_file(session)?;
        let kept = self.keep_original(session)?;
        let path = self.file_path();
        let reader = draft.publish(&path).map_err(|error| {
            if let Some(kept) = kept {
                // A second name of the file that stays. Nothing is lost if it stays too.
                let _ = fs::remove_file(kept);
            }
            self.io_error("replace")(error)
        })?;
        self.sync_folder(&path);
        let by_id = records
            .iter()
            .enumerate()
            .filter_map(|(at, record)| Some((record.id.clone()?, at)))
            .collect();
        let header = header_after(session, changes);
        let file = OnDisk {
            reader,
            appender: None,
            token,
            header_place,
            has_slot: true,
            version: header.format_version(),
            bytes,
            lines,
            is_terminated: true,
            pending: None,
        };
        Ok(Session { header, records, by_id, carried: Vec::new(), file: Some(file) })
    }

    /// The file is replaced, and a folder that does not reach the device does not change that.
    fn sync_folder(&self, path: &Path) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let synced =
            File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| self.disk.sync(&folder));
        if let Err(error) = synced {
            tracing::warn!("cannot sync the folder of `{}`: {error}", path.display());
        }
    }

    /// Keeps the original under another name before its migration or repair, and gives that name.
    fn keep_original(&self, session: &Session) -> Result<Option<PathBuf>, StoreError> {
        let Some(file) = &session.file else { return Ok(None) };
        let stamp = self.now().as_str().replace([':', '.'], "-");
        let damaged = self.beside(|name| format!("{name}.{stamp}.damaged"));
        let kept = match file.pending {
            None | Some(Pending::TornAppend) => return Ok(None),
            // There is nothing left to keep.
            Some(_) if !self.path.exists() => return Ok(None),
            Some(Pending::Migration) => {
                let original = self.beside(|name| format!("{name}.v{}.orig", file.version));
                if original.exists() { damaged } else { original }
            }
            Some(Pending::Repair) => damaged,
        };
        let keep = self.disk.keep(&self.file_path(), &kept);
        keep.map_err(self.io_error("keep the original of"))?;
        Ok(Some(kept))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now_millis())
    }

    /// Writes the title where it stands.
    fn write_title(&mut self, header: &Header) -> Result<(), StoreError> {
        let slot = TitleSlot::of(header, self.now()).to_line();
        // Not the descriptor for appending: that one writes at the end, whatever the offset.
        let written = OpenOptions::new()
            .write(true)
            .open(&self.path)
            .and_then(|target| self.disk.write_at(&target, slot.as_bytes(), 0));
        let result = written.map_err(self.io_error("write the title of"));
        if let Some(Session { header: known, file: Some(file), .. }) = &mut self.session {
            file.token = Token::whole(&file.reader).unwrap_or(file.token);
            if result.is_ok() {
                known.clone_from(header);
            }
        }
        result
    }
}

/// The header after a change. A session never goes back to an older version.
fn header_after(session: &Session, changes: &ChangeSet) -> Header {
    let mut header = changes.header.clone().unwrap_or_else(|| session.header.clone());
    header.version = header.version.max(session.header.version);
    header
}

fn refuse_unknown(session: &Session, changes: &ChangeSet) -> Result<(), StoreError> {
    for id in changes.replace.iter().map(|entry| &entry.id).chain(&changes.remove) {
        session.index(id)?;
    }
    refuse_duplicates(&changes.append, |id| session.by_id.contains_key(id))
}

/// The new header, if its title is all that changes and the file has a place for it.
fn new_title<'c>(session: &Session, changes: &'c ChangeSet) -> Option<&'c Header> {
    let header = changes.header.as_ref()?;
    let file = session.file.as_ref()?;
    let old = Header {
        title: header.title.clone(),
        title_source: header.title_source.clone(),
        ..session.header.clone()
    };
    let is_only_title = *header == old
        && changes.replace.is_empty()
        && changes.remove.is_empty()
        && changes.append.is_empty();
    (is_only_title && file.pending.is_none() && has_valid_slot(file)).then_some(header)
}

/// Looks again, because what is overwritten must be a slot.
fn has_valid_slot(file: &OnDisk) -> bool {
    let mut line = [0; SLOT_BYTES];
    file.has_slot
        && file.reader.read_exact_at(&mut line, 0).is_ok()
        && line.ends_with(b"\n")
        && TitleSlot::from_line(&line).is_some()
}

/// A draft, and the index of what is in it.
struct Written {
    draft: Draft,
    records: Vec<Record>,
    header_place: Place,
    lines: usize,
    /// Lines of the old file that lie together and are yet to be copied.
    run: Option<Place>,
}

impl Written {
    fn new(draft: Draft) -> Self {
        let header_place = Place { offset: 0, bytes: 0 };
        Self { draft, records: Vec::new(), header_place, lines: 2, run: None }
    }

    fn slot_and_header(
        &mut self,
        session: &Session,
        changes: &ChangeSet,
        now: Timestamp,
    ) -> io::Result<()> {
        let header = header_after(session, changes);
        let has_title_of_file = header.title == session.header.title
            && header.title_source == session.header.title_source;
        match &session.file {
            Some(file) if has_title_of_file && has_valid_slot(file) => {
                self.draft.copy(&file.reader, Place { offset: 0, bytes: SLOT_BYTES as u64 })?;
            }
            _ => self.draft.push(TitleSlot::of(&header, now).to_line().as_bytes())?,
        }
        let line = match (&session.file, &changes.header) {
            (Some(file), None) => header_line(file)?,
            _ => None,
        };
        self.header_place = match line {
            Some(line) => self.draft.line(line.as_bytes())?,
            None => self.draft.line(header.to_line().as_bytes())?,
        };
        Ok(())
    }

    fn records(
        &mut self,
        store: &JsonlStore,
        session: &Session,
        file: &OnDisk,
        changes: &ChangeSet,
    ) -> io::Result<()> {
        let replaced: HashMap<&EntryId, &Arc<Entry>> =
            changes.replace.iter().map(|entry| (&entry.id, entry)).collect();
        let removed: HashSet<&EntryId> = changes.remove.iter().collect();
        for (at, record) in session.records.iter().enumerate() {
            if record.id.as_ref().is_some_and(|id| removed.contains(id)) {
                continue;
            }
            if let Some(entry) = record.id.as_ref().and_then(|id| replaced.get(id)) {
                self.copy_run(&file.reader)?;
                self.entry(store, entry)?;
                continue;
            }
            match record.form {
                Form::Whole => self.untouched(record, file)?,
                Form::SharedLine | Form::Edited => self.alone(session, at, file)?,
            }
        }
        self.copy_run(&file.reader)
    }

    fn entry(&mut self, store: &JsonlStore, entry: &Entry) -> io::Result<()> {
        let place = self.draft.line(store.persistence.line(entry)?.as_bytes())?;
        self.add(Some(entry.id.clone()), place);
        Ok(())
    }

    /// Writes an object that is on a line of its own already.
    fn line(
        &mut self,
        line: &str,
        io_error: impl Fn(io::Error) -> StoreError,
    ) -> Result<(), StoreError> {
        let id = stored_object::id(line).map_err(StoreError::Line)?;
        let place = self.draft.line(line.as_bytes()).map_err(io_error)?;
        self.add(id, place);
        Ok(())
    }

    /// Puts a line into the run of those that are copied together.
    fn untouched(&mut self, record: &Record, file: &OnDisk) -> io::Result<()> {
        match &mut self.run {
            Some(run) if run.end() + 1 == record.place.offset => {
                run.bytes = record.place.end() - run.offset;
            }
            _ => {
                self.copy_run(&file.reader)?;
                self.run = Some(record.place);
            }
        }
        let run_bytes = self.run.map_or(0, |run| run.bytes);
        let offset = self.draft.bytes() + run_bytes - record.place.bytes;
        self.add(record.id.clone(), Place { offset, bytes: record.place.bytes });
        Ok(())
    }

    fn copy_run(&mut self, source: &File) -> io::Result<()> {
        let Some(run) = self.run.take() else { return Ok(()) };
        self.draft.copy(source, run)?;
        self.draft.push(b"\n")
    }

    /// Writes one object on a line of its own.
    fn alone(&mut self, session: &Session, at: usize, file: &OnDisk) -> io::Result<()> {
        self.copy_run(&file.reader)?;
        let record = &session.records[at];
        let mut bytes = vec![0; record.place.bytes as usize];
        file.reader.read_exact_at(&mut bytes, record.place.offset)?;
        let place = match record.form {
            Form::Edited => {
                let edited = session.edited_or_stand_in(at, &bytes, file.version);
                self.draft.line(edited.as_bytes())?
            }
            Form::Whole | Form::SharedLine => self.draft.line(&bytes)?,
        };
        self.add(record.id.clone(), place);
        Ok(())
    }

    fn add(&mut self, id: Option<EntryId>, place: Place) {
        self.lines += 1;
        self.records.push(Record { id, place, line: self.lines, form: Form::Whole });
    }
}

/// The header's line as it lies, in the version of today; `None` where it can only be written anew.
fn header_line(file: &OnDisk) -> io::Result<Option<String>> {
    let mut bytes = vec![0; file.header_place.bytes as usize];
    file.reader.read_exact_at(&mut bytes, file.header_place.offset)?;
    let line = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if file.version < VERSION { header::with_current_version(&line) } else { Some(line) })
}
