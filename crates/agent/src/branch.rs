//! A snapshot of the active branch, for whoever computes on it while the session goes on.

use std::sync::Arc;

use longhand_session::{Entry, EntryId, Epoch, Generation, Message, SessionId};

use crate::shared_list::SharedList;

/// The active branch at one moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The session.
    pub session: SessionId,
    /// The newest entry of the branch; `None` before the first.
    pub leaf: Option<EntryId>,
    /// Changes whenever what the model sees is rewritten.
    pub epoch: Epoch,
    /// Changes with every abort and every move in the tree.
    pub generation: Generation,
    /// The part of the branch that a compaction looks at, root side first: everything from the kept tail of the newest
    /// compaction on, or the whole branch where there is none. Older entries cannot change what a model sees.
    pub entries: SharedList<Arc<Entry>>,
    /// What the model sees, before conversion to the roles that providers take.
    pub live: SharedList<Arc<Message>>,
}

impl Branch {
    /// The newest compaction on the branch.
    pub fn latest_compaction(&self) -> Option<&Arc<Entry>> {
        self.entries.iter().rev().find(|entry| entry.compaction().is_some())
    }
}
