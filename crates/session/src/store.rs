//! Where a session is kept: the seam between what a session is and how it lies on a disk.
//!
//! A store is synchronous and has one owner. When [`SessionStore::append`] returns, the entries survive the death of the process;
//! [`SessionStore::sync`] makes them survive the loss of power. Nothing here knows what a context is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::database_error::DatabaseError;
use crate::entry::{Entry, EntryKind};
use crate::header::Header;
use crate::ids::EntryId;
use crate::message::Message;
use crate::place::SessionPlace;

/// Reads entries by id.
pub trait EntryReader {
    /// The entries, in the order of `ids`.
    ///
    /// # Errors
    /// An id that is not in the store, or a failure to read.
    fn read(&self, ids: &[EntryId]) -> Result<Vec<Arc<Entry>>, StoreError>;
}

/// One session in one place.
pub trait SessionStore: EntryReader + Send {
    /// Finds out what is there, without keeping messages in memory. A store for a new session gives its header and no rows.
    ///
    /// # Errors
    /// The place cannot be read, or holds something that is not a session; it is left as it is.
    fn open(&mut self) -> Result<Opened, StoreError>;

    /// Adds entries at the end: all or none. Writes a pending migration or repair first. Adding none writes nothing, and tells what
    /// other processes have written.
    ///
    /// # Errors
    /// Nothing was added.
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Receipt, StoreError>;

    /// Replaces the whole session atomically. What `changes` does not name is copied as it lies.
    ///
    /// # Errors
    /// Nothing was changed.
    fn rewrite(&mut self, changes: &ChangeSet) -> Result<Receipt, StoreError>;

    /// Every object of the session after its header, in order, each as the line that it is written as: entries, and objects without
    /// an id, which are no entries and keep their places.
    fn lines(&self) -> Lines<'_>;

    /// Writes a new session whole: its header, and objects as [`SessionStore::lines`] gives them. Atomic.
    ///
    /// # Errors
    /// There is a session already, or a line could not be had or written. Nothing was written.
    fn fill(&mut self, lines: Lines<'_>) -> Result<Receipt, StoreError>;

    /// Makes everything appended so far survive the loss of power.
    ///
    /// # Errors
    /// The device did not confirm.
    fn sync(&mut self) -> Result<(), StoreError>;

    /// Where the session lies; `None` for one that is only in memory.
    fn place(&self) -> Option<SessionPlace>;
}

/// Lines of a session, read one by one.
pub type Lines<'a> = Box<dyn Iterator<Item = Result<String, StoreError>> + 'a>;

/// What [`SessionStore::open`] found.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// Header of the session, with the title slot applied.
    pub header: Header,
    /// One row an entry, in the order of the file, after migration.
    pub rows: Vec<IndexRow>,
    /// What could not be read.
    pub damage: Damage,
    /// Whether the next write must first rewrite the file: it is of an older version, or damaged.
    pub needs_rewrite: bool,
}

/// What the tree needs to know of an entry without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRow {
    /// The entry.
    pub id: EntryId,
    /// Its parent; `None` is a root.
    pub parent_id: Option<EntryId>,
    /// Its kind.
    pub tag: EntryTag,
}

impl From<&Entry> for IndexRow {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id.clone(),
            parent_id: entry.parent_id.clone(),
            tag: EntryTag::of(&entry.kind),
        }
    }
}

/// Kind of an entry, as far as tree and rebuild decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryTag {
    /// A message of the user.
    User,
    /// A message of the model.
    Assistant,
    /// A result of a tool.
    ToolResult,
    /// A message of any other role.
    OtherMessage,
    /// A compaction.
    Compaction,
    /// A branch summary.
    BranchSummary,
    /// A custom message.
    CustomMessage,
    /// A reset boundary.
    ResetBoundary,
    /// An entry that changes settings: model, thinking, service tier, mode, injected rules.
    Setting,
    /// A label.
    Label,
    /// Written by a process about itself; never decides where a session goes on (the leaf rule).
    Bookkeeping,
    /// Anything else.
    Other,
}

/// `customType` of custom entries that a process writes about itself, and of maintenance records.
const BOOKKEEPING: &[&str] = &["session_exit", "tool_execution_start", "maintenance_record"];

impl EntryTag {
    /// The tag of a kind.
    pub fn of(kind: &EntryKind) -> Self {
        match kind {
            EntryKind::Message(entry) => match &*entry.message {
                Message::User(_) => Self::User,
                Message::Assistant(_) => Self::Assistant,
                Message::ToolResult(_) => Self::ToolResult,
                _ => Self::OtherMessage,
            },
            EntryKind::Custom(entry) => Self::of_names("custom", "", &entry.custom_type),
            other => Self::of_names(other.type_name(), "", ""),
        }
    }

