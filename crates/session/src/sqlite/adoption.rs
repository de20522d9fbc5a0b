//! What other processes wrote into a session since this one last looked.
//!
//! Processes take turns by the lock of a transaction, and numbers of lines only grow: what was added is a range of lines, and what was
//! replaced or removed is a range of rewrites. Nothing is compared.

use rusqlite::{Connection, Row};

use super::database::error;
use super::writing::Writing;
use crate::ids::EntryId;
use crate::store::{Adopted, EntryTag, IndexRow, StoreError};

/// Up to where a process knows a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The last line.
    pub(super) line: i64,
    /// How many rewrites.
    pub(super) rewrites: i64,
}

impl Writing<'_> {
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

/// The number of the last line of a session; 0 where it has none.
pub(super) fn last_line(connection: &Connection, session: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(line), 0) FROM lines WHERE session = ?";
    connection.query_row(sql, [session], |row| row.get(0))
}
