//! What a list shows of a session, kept beside it so that no list reads a session.
//!
//! Appended entries are added to it. After a rewrite the parts that it may have changed are read again: the first messages and the last.

use rusqlite::{Connection, Row, params};

use crate::entry::Entry;
use crate::listing::{Status, spoken, status_after};
use crate::message::Message;
use crate::stored_object;

/// How much is kept of a first message.
const MAX_FIRST_BYTES: usize = 1_000;

/// How much is kept of what was said first, for searching in lists.
const MAX_OPENING_BYTES: usize = 4_000;

/// How many messages are looked at for what was said first.
const FIRST_MESSAGES: i64 = 100;

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Summary {
    /// Length of all lines with their ends.
    pub(super) bytes: i64,
    pub(super) messages: i64,
    pub(super) assistant_turns: i64,
    first_of_user: Option<String>,
    first_of_anybody: Option<String>,
    /// What user and model said first.
    pub(super) opening: String,
    pub(super) status: Status,
}

impl Summary {
    /// The columns that [`Summary::of_row`] reads.
    pub(super) const COLUMNS: &str =
        "bytes, messages, assistant_turns, first_of_user, first_of_anybody, opening, status";

    /// Reads the columns, the first of which has the number `from`.
    pub(super) fn of_row(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            bytes: row.get(from)?,
            messages: row.get(from + 1)?,
            assistant_turns: row.get(from + 2)?,
            first_of_user: row.get(from + 3)?,
            first_of_anybody: row.get(from + 4)?,
            opening: row.get(from + 5)?,
            status: Status::from_name(&row.get::<_, String>(from + 6)?).unwrap_or_default(),
        })
    }

    /// What the user said first; else the first text of anybody.
    pub(super) fn into_first_message(self) -> Option<String> {
        self.first_of_user.or(self.first_of_anybody)
    }

    /// Takes an entry at the end into account.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Some(message) = entry.message() else { return };
        self.messages += 1;
        self.assistant_turns += i64::from(message.as_assistant().is_some());
        self.status = status_after(message);
        self.add_text(message);
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

    /// Reads again what replaced and removed lines may have changed; all but the bytes.
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
        let mut first = connection.prepare(
            "SELECT text FROM lines WHERE session = ? AND type = 'message'
             AND detail IN ('user', 'developer', 'assistant') ORDER BY line LIMIT ?",
        )?;
        let mut rows = first.query([session, FIRST_MESSAGES])?;
        while let Some(row) = rows.next()? {
            if let Some(message) = entry_of(row)?.as_ref().and_then(Entry::message) {
                self.add_text(message);
            }
            if self.first_of_user.is_some() && self.opening.len() + 1 >= MAX_OPENING_BYTES {
                break;
            }
        }
        let mut last = connection.prepare(
            "SELECT text FROM lines WHERE session = ? AND type = 'message' ORDER BY line DESC",
        )?;
        let mut rows = last.query([session])?;
        while let Some(row) = rows.next()? {
            // A line that cannot be read tells nothing, so that the one before counts.
            if let Some(message) = entry_of(row)?.as_ref().and_then(Entry::message) {
                self.status = status_after(message);
                break;
            }
        }
        Ok(())
    }

    /// Writes it to its session.
    pub(super) fn save(
        &self,
        connection: &Connection,
        session: i64,
        now_millis: i64,
    ) -> rusqlite::Result<()> {
        connection.execute(
            "UPDATE sessions SET bytes = ?, messages = ?, assistant_turns = ?, first_of_user = ?,
             first_of_anybody = ?, opening = ?, status = ?, modified = ? WHERE session = ?",
            params![
                self.bytes,
                self.messages,
                self.assistant_turns,
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

fn entry_of(row: &Row<'_>) -> rusqlite::Result<Option<Entry>> {
    let text = row.get_ref(0)?;
    let text = String::from_utf8_lossy(text.as_bytes().unwrap_or_default());
    Ok(stored_object::read(&text).ok().flatten())
}

/// The start of a text, cut after a whole character.
fn start(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}
