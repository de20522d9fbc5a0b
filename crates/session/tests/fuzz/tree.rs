//! The tree: any rows make one, and every walk in it ends.

use std::collections::HashSet;

use longhand_session::store::{EntryTag, IndexRow};
use longhand_session::{EntryId, Tree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::config;

/// Rows with few ids: circles, orphans, rows that are their own parent, ids that occur twice.
fn rows() -> impl Strategy<Value = Vec<IndexRow>> {
    let tag =
        select(&[EntryTag::User, EntryTag::Bookkeeping, EntryTag::Compaction, EntryTag::Label][..]);
    let row =
        (0..12_u8, proptest::option::of(0..14_u8), tag).prop_map(|(id, parent, tag)| IndexRow {
            id: EntryId::from(id.to_string()),
            parent_id: parent.map(|id| EntryId::from(id.to_string())),
            tag,
        });
    vec(row, 0..24)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_walk_ends(rows in rows(), target in 0..14_u8) {
        let tree = Tree::new(rows.iter().cloned());
        let ids: HashSet<&EntryId> = rows.iter().map(|row| &row.id).collect();
        for id in &ids {
            let path = tree.path(id);
            let distinct: HashSet<&EntryId> = path.iter().collect();
            prop_assert_eq!(distinct.len(), path.len(), "a path repeats");
            prop_assert_eq!(path.last(), Some(*id));
            prop_assert!(path.iter().all(|id| ids.contains(id)));
        }
        prop_assert_eq!(tree.leaf().is_none(), rows.is_empty());
        let active = tree.active_path();
        prop_assert_eq!(active.last(), tree.leaf());

        let shown: Vec<EntryId> = tree.view(|_| None).into_iter().map(|node| node.id).collect();
        prop_assert_eq!(shown.len(), ids.len(), "everything is shown once");
        prop_assert_eq!(shown.iter().collect::<HashSet<_>>(), ids.clone());

        for gap in tree.gaps() {
            prop_assert!(ids.contains(&gap.entry) && !ids.contains(&gap.missing));
            prop_assert!(gap.before.is_none_or(|before| before != gap.entry));
        }
        let target = EntryId::from(target.to_string());
        let abandoned = tree.abandoned(tree.leaf(), &target);
        let distinct: HashSet<&EntryId> = abandoned.entries.iter().collect();
        prop_assert_eq!(distinct.len(), abandoned.entries.len());
    }

    #[test]
    fn what_others_write_never_moves_the_leaf(rows in rows(), later in rows()) {
        let mut tree = Tree::new(rows);
        let leaf = tree.leaf().cloned();
        for row in later {
            tree.adopt(row);
        }
        prop_assert_eq!(tree.leaf().cloned(), leaf);
        prop_assert!(tree.active_path().len() <= tree.len());
    }
}
