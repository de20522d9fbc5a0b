//! What a list of sessions shows of each, without reading it.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::ids::SessionId;
use crate::place::SessionPlace;
use crate::time::Timestamp;

/// One session of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Where it lies.
    pub place: SessionPlace,
    /// Its id.
    pub id: SessionId,
    /// Its working directory; `None` in very old files.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// The session that it was forked or extracted from, as id or path.
    pub parent: Option<String>,
    /// When it began.
    pub created: Timestamp,
    /// When it was last written.
    pub modified: SystemTime,
    /// Size in bytes.
    pub bytes: u64,
    /// Messages, as far as the part that was read tells.
    pub messages: u64,
    /// Answers of the model, as far as the part that was read tells.
    pub assistant_turns: u64,
    /// What the user said first; else the first text of anybody.
    pub first_message: Option<String>,
    /// Texts of user and model in the part that was read, for searching.
    pub all_text: String,
    /// How it was left.
    pub status: Status,
}

/// How a session was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// The model finished its answer.
    Complete,
    /// The model was cut off, or a tool call has no answer yet.
    Interrupted,
    /// The user stopped it.
    Aborted,
    /// The last request failed.
    Error,
    /// The user has the last word.
    Pending,
    /// There is nothing to tell it from.
    #[default]
    Unknown,
    /// The file cannot be read as a session. It is listed all the same.
    Damaged,
}
