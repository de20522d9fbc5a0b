//! One session inside one transaction: its lines, its header, and what others did to it meanwhile.
//!
//! Everything here happens under the lock of the transaction, and is undone where that is not committed.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::database::error;
use super::named;
use super::summary::Summary;
use crate::entry::{Entry, EntryKind};
use crate::header::Header;
use crate::id_source::{IdSource, fresh_entry_id};
use crate::ids::{EntryId, SessionId};
use crate::json::Members;
use crate::store::{Adopted, ChangeSet, EntryTag, IndexRow, Lines, StoreError};
use crate::stored_object;

/// Up to where a process knows a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The last line.
    pub(super) line: i64,
    /// How many rewrites.
    pub(super) rewrites: i64,
}

/// A session that is being written.
pub(super) struct Writing<'t> {
    transaction: &'t Transaction<'t>,
    path: &'t Path,
    session: i64,
    rewrites: i64,
    has_rewritten: bool,
    header_bytes: i64,
    summary: Summary,
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

    /// The number of the session.
    pub(super) fn session(&self) -> i64 {
        self.session
    }

    /// What others wrote since `known`. Reads as much as that is; after a rewrite of others, the index of the session.
    pub(super) fn adopt(&self, known: Known) -> Result<Adopted, StoreError> {
        let mut adopted = Adopted { rows: self.rows_after(known.line)?, ..Adopted::default() };
        if self.rewrites != known.rewrites {
            adopted.changed = self.changed_since(known)?;
        }
        Ok(adopted)
    }

    fn rows_after(&self, line: i64) -> Result<Vec<IndexRow>, StoreError> {
        let read = || {
            let mut statement = self.transaction.prepare(
                "SELECT id, parent_id, type, detail FROM lines
                 WHERE session = ? AND line > ? AND id IS NOT NULL ORDER BY line",
            )?;
            let rows = statement.query_map([self.session, line], index_row)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(error("read", self.path))
    }

    fn changed_since(&self, known: Known) -> Result<Vec<EntryId>, StoreError> {
        let read = || {
            let mut statement = self.transaction.prepare(
                "SELECT id FROM lines
                 WHERE session = ?1 AND line <= ?2 AND rewrite > ?3 AND id IS NOT NULL
                 UNION ALL
                 SELECT id FROM removed WHERE session = ?1 AND line <= ?2 AND rewrite > ?3",
            )?;
            let of_row = |row: &Row<'_>| row.get::<_, String>(0).map(EntryId::from);
            let ids = statement.query_map([self.session, known.line, known.rewrites], of_row)?;
            ids.collect::<rusqlite::Result<_>>()
        };
        read().map_err(error("read", self.path))
    }

    /// Adds entries at the end.
    pub(super) fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), StoreError> {
        for entry in entries {
            let text = entry.to_line();
            self.insert(Some(entry), &text).map_err(|failure| {
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
    fn insert(&mut self, entry: Option<&Entry>, text: &str) -> rusqlite::Result<()> {
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

    /// Adds lines at the end, each as it is. Of several with one id the last owns it, and the others get fresh ones.
    pub(super) fn fill(&mut self, lines: Lines<'_>, ids: &dyn IdSource) -> Result<(), StoreError> {
        let write_error = error("write", self.path);
        if last_line(self.transaction, self.session).map_err(&write_error)? > 0 {
            return Err(StoreError::Filled);
        }
        for line in lines {
            let line = line?;
            let entry = stored_object::read(&line).map_err(StoreError::Line)?;
            let mut inserted = self.insert(entry.as_ref(), &line);
            if let (Err(failure), Some(entry)) = (&inserted, &entry)
                && is_taken(failure)
            {
                self.rename(&entry.id, ids)?;
                inserted = self.insert(Some(entry), &line);
            }
            inserted.map_err(&write_error)?;
        }
        Ok(())
    }

    /// Gives an entry another id, because a later one owns its own.
    fn rename(&mut self, id: &EntryId, ids: &dyn IdSource) -> Result<(), StoreError> {
        let write_error = error("write", self.path);
        let (line, text) = self
            .transaction
            .query_row(
                "SELECT line, text FROM lines WHERE session = ? AND id = ?",
                params![self.session, id.as_str()],
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
            )
            .map_err(&write_error)?;
        let is_taken = |id: &EntryId| {
            let sql = "SELECT EXISTS (SELECT 1 FROM lines WHERE session = ? AND id = ?)";
            let taken =
                self.transaction.query_row(sql, params![self.session, id.as_str()], |row| {
                    row.get::<_, bool>(0)
                });
            // Where this cannot be asked, the update below cannot be done either.
            taken.unwrap_or(false)
        };
        let fresh = fresh_entry_id(ids, is_taken);
        let mut members: Members = serde_json::from_str(&text).map_err(StoreError::Line)?;
        let quoted = serde_json::value::to_raw_value(&fresh).map_err(StoreError::Line)?;
        members.set("id", quoted);
        let renamed = members.into_json();
        self.transaction
            .execute(
                "UPDATE lines SET id = ?, text = ? WHERE line = ?",
                params![fresh.as_str(), renamed.text(), line],
            )
            .map_err(&write_error)?;
        self.summary.bytes += line_bytes(renamed.text()) - line_bytes(&text);
        Ok(())
    }

    /// Appends, replaces and removes; the header is left alone. An id that is removed is not free in the same change.
    pub(super) fn apply(&mut self, changes: &ChangeSet) -> Result<(), StoreError> {
        for id in changes.replace.iter().map(|entry| &entry.id).chain(&changes.remove) {
            self.text_bytes(id)?;
        }
        self.append(&changes.append)?;
        if !changes.replace.is_empty() || !changes.remove.is_empty() {
            self.rewrites += 1;
            self.has_rewritten = true;
        }
        for entry in &changes.replace {
            self.replace(entry)?;
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

    fn replace(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let old_bytes = self.text_bytes(&entry.id)?;
        let text = entry.to_line();
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
                text,
                self.session,
                entry.id.as_str(),
            ],
        );
        updated.map_err(error("write", self.path))?;
        self.summary.bytes += text.len() as i64 - old_bytes;
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

/// The number of the last line of a session; 0 where it has none.
pub(super) fn last_line(connection: &rusqlite::Connection, session: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(line), 0) FROM lines WHERE session = ?";
    connection.query_row(sql, [session], |row| row.get(0))
}

fn is_taken(error: &rusqlite::Error) -> bool {
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

/// The row of the columns `id, parent_id, type, detail`.
pub(super) fn index_row(row: &Row<'_>) -> rusqlite::Result<IndexRow> {
    let id: String = row.get(0)?;
    let parent_id: Option<String> = row.get(1)?;
    let (type_name, detail): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(IndexRow {
        id: EntryId::from(id),
        parent_id: parent_id.map(EntryId::from),
        tag: EntryTag::of_names(&type_name, &detail, &detail),
    })
}

/// Length of a session: its lines and its header, each with its end.
pub(super) fn session_bytes(line_bytes: i64, header_bytes: i64) -> u64 {
    u64::try_from(line_bytes + header_bytes + 1).unwrap_or_default()
}

/// A line with its end.
fn line_bytes(text: &str) -> i64 {
    text.len() as i64 + 1
}
