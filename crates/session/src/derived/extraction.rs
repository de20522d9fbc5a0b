//! An extraction: one branch of a session as a session of its own.
//!
//! Entries keep their ids. Labels are entries too, wherever they hang: those of the branch are left out, and the names in force are
//! given anew at its end.

use std::collections::{HashMap, HashSet};

use super::{Birth, DeriveError, Derived, write};
use crate::conversion;
use crate::entry::{Entry, EntryKind, LabelEntry};
use crate::header::Header;
use crate::ids::EntryId;
use crate::store::{EntryTag, IndexRow, Lines, SessionStore, StoreError};
use crate::stored_object;
use crate::tree::{Labels, Tree, open_calls};

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
        let mut unread = Vec::new();
        let tail = tail.iter().map(|entry| Ok(entry.to_line()));
        let lines: Lines<'_> = Box::new(branch.lines(&*source, &tree, &mut unread).chain(tail));
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
    /// Entries that may name one that is not: those that follow a label, and compactions.
    suspects: HashSet<EntryId>,
}

#[derive(Default)]
struct Neighbours {
    before: Option<EntryId>,
    after: Option<EntryId>,
}

impl Branch {
    fn of(path: &[IndexRow]) -> Self {
        let mut branch = Self {
            kept: Vec::with_capacity(path.len()),
            dropped: HashMap::new(),
            suspects: HashSet::new(),
        };
        let mut waiting: Vec<EntryId> = Vec::new();
        for row in path {
            if row.tag == EntryTag::Label {
                let before = branch.kept.last().cloned();
                branch.dropped.insert(row.id.clone(), Neighbours { before, after: None });
                waiting.push(row.id.clone());
                continue;
            }
            if !waiting.is_empty() || row.tag == EntryTag::Compaction {
                branch.suspects.insert(row.id.clone());
            }
            for label in waiting.drain(..) {
                branch.dropped.entry(label).or_default().after = Some(row.id.clone());
            }
            branch.kept.push(row.id.clone());
        }
        branch
    }

    /// The entries as they were written, root first.
    fn lines<'a>(
        &'a self,
        source: &'a dyn SessionStore,
        tree: &Tree,
        unread: &'a mut Vec<u64>,
    ) -> Lines<'a> {
        let places: HashMap<&EntryId, usize> =
            self.kept.iter().enumerate().map(|(place, id)| (id, place)).collect();
        let in_file = tree.rows().filter_map(|row| places.get(&row.id).copied());
        let is_in_order = in_file.is_sorted();
        let wanted = conversion::readable(source.lines(), unread).filter_map(move |line| {
            let line = match line {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            let id = stored_object::id(&line).ok().flatten()?;
            let place = *places.get(&id)?;
            Some(Ok((place, if self.suspects.contains(&id) { self.relinked(line) } else { line })))
        });
        if is_in_order {
            return Box::new(wanted.map(|line| line.map(|(_, line)| line)));
        }
        // Some entry stands before its parent. A branch is written root first, so that its last line is its leaf.
        let sorted = wanted.collect::<Result<Vec<_>, StoreError>>().map(|mut lines| {
            lines.sort_unstable_by_key(|(place, _)| *place);
            lines
        });
        match sorted {
            Ok(lines) => Box::new(lines.into_iter().map(|(_, line)| Ok(line))),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    /// The line with links that lead past the labels that are left out.
    fn relinked(&self, line: String) -> String {
        let Ok(mut entry) = serde_json::from_str::<Entry>(&line) else { return line };
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
        entry.to_line()
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