    /// The tag of an entry of which only the names in its line are known.
    pub fn of_names(type_name: &str, role: &str, custom_type: &str) -> Self {
        match (type_name, role) {
            ("message", "user") => Self::User,
            ("message", "assistant") => Self::Assistant,
            ("message", "toolResult") => Self::ToolResult,
            ("message", _) => Self::OtherMessage,
            ("compaction", _) => Self::Compaction,
            ("branch_summary", _) => Self::BranchSummary,
            ("custom_message", _) => Self::CustomMessage,
            ("reset_boundary", _) => Self::ResetBoundary,
            (
                "model_change"
                | "thinking_level_change"
                | "service_tier_change"
                | "mode_change"
                | "ttsr_injection",
                _,
            ) => Self::Setting,
            ("label", _) => Self::Label,
            ("model_usage" | "credential_pin", _) => Self::Bookkeeping,
            ("custom", _) if BOOKKEEPING.contains(&custom_type) => Self::Bookkeeping,
            _ => Self::Other,
        }
    }

    /// Whether the entry holds a message that a model may see.
    pub fn is_message(self) -> bool {
        matches!(
            self,
            Self::User
                | Self::Assistant
                | Self::ToolResult
                | Self::OtherMessage
                | Self::CustomMessage
        )
    }
}

/// What could not be read of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// Numbers, from 1, of lines that were skipped or only partly read.
    pub lines: Vec<usize>,
    /// Ids that occurred more than once.
    pub duplicate_ids: Vec<EntryId>,
}

impl Damage {
    /// Whether everything was read.
    pub fn is_none(&self) -> bool {
        self.lines.is_empty() && self.duplicate_ids.is_empty()
    }
}

/// Changes for [`SessionStore::rewrite`].
#[derive(Debug, Clone, Default)]
pub struct ChangeSet {
    /// Entries that take the place of those with the same id.
    pub replace: Vec<Arc<Entry>>,
    /// Entries that go.
    pub remove: Vec<EntryId>,
    /// Entries that come at the end.
    pub append: Vec<Arc<Entry>>,
    /// A new header.
    pub header: Option<Header>,
}

/// What a write left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receipt {
    /// Length of the store after the write, in bytes.
    pub bytes: u64,
    /// What another process had written meanwhile, and what now is part of the session.
    pub adopted: Adopted,
}

/// What another process wrote into a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Adopted {
    /// Entries that were not known, in the order of the store.
    pub rows: Vec<IndexRow>,
    /// Entries that were known and are different now, or gone: whoever holds them reads them again.
    pub changed: Vec<EntryId>,
}

impl Adopted {
    /// Whether nobody else wrote.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.changed.is_empty()
    }
}

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried: `read`, `append to`, `replace`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is something else in the place of a session.
    #[error("Cannot resume session \"{}\": the session header is missing or malformed. The file was not modified.", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The place holds no session.
    #[error("there is no session at `{}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Another process changed the session in a way that cannot be joined.
    #[error("another process changed `{}`; nothing was written", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// Another session is in the place of this one. Nothing was written there.
    #[error("another session is in `{}` now; the entries of this one are in `{}`", path.display(), rescued.display())]
    Replaced {
        /// The file.
        path: PathBuf,
        /// Where the entries of this session were saved.
        rescued: PathBuf,
    },
    /// Another process holds the session.
    #[error("another process is writing `{}`", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// There is something in the place of a new session.
    #[error("`{}` exists already; nothing was written", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A failed append could not be taken back: the file ends in part of a line, which the next write removes.
    #[error("cannot append to `{}` ({append}), nor take back what was written of it", path.display())]
    TornAppend {
        /// The file.
        path: PathBuf,
        /// Why the append failed.
        append: io::Error,
        /// Why it could not be taken back.
        #[source]
        source: io::Error,
    },
    /// A line that a session cannot be filled with.
    #[error("a line is no part of a session")]
    Line(#[source] serde_json::Error),
    /// A session that has entries cannot be filled.
    #[error("the session has entries already; nothing was written")]
    Filled,
    /// A database of sessions cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An id that is not in the session.
    #[error("entry `{0}` not found")]
    UnknownEntry(EntryId),
    /// A new entry with an id that the session has.
    #[error("entry `{0}` exists already")]
    DuplicateEntry(EntryId),
}
