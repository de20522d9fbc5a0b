//! One session inside one transaction: its lines and its header.
//!
//! Everything here happens under the lock of the transaction, and is undone where that is not committed.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{OptionalExtension, Transaction, params};

use super::adoption::{Known, last_line};
use super::database::error;
use super::named;
use super::summary::Summary;
use crate::entry::{Entry, EntryKind};
use crate::header::Header;
use crate::ids::{EntryId, SessionId};
use crate::store::StoreError;

/// A session that is being written.
pub(super) struct Writing<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) path: &'t Path,
    pub(super) session: i64,
    /// How often it was rewritten, this time included.
    pub(super) rewrites: i64,
    has_rewritten: bool,
    header_bytes: i64,
    pub(super) summary: Summary,
}

/// An entry, and its line as it is written.
pub(super) struct Written<'e> {
    pub(super) entry: &'e Entry,
    pub(super) line: String,
}

/// A change set with the lines of its entries.
pub(super) struct Changes<'c> {
    pub(super) replace: Vec<Written<'c>>,
    pub(super) remove: &'c [EntryId],
    pub(super) append: Vec<Written<'c>>,
    pub(super) header: Option<&'c Header>,
}

/// What a finished transaction leaves behind.
pub(super) struct Finished {
    pub(super) known: Known,
    /// Length of the session.
    pub(super) bytes: u64,
}

impl<'t> Writing<'t> {
    /// Goes on with a session; `None` where there is none of that number.
    pub(super) fn resume(
        transaction: &'t Transaction<'t>,
        path: &'t Path,
        session: i64,
    ) -> Result<Option<Self>, StoreError> {
        let columns = Summary::COLUMNS;
        let sql = format!(
            "SELECT rewrites, octet_length(header), {columns} FROM sessions WHERE session = ?"
        );
        let found = transaction
            .query_row(&sql, [session], |row| {
                Ok((row.get(0)?, row.get(1)?, Summary::of_row(row, 2)?))
            })
            .optional()
            .map_err(error("read", path))?;
        Ok(found.map(|(rewrites, header_bytes, summary)| Self {
            transaction,
            path,
            session,
            rewrites,
            has_rewritten: false,
            header_bytes,
            summary,
        }))
    }

    /// Begins a session without lines.
    pub(super) fn create(
        transaction: &'t Transaction<'t>,
        path: &'t Path,
        header: &Header,
    ) -> Result<Self, StoreError> {
        let columns = HeaderColumns::of(header);
        let inserted = transaction.execute(
            "INSERT INTO sessions (id, header, version, cwd, title, parent, created, modified)
             VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            params![
                header.id.as_str(),
                columns.text,
                columns.version,
                header.cwd,
                columns.title,
                header.parent_session,
                header.timestamp.as_str(),
            ],
        );
        inserted.map_err(|failure| taken_or(failure, path, &header.id))?;
        Ok(Self {
            transaction,
            path,
            session: transaction.last_insert_rowid(),
            rewrites: 0,
            has_rewritten: false,
            header_bytes: columns.text.len() as i64,
            summary: Summary::default(),
        })
    }

