//! A session as its index and its lines, read when they are asked for.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::adoption::{Known, index_row, last_line};
use super::database::{Database, error};
use super::writing::session_bytes;
use crate::damaged_line;
use crate::entry::Entry;
use crate::header::Header;
use crate::ids::{EntryId, SessionId};
use crate::persisted::Persistence;
use crate::stale_state;
use crate::store::{Damage, IndexRow, StoreError};
use crate::time::Timestamp;

/// A session that was found in a database.
pub(super) struct Found {
    /// Its number.
    pub(super) number: i64,
    pub(super) header: Header,
    pub(super) known: Known,
    pub(super) bytes: u64,
    pub(super) rows: Vec<IndexRow>,
    pub(super) damage: Damage,
}

/// Reads header and index of a session, as of one moment; `None` where it is not there. Linear in the lines, whatever their length.
pub(super) fn find(database: &mut Database, id: &SessionId) -> Result<Option<Found>, StoreError> {
    let read_error = error("read", &database.path);
    let transaction = database.connection.transaction().map_err(&read_error)?;
    let read = || {
        let session = transaction.query_row(
            "SELECT header, id, created, cwd, title, session, rewrites, bytes,
             octet_length(header) FROM sessions WHERE id = ?",
            [id.as_str()],
            |row| {
                let bytes = session_bytes(row.get(7)?, row.get(8)?);
                Ok((header_of(row)?, row.get(5)?, row.get(6)?, bytes))
            },
        );
        let Some((header, number, rewrites, bytes)) = session.optional()? else {
            return Ok(None);
        };
        let known = Known { line: last_line(&transaction, number)?, rewrites };
        let (rows, damage) = index(&transaction, number)?;
        Ok(Some(Found { number, header, known, bytes, rows, damage }))
    };
    read().map_err(read_error)
}

/// The header as it was written; from the columns beside it where that cannot be read.
fn header_of(row: &Row<'_>) -> rusqlite::Result<Header> {
    if let Some(header) = Header::from_line(&text(row, 0)?) {
        return Ok(header);
    }
    let id = text(row, 1)?.into_owned();
    tracing::warn!("the header of the session `{id}` cannot be read");
    let header = Header::new(id.into(), Timestamp::new(text(row, 2)?), "");
    Ok(Header { cwd: row.get(3)?, title: row.get(4)?, ..header })
}

fn index(connection: &Connection, session: i64) -> rusqlite::Result<(Vec<IndexRow>, Damage)> {
    let mut statement = connection.prepare(
        "SELECT id, parent_id, type, detail, is_whole FROM lines WHERE session = ? ORDER BY line",
    )?;
    let mut found = statement.query([session])?;
    let (mut rows, mut damage) = (Vec::new(), Damage::default());
    let mut number = 0;
    while let Some(row) = found.next()? {
        number += 1;
        if !row.get::<_, bool>(4)? {
            damage.lines.push(number);
        }
        if row.get_ref(0)? != rusqlite::types::ValueRef::Null {
            rows.push(index_row(row)?);
        }
    }
    Ok((rows, damage))
}

/// Reads entries by id. One that cannot be read is stood in for, so that it costs itself alone.
pub(super) fn entries(
    database: &Database,
    session: i64,
    ids: &[EntryId],
    persistence: &Persistence,
) -> Result<Vec<Arc<Entry>>, StoreError> {
    let read_error = error("read", &database.path);
    let sql = "SELECT text, parent_id FROM lines WHERE session = ? AND id = ?";
    let mut statement = database.connection.prepare(sql).map_err(&read_error)?;
    let mut entries = Vec::with_capacity(ids.len());
    for id in ids {
        let entry = statement
            .query_row(params![session, id.as_str()], |row| {
                entry(row, id, &database.path, persistence)
            })
            .optional()
            .map_err(&read_error)?;
        entries.push(entry.ok_or_else(|| StoreError::UnknownEntry(id.clone()))?);
    }
    Ok(entries)
}

fn entry(
    row: &Row<'_>,
    id: &EntryId,
    path: &Path,
    persistence: &Persistence,
) -> rusqlite::Result<Arc<Entry>> {
    let text = text(row, 0)?;
    let entry = match serde_json::from_str::<Entry>(&persistence.read(&text)) {
        Ok(entry) => stale_state::dropped(Entry { id: id.clone(), ..entry }),
        Err(error) => {
            let path = path.display();
            tracing::warn!("`{path}`: the entry `{id}` cannot be read: {error}");
            let parent: Option<String> = row.get(1)?;
            damaged_line::stand_in(id.clone(), parent.map(EntryId::from), &text)
        }
    };
    Ok(Arc::new(entry))
}

/// Text of a column. Bytes that are no text, which only a foreign hand leaves there, are replaced.
fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Cow<'r, str>> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes().unwrap_or_default()))
}

/// How many lines are fetched at once.
const LOT: i64 = 64;

/// The texts of a session's lines, a lot at a time. A line that cannot be read is stood in for.
pub(super) struct Texts<'s> {
    database: &'s Database,
    session: i64,
    fetched: VecDeque<String>,
    last: i64,
    is_at_end: bool,
}

impl<'s> Texts<'s> {
    pub(super) fn new(database: &'s Database, session: i64) -> Self {
        Self { database, session, fetched: VecDeque::new(), last: 0, is_at_end: false }
    }

    fn fetch(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.database.connection.prepare(
            "SELECT line, text, is_whole, id, parent_id FROM lines
             WHERE session = ? AND line > ? ORDER BY line LIMIT ?",
        )?;
        let mut rows = statement.query([self.session, self.last, LOT])?;
        while let Some(row) = rows.next()? {
            self.last = row.get(0)?;
            let text = text(row, 1)?;
            let is_whole = row.get(2)?;
            self.fetched.push_back(if is_whole {
                text.into_owned()
            } else {
                let (id, parent): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
                damaged_line::line(id.map(EntryId::from), parent.map(EntryId::from), &text)
            });
        }
        self.is_at_end = self.fetched.len() < LOT as usize;
        Ok(())
    }
}

impl Iterator for Texts<'_> {
    type Item = Result<String, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.fetched.is_empty()
            && !self.is_at_end
            && let Err(failure) = self.fetch()
        {
            self.is_at_end = true;
            return Some(Err(error("read", &self.database.path)(failure)));
        }
        self.fetched.pop_front().map(Ok)
    }
}
