//! Places where history is missing: entries that follow one which is not in the session.
//!
//! Such an entry is a root, so that nothing of it is lost. It may be hung where it most likely belongs: after the entry that stands
//! before it in the file.

use super::Tree;
use crate::ids::EntryId;

/// An entry whose parent is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The entry after the gap.
    pub entry: EntryId,
    /// The id that it names as its parent.
    pub missing: EntryId,
    /// The nearest entry before it in the file that does not hang below it; `None` where there is none.
    pub before: Option<EntryId>,
}

impl Tree {
    /// All gaps, in the order of the file.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps: Vec<(u32, &EntryId)> = self
            .orphans
            .iter()
            .flat_map(|(missing, orphans)| orphans.iter().map(move |at| (*at, missing)))
            .collect();
        gaps.sort_unstable();
        gaps.into_iter()
            .map(|(at, missing)| Gap {
                entry: self.node(at).row.id.clone(),
                missing: missing.clone(),
                before: self.nearest_before(at).map(|before| self.node(before).row.id.clone()),
            })
            .collect()
    }

    fn nearest_before(&self, orphan: u32) -> Option<u32> {
        let entry = &self.node(orphan).row.id;
        (0..orphan).rev().find(|at| {
            let id = &self.node(*at).row.id;
            self.index(id) == Some(*at) && self.ancestors(id).all(|row| row.id != *entry)
        })
    }
}
