//! What a list shows of a session, kept beside it so that no list reads a session.
//!
//! Appended entries are added to it. After a rewrite the parts that it may have changed are read again: the first messages and the last.

use std::ops::ControlFlow;

use rusqlite::{Connection, Row, params};

use crate::entry::{Entry, EntryKind};
use crate::listing::{Status, spoken, status_after};
use crate::message::Message;
use crate::stored_object;

/// How much is kept of a first message.
const MAX_FIRST_BYTES: usize = 1_000;

/// How much is kept of what was said first, for searching in lists.
const MAX_OPENING_BYTES: usize = 4_000;

/// How many messages are looked at for what was said first.
const FIRST_MESSAGES: usize = 100;

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Summary {
    /// Length of all lines with their ends.
    pub(super) bytes: i64,
    pub(super) messages: i64,
    pub(super) assistant_turns: i64,
    /// Name in the format of the ancestor.
    name: Option<String>,
    /// The newest compaction's words for people.
    compacted: Option<String>,
    first_of_user: Option<String>,
    first_of_anybody: Option<String>,
    /// What user and model said first.
    pub(super) opening: String,
    pub(super) status: Status,
}

impl Summary {
    /// The columns that [`Summary::of_row`] reads.
    pub(super) const COLUMNS: &str = "bytes, messages, assistant_turns, name, short_summary, first_of_user, first_of_anybody, opening, status";

    /// Reads the columns, the first of which has the number `from`.
    pub(super) fn of_row(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            bytes: row.get(from)?,
            messages: row.get(from + 1)?,
            assistant_turns: row.get(from + 2)?,
            name: row.get(from + 3)?,
            compacted: row.get(from + 4)?,
            first_of_user: row.get(from + 5)?,
            first_of_anybody: row.get(from + 6)?,
            opening: row.get(from + 7)?,
            status: Status::from_name(&row.get::<_, String>(from + 8)?).unwrap_or_default(),
        })
    }

    /// What a list calls the session where it has no title.
    pub(super) fn other_title(&self) -> Option<&str> {
        let names = [&self.name, &self.compacted];
        names.into_iter().flatten().map(String::as_str).find(|name| !name.trim().is_empty())
    }

    /// What the user said first; else the first text of anybody.
    pub(super) fn into_first_message(self) -> Option<String> {
        self.first_of_user.or(self.first_of_anybody)
    }

    /// Takes an entry at the end into account.
    pub(super) fn add(&mut self, entry: &Entry) {
        self.add_name(entry);
        let Some(message) = entry.message() else { return };
        self.messages += 1;
        self.assistant_turns += i64::from(message.as_assistant().is_some());
        self.status = status_after(message);
        self.add_text(message);
    }

    fn add_name(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::Compaction(compaction) => {
                self.compacted = compaction.short_summary.clone().or(self.compacted.take());
            }
            EntryKind::Other(other) if other.type_name == "session_info" => {
                let name = other.members.extra.get("name").and_then(|name| name.value().as_str());
                self.name = name.map(str::to_owned);
            }
            _ => {}
        }
    }

    fn add_text(&mut self, message: &Message) {
        let Some(text) = spoken(message).filter(|text| !text.is_empty()) else { return };
        let is_of_user = matches!(message, Message::User(_));
        if is_of_user && self.first_of_user.is_none() {
            self.first_of_user = Some(start(&text, MAX_FIRST_BYTES).to_owned());
        }
        if self.first_of_anybody.is_none() {
            self.first_of_anybody = Some(start(&text, MAX_FIRST_BYTES).to_owned());
        }
        let room = MAX_OPENING_BYTES.saturating_sub(self.opening.len() + 1);
        if room > 0 && !matches!(message, Message::Developer(_)) {
            let separator = if self.opening.is_empty() { "" } else { " " };
            self.opening.push_str(separator);
            self.opening.push_str(start(&text, room));
        }
    }

    /// Reads again what replaced and removed lines may have changed; all but the bytes. Goes through the index of the session, and
    /// reads as few lines as tell it.
    pub(super) fn look_again(
        &mut self,
        connection: &Connection,
        session: i64,
    ) -> rusqlite::Result<()> {
        let (messages, assistant_turns) = connection.query_row(
            "SELECT count(*), count(*) FILTER (WHERE detail = 'assistant') FROM lines
             WHERE session = ? AND type = 'message'",
            [session],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        *self = Self { bytes: self.bytes, messages, assistant_turns, ..Self::default() };
        let said =
            "type = 'message' AND detail IN ('user', 'developer', 'assistant') ORDER BY line";
        let mut messages_read = 0;
        each(connection, session, said, |entry| {
            messages_read += 1;
            if let Some(message) = entry.message() {
                self.add_text(message);
            }
            let is_full = self.opening.len() + 1 >= MAX_OPENING_BYTES;
            stop_if(messages_read == FIRST_MESSAGES || is_full && self.first_of_user.is_some())
        })?;
        // A line that cannot be read tells nothing, so that the one before counts.
        each(connection, session, "type = 'message' ORDER BY line DESC", |entry| {
            self.status = entry.message().map(|message| status_after(message)).unwrap_or_default();
            ControlFlow::Break(())
        })?;
        each(connection, session, "type IN ('compaction', 'session_info') ORDER BY line", |entry| {
            self.add_name(entry);
            ControlFlow::Continue(())
        })
    }

    /// Writes it to its session.
    pub(super) fn save(
        &self,
        connection: &Connection,
        session: i64,
        now_millis: i64,
    ) -> rusqlite::Result<()> {
        connection.execute(
            "UPDATE sessions SET bytes = ?, messages = ?, assistant_turns = ?, name = ?,
             short_summary = ?, first_of_user = ?, first_of_anybody = ?, opening = ?, status = ?,
             modified = ? WHERE session = ?",
            params![
                self.bytes,
                self.messages,
                self.assistant_turns,
                self.name,
                self.compacted,
                self.first_of_user,
                self.first_of_anybody,
                self.opening,
                self.status.as_str(),
                now_millis,
                session,
            ],
        )?;
        Ok(())
    }
}

/// Reads the entries of a session that a condition selects, in its order, for as long as they are wanted.
fn each(
    connection: &Connection,
    session: i64,
    which: &str,
    mut visit: impl FnMut(&Entry) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let sql = format!("SELECT text FROM lines WHERE session = ? AND {which}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let text = String::from_utf8_lossy(row.get_ref(0)?.as_bytes().unwrap_or_default());
        if let Ok(Some(entry)) = stored_object::read(&text)
            && visit(&entry).is_break()
        {
            break;
        }
    }
    Ok(())
}

fn stop_if(is_enough: bool) -> ControlFlow<()> {
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The start of a text, cut after a whole character.
fn start(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}