    /// Adds entries at the end.
    pub(super) fn append(&mut self, entries: &[Written<'_>]) -> Result<(), StoreError> {
        for Written { entry, line } in entries {
            self.insert(Some(entry), line).map_err(|failure| {
                if is_taken(&failure) {
                    StoreError::DuplicateEntry(entry.id.clone())
                } else {
                    error("write", self.path)(failure)
                }
            })?;
        }
        Ok(())
    }

    /// Adds a line at the end as it is.
    pub(super) fn insert(&mut self, entry: Option<&Entry>, text: &str) -> rusqlite::Result<()> {
        let (type_name, detail) = entry.map(names).unwrap_or_default();
        self.transaction.execute(
            "INSERT INTO lines (session, id, parent_id, type, detail, text) VALUES (?, ?, ?, ?, ?, ?)",
            params![
                self.session,
                entry.map(|entry| entry.id.as_str()),
                entry.and_then(|entry| entry.parent_id.as_ref()).map(EntryId::as_str),
                type_name,
                detail,
                text,
            ],
        )?;
        self.summary.bytes += line_bytes(text);
        if let Some(entry) = entry {
            self.summary.add(entry);
        }
        Ok(())
    }

    /// Appends, replaces and removes; the header is left alone. An id that is removed is not free in the same change.
    pub(super) fn apply(&mut self, changes: &Changes<'_>) -> Result<(), StoreError> {
        for id in changes.replace.iter().map(|new| &new.entry.id).chain(changes.remove) {
            self.text_bytes(id)?;
        }
        self.append(&changes.append)?;
        if !changes.replace.is_empty() || !changes.remove.is_empty() {
            self.rewrites += 1;
            self.has_rewritten = true;
        }
        for new in &changes.replace {
            self.replace(new)?;
        }
        for id in changes.remove.iter().collect::<HashSet<_>>() {
            self.remove(id)?;
        }
        Ok(())
    }

    /// Length of the text of an entry.
    fn text_bytes(&self, id: &EntryId) -> Result<i64, StoreError> {
        let found = self
            .transaction
            .query_row(
                "SELECT octet_length(text) FROM lines WHERE session = ? AND id = ?",
                params![self.session, id.as_str()],
                |row| row.get(0),
            )
            .optional()
            .map_err(error("read", self.path))?;
        found.ok_or_else(|| StoreError::UnknownEntry(id.clone()))
    }

    fn replace(&mut self, Written { entry, line }: &Written<'_>) -> Result<(), StoreError> {
        let old_bytes = self.text_bytes(&entry.id)?;
        let (type_name, detail) = names(entry);
        let sql = "UPDATE lines SET parent_id = ?, type = ?, detail = ?, rewrite = ?, text = ?
                   WHERE session = ? AND id = ?";
        let updated = self.transaction.execute(
            sql,
            params![
                entry.parent_id.as_ref().map(EntryId::as_str),
                type_name,
                detail,
                self.rewrites,
                line,
                self.session,
                entry.id.as_str(),
            ],
        );
        updated.map_err(error("write", self.path))?;
        self.summary.bytes += line.len() as i64 - old_bytes;
        Ok(())
    }

    fn remove(&mut self, id: &EntryId) -> Result<(), StoreError> {
        let old_bytes = self.text_bytes(id)?;
        let write = || {
            self.transaction.execute(
                "INSERT INTO removed (session, rewrite, line, id)
                 SELECT session, ?1, line, id FROM lines WHERE session = ?2 AND id = ?3",
                params![self.rewrites, self.session, id.as_str()],
            )?;
            self.transaction.execute(
                "DELETE FROM lines WHERE session = ? AND id = ?",
                params![self.session, id.as_str()],
            )
        };
        write().map_err(error("write", self.path))?;
        self.summary.bytes -= old_bytes + 1;
        Ok(())
    }

    /// Puts another header in the place of the session's.
    pub(super) fn set_header(&mut self, header: &Header) -> Result<(), StoreError> {
        let columns = HeaderColumns::of(header);
        let updated = self.transaction.execute(
            "UPDATE sessions SET id = ?, header = ?, version = ?, cwd = ?, title = ?, parent = ?,
             created = ? WHERE session = ?",
            params![
                header.id.as_str(),
                columns.text,
                columns.version,
                header.cwd,
                columns.title,
                header.parent_session,
                header.timestamp.as_str(),
                self.session,
            ],
        );
        updated.map_err(|failure| taken_or(failure, self.path, &header.id))?;
        self.header_bytes = columns.text.len() as i64;
        Ok(())
    }

    /// Brings the summary up to date.
    pub(super) fn finish(mut self, now_millis: i64) -> Result<Finished, StoreError> {
        let mut write = || {
            if self.has_rewritten {
                self.summary.look_again(self.transaction, self.session)?;
                self.transaction.execute(
                    "UPDATE sessions SET rewrites = ? WHERE session = ?",
                    [self.rewrites, self.session],
                )?;
            }
            self.summary.save(self.transaction, self.session, now_millis)
        };
        write().map_err(error("write", self.path))?;
        self.unchanged()
    }

    /// How far the session goes, where nothing was written.
    pub(super) fn unchanged(self) -> Result<Finished, StoreError> {
        let line = last_line(self.transaction, self.session).map_err(error("read", self.path))?;
        Ok(Finished {
            known: Known { line, rewrites: self.rewrites },
            bytes: session_bytes(self.summary.bytes, self.header_bytes),
        })
    }
}

/// Whether a line was refused because its id is taken.
pub(super) fn is_taken(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}

fn taken_or(failure: rusqlite::Error, path: &Path, id: &SessionId) -> StoreError {
    if is_taken(&failure) {
        return StoreError::Exists { path: named(path, id) };
    }
    error("write", path)(failure)
}

/// What columns say again of a header.
struct HeaderColumns {
    text: String,
    version: i64,
    title: Option<String>,
}

impl HeaderColumns {
    fn of(header: &Header) -> Self {
        Self {
            text: header.to_line(),
            version: i64::try_from(header.format_version()).unwrap_or(i64::MAX),
            title: header.title.clone().filter(|title| !title.is_empty()),
        }
    }
}

/// The names by which an entry's kind is told: its type, and its role or custom type.
fn names(entry: &Entry) -> (&str, &str) {
    let detail = match &entry.kind {
        EntryKind::Message(entry) => entry.message.role(),
        EntryKind::Custom(entry) => &entry.custom_type,
        _ => "",
    };
    (entry.kind.type_name(), detail)
}

/// Length of a session: its lines and its header, each with its end.
pub(super) fn session_bytes(line_bytes: i64, header_bytes: i64) -> u64 {
    u64::try_from(line_bytes + header_bytes + 1).unwrap_or_default()
}

/// A line with its end.
pub(super) fn line_bytes(text: &str) -> i64 {
    text.len() as i64 + 1
}
