//! An extraction: one branch of a session as a session of its own.
//!
//! Entries keep their ids. Labels are entries too, wherever they hang: those of the branch are left out, and the names in force are
//! given anew at its end.

use std::collections::HashMap;

use super::{Birth, DeriveError, Derived, write};
use crate::entry::{Entry, EntryKind, LabelEntry};
use crate::header::Header;
use crate::ids::EntryId;
use crate::store::{EntryTag, IndexRow, Lines, SessionStore, StoreError};
use crate::tree::{Labels, Tree, open_calls};

/// How many entries are in memory at once.
const LOT: usize = 256;

/// Copies the branch that ends at `leaf` into the new store that `make` makes for its header. Linear in the session.
///
/// The leaf is the caller's: whoever has the original open writes everything first, and names where it is then.
///
/// # Errors
/// There is no such session or no such entry, or it cannot be copied. There is no new session.
pub fn extract(
    source: &mut dyn SessionStore,
    leaf: &EntryId,
    birth: Birth<'_>,
    make: impl FnOnce(&Header) -> Box<dyn SessionStore>,
) -> Result<Derived, DeriveError> {
    let opened = source.open()?;
    let tree = Tree::new(opened.rows);
    if !tree.contains(leaf) {
        return Err(StoreError::UnknownEntry(leaf.clone()).into());
    }
    let parent = source.place().map_or_else(|| opened.header.id.to_string(), |p| p.to_string());
    let header = birth.header(&opened.header, parent);
    let path = tree.path_rows(leaf);
    let closed_calls = open_calls(&path, &*source)?;
    let branch = Branch::of(&path);
    let mut kinds = birth.results(&closed_calls);
    kinds.extend(branch.labels(&Labels::read(&tree, &*source)?));
    let tail = birth.chained(kinds, branch.kept.last().cloned(), |id| tree.contains(id));
    let store = {
        let tail = tail.iter().map(|entry| Ok(entry.to_line()));
        let lines: Lines<'_> = Box::new(branch.lines(&*source).chain(tail));
        write(&*source, make(&header), lines)?
    };
    Ok(Derived { store, header, closed_calls, damage: opened.damage })
}

/// What of a path is copied.
struct Branch {
    /// The entries that are, root first.
    kept: Vec<EntryId>,
    /// For each label that is not: the entries before and after it that are.
    dropped: HashMap<EntryId, Neighbours>,
}

#[derive(Default)]
struct Neighbours {
    before: Option<EntryId>,
    after: Option<EntryId>,
}

impl Branch {
    fn of(path: &[IndexRow]) -> Self {
        let mut branch = Self { kept: Vec::with_capacity(path.len()), dropped: HashMap::new() };
        let mut waiting: Vec<EntryId> = Vec::new();
        for row in path {
            if row.tag == EntryTag::Label {
                let before = branch.kept.last().cloned();
                branch.dropped.insert(row.id.clone(), Neighbours { before, after: None });
                waiting.push(row.id.clone());
                continue;
            }
            for label in waiting.drain(..) {
                branch.dropped.entry(label).or_default().after = Some(row.id.clone());
            }
            branch.kept.push(row.id.clone());
        }
        branch
    }

    /// The entries as lines, read in lots.
    fn lines<'a>(
        &'a self,
        source: &'a dyn SessionStore,
    ) -> impl Iterator<Item = Result<String, StoreError>> + 'a {
        self.kept.chunks(LOT).flat_map(move |ids| {
            let read = source.read(ids);
            let (entries, failure) = match read {
                Ok(entries) => (entries, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            let lines =
                entries.into_iter().map(|entry| Ok(self.relinked(Entry::clone(&entry)).to_line()));
            failure.into_iter().chain(lines)
        })
    }

    /// An entry whose links lead past the labels that are left out.
    fn relinked(&self, mut entry: Entry) -> Entry {
        if let Some(label) = entry.parent_id.as_ref().and_then(|id| self.dropped.get(id)) {
            entry.parent_id.clone_from(&label.before);
        }
        if let EntryKind::Compaction(compaction) = &mut entry.kind {
            let kept = self.dropped.get(&compaction.first_kept_entry_id);
            if let Some(after) = kept.and_then(|label| label.after.clone()) {
                compaction.first_kept_entry_id = after;
            }
            let replayed = compaction.provider_replay_through_entry_id.as_ref();
            if let Some(label) = replayed.and_then(|id| self.dropped.get(id)) {
                compaction.provider_replay_through_entry_id.clone_from(&label.before);
            }
        }
        entry
    }

    /// The names of the entries, in the order of the branch.
    fn labels<'a>(&'a self, labels: &'a Labels) -> impl Iterator<Item = EntryKind> + 'a {
        self.kept.iter().filter_map(|id| {
            let label = Some(labels.of(id)?.to_owned());
            let label = LabelEntry { target_id: id.clone(), label, ..LabelEntry::default() };
            Some(EntryKind::Label(label))
        })
    }
}
