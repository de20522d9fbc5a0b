//! What is left behind when the leaf moves: the entries that a summary of the branch would tell of.

use std::collections::HashSet;

use super::Tree;
use crate::ids::EntryId;

/// What a move leaves behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Abandoned {
    /// The entries that are no longer on the branch, oldest first. Compactions are among them.
    pub entries: Vec<EntryId>,
    /// The last entry that both branches have; `None` where they have none.
    pub common: Option<EntryId>,
}

impl Tree {
    /// What a move from `old_leaf` to `target` leaves behind. Linear in the two paths.
    ///
    /// An unknown leaf leaves nothing; an unknown target has nothing in common with any branch.
    pub fn abandoned(&self, old_leaf: Option<&EntryId>, target: &EntryId) -> Abandoned {
        let Some(old_leaf) = old_leaf else { return Abandoned::default() };
        let left: HashSet<&EntryId> = self.ancestors(old_leaf).map(|row| &row.id).collect();
        let mut on_target = self.ancestors(target).map(|row| &row.id);
        let common = on_target.find(|id| left.contains(*id)).cloned();
        let mut entries: Vec<EntryId> = self
            .ancestors(old_leaf)
            .map(|row| row.id.clone())
            .take_while(|id| common.as_ref() != Some(id))
            .collect();
        entries.reverse();
        Abandoned { entries, common }
    }
}
