//! The active branch as its owner keeps it: links of all entries, the entries that a compaction looks at, and what the model sees.
//!
//! Changes here are in memory only and cannot fail halfway; whoever calls has written them first. What the model sees is always
//! what a rebuild from the entries would give.

use std::collections::HashSet;
use std::sync::Arc;

use imbl::Vector;
use longhand_session::entry::EntryKind;
use longhand_session::store::IndexRow;
use longhand_session::tree::{Tree, UnknownEntry};
use longhand_session::{Entry, EntryId, Epoch, Generation, Message, SessionId};

use crate::branch::Branch;
use crate::commit::{CommitError, Expect};
use crate::live::{Frames, LiveMessages};
use crate::window;

/// The active branch of a session.
pub(crate) struct ActiveBranch {
    session: SessionId,
    tree: Tree,
    /// As [`Branch::entries`].
    entries: Vector<Arc<Entry>>,
    live: LiveMessages,
    epoch: Epoch,
    generation: Generation,
    /// The newest entry that another process wrote.
    adopted: Option<EntryId>,
}

impl ActiveBranch {
    /// The branch that ends at the leaf of `tree`. `entries` are its window.
    pub(crate) fn new(
        session: SessionId,
        tree: Tree,
        entries: Vec<Arc<Entry>>,
        frames: Option<Frames>,
    ) -> Self {
        let entries = Vector::from(entries);
        let live = LiveMessages::new(frames, &entries);
        let (epoch, generation) = (Epoch::default(), Generation::default());
        Self { session, tree, entries, live, epoch, generation, adopted: None }
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn live(&self) -> &Vector<Arc<Message>> {
        self.live.messages()
    }

    /// Whether the newest entry of the session is of another process, and so not on this branch.
    pub(crate) fn is_left_behind(&self) -> bool {
        let newest = self.tree.newest().map(|row| &row.id);
        newest.is_some() && newest == self.adopted.as_ref() && newest != self.tree.leaf()
    }

    /// Whether the model has the last word: no request could follow.
    pub(crate) fn ends_with_answer(&self) -> bool {
        self.live().last().is_some_and(|last| {
            last.as_assistant().is_some_and(|reply| reply.tool_calls().next().is_none())
        })
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether what a change was computed from still holds. Linear in the entries after `leaf_prefix`.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check(&self, expect: &Expect) -> Result<(), CommitError> {
        let is_on_branch = |id: &EntryId| {
            self.tree.leaf().is_some_and(|leaf| self.tree.ancestors(leaf).any(|row| row.id == *id))
        };
        let holds = expect.leaf_prefix.as_ref().is_none_or(is_on_branch)
            && expect.epoch.is_none_or(|epoch| epoch == self.epoch)
            && expect.generation.is_none_or(|generation| generation == self.generation);
        if holds { Ok(()) } else { Err(CommitError::Stale) }
    }

    /// Takes in entries that follow the leaf, in order.
    pub(crate) fn extend(&mut self, entries: &[Arc<Entry>]) {
        for entry in entries {
            self.tree.append(IndexRow::from(&**entry));
            self.entries.push_back(entry.clone());
        }
        let is_cut = |entry: &Arc<Entry>| {
            matches!(entry.kind, EntryKind::Compaction(_) | EntryKind::ResetBoundary(_))
        };
        if entries.iter().any(is_cut) {
            self.entries = window::trimmed(&self.entries);
            self.live.rebuild(&self.entries);
            self.epoch.0 += 1;
        } else {
            self.live.extend(entries, &self.entries);
        }
    }

    /// Takes in entries that another process wrote: the leaf stays.
    pub(crate) fn adopt(&mut self, rows: Vec<IndexRow>) {
        for row in rows {
            self.adopted = Some(row.id.clone());
            self.tree.adopt(row);
        }
    }

    /// Those of `ids` that are in memory.
    pub(crate) fn held(&self, ids: &[EntryId]) -> Vec<EntryId> {
        let ids: HashSet<&EntryId> = ids.iter().collect();
        self.entries.iter().map(|entry| &entry.id).filter(|id| ids.contains(id)).cloned().collect()
    }

    /// Takes in entries that have changed in place.
    pub(crate) fn replace(&mut self, changed: &[Arc<Entry>]) {
        for new in changed {
            if let Some(old) = self.entries.iter_mut().find(|old| old.id == new.id) {
                *old = new.clone();
            }
        }
        self.live.rebuild(&self.entries);
        self.epoch.0 += 1;
    }

    /// The path to an entry, for [`window::read`]. Linear in the path.
    pub(crate) fn path(&self, leaf: Option<&EntryId>) -> Vec<IndexRow> {
        path(&self.tree, leaf)
    }

    /// Moves the leaf. `entries` are the window of its path.
    ///
    /// # Errors
    /// There is no such entry; nothing has changed.
    pub(crate) fn move_leaf(
        &mut self,
        leaf: Option<&EntryId>,
        entries: Vec<Arc<Entry>>,
    ) -> Result<(), UnknownEntry> {
        self.tree.set_leaf(leaf)?;
        self.entries = entries.into();
        self.live.rebuild(&self.entries);
        self.epoch.0 += 1;
        self.generation.0 += 1;
        Ok(())
    }

    /// Takes another tree, whose links have changed. `entries` are the window of its leaf.
    pub(crate) fn rearrange(&mut self, tree: Tree, entries: Vec<Arc<Entry>>) {
        self.tree = tree;
        self.entries = entries.into();
        self.live.rebuild(&self.entries);
        self.epoch.0 += 1;
        self.generation.0 += 1;
    }

    /// The window of the branch: see [`Branch::entries`].
    pub(crate) fn entries(&self) -> &Vector<Arc<Entry>> {
        &self.entries
    }

    /// An abort: continuations that were planned before it are void.
    pub(crate) fn abort(&mut self) {
        self.generation.0 += 1;
    }

    /// The branch for others.
    pub(crate) fn snapshot(&self) -> Arc<Branch> {
        Arc::new(Branch {
            session: self.session.clone(),
            leaf: self.tree.leaf().cloned(),
            epoch: self.epoch,
            generation: self.generation,
            entries: self.entries.clone().into(),
            live: self.live().clone().into(),
        })
    }
}

/// The path to an entry with what is known of each step; empty for `None`.
pub(crate) fn path(tree: &Tree, leaf: Option<&EntryId>) -> Vec<IndexRow> {
    let Some(leaf) = leaf else { return Vec::new() };
    let mut path: Vec<IndexRow> = tree.ancestors(leaf).cloned().collect();
    path.reverse();
    path
}
