//! The one door through which a session changes.

use std::sync::Arc;

use longhand_session::entry::EntryKind;
use longhand_session::{Entry, EntryId, Epoch, Generation, StoreError};

use crate::compaction::CompactionResult;

/// A change, and what must still be true for it to be made.
#[derive(Debug, Clone)]
pub struct Commit {
    /// What the change was computed from.
    pub expect: Expect,
    /// The change.
    pub change: Change,
}

/// What a change was computed from. A field that is `None` is not checked.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// This entry must be on the active branch. Entries appended after it are accepted: that is how a result that was computed
    /// aside lands.
    pub leaf_prefix: Option<EntryId>,
    /// Nothing the model sees may have been rewritten since.
    pub epoch: Option<Epoch>,
    /// No abort and no move may have happened since.
    pub generation: Option<Generation>,
}

/// A change of the session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change {
    /// New entries at the leaf, in order.
    Append(Vec<EntryDraft>),
    /// New entries at the leaf, in order: all of them in the store, or none anywhere.
    AppendWhole(Vec<EntryDraft>),
    /// A compaction at the leaf, and the record of the pass that made it.
    Compaction(Box<CompactionDraft>),
    /// Entries changed in place, same ids and parents.
    Patch(PatchSet),
    /// The leaf moves to an entry, or before the first.
    MoveLeaf(Option<EntryId>),
}

/// An entry that has no id, parent and time yet.
#[derive(Debug, Clone)]
pub struct EntryDraft {
    /// What it says.
    pub kind: EntryKind,
    /// Milliseconds since the epoch; `None` takes the time of the commit.
    pub timestamp: Option<i64>,
}

impl From<EntryKind> for EntryDraft {
    fn from(kind: EntryKind) -> Self {
        Self { kind, timestamp: None }
    }
}

/// A compaction to be committed.
#[derive(Debug, Clone)]
pub struct CompactionDraft {
    /// What the method made.
    pub result: CompactionResult,
    /// The method; `None` where an extension supplied the result.
    pub method: Option<longhand_session::MethodId>,
    /// Whether an extension supplied it.
    pub from_extension: bool,
    /// Tokens of the context after, as projected.
    pub tokens_after: Option<u64>,
    /// Why it will not help much; shown at the divider.
    pub warning: Option<String>,
    /// The `maintenance_record` that goes with it; its `entryId` is filled by the commit.
    pub record: Option<crate::maintenance::MaintenanceRecord>,
}

/// Entries changed in place.
#[derive(Debug, Clone, Default)]
pub struct PatchSet {
    /// The entries as they become.
    pub replace: Vec<Arc<Entry>>,
    /// The record of the pass that made it.
    pub record: Option<Box<crate::maintenance::MaintenanceRecord>>,
}

/// What a commit did.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The entries that were appended or changed, in order.
    pub entries: Vec<Arc<Entry>>,
    /// The epoch after it.
    pub epoch: Epoch,
}

/// Why a commit was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The session went another way since the change was computed.
    #[error("the session changed meanwhile")]
    Stale,
    /// Calls are running: their results belong where the leaf is.
    #[error("calls are running")]
    CallsRunning,
    /// The session has ended.
    #[error("the session is closed")]
    Closed,
    /// The store refused.
    #[error("the change could not be written")]
    Store(#[from] Arc<StoreError>),
}
