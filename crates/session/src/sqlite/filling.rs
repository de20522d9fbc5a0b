//! A session written whole, from lines as they are.
//!
//! Holds the lock of the database until all are written: other processes that write meanwhile are told that it is locked.

use rusqlite::params;

use super::adoption::last_line;
use super::database::error;
use super::writing::{Writing, is_taken, line_bytes};
use crate::id_source::{IdSource, fresh_entry_id};
use crate::ids::EntryId;
use crate::json::Members;
use crate::store::{Lines, StoreError};
use crate::stored_object;

impl Writing<'_> {
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
}
