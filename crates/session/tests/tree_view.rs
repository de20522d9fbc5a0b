//! A tree as it is shown, and the gaps in it.

use longhand_session::store::{EntryTag, IndexRow};
use longhand_session::tree::Gap;
use longhand_session::{EntryId, Tree};
use proptest::prelude::*;

/// A tree from `id<parent` words; `id` alone is a root.
fn tree(words: &str) -> Tree {
    Tree::new(words.split_whitespace().map(|word| {
        let (id, parent) = word.split_once('<').map_or((word, None), |(id, p)| (id, Some(p)));
        IndexRow { id: id.into(), parent_id: parent.map(EntryId::from), tag: EntryTag::User }
    }))
}

/// The view as words, each with its depth. The time of an entry is the number at the end of its id.
fn shown(tree: &Tree) -> String {
    let time = |id: &EntryId| id.as_str().trim_start_matches(char::is_alphabetic).parse().ok();
    let nodes = tree.view(time).into_iter();
    nodes.map(|node| format!("{}:{}", node.depth, node.id)).collect::<Vec<_>>().join(" ")
}

#[test]
fn children_come_by_time_and_each_is_followed_by_what_hangs_under_it() {
    for (words, expected) in [
        ("a0 b1<a0 c2<b1 d3<a0", "0:a0 1:b1 2:c2 1:d3"),
        ("a0 late9<a0 early1<a0", "0:a0 1:early1 1:late9"),
        ("a0 c5<a0 b5<a0", "0:a0 1:c5 1:b5"),
        ("z9 a0", "0:z9 0:a0"),
        ("a0<a0 b1<a0", "0:a0 1:b1"),
        ("b1<gone c2<b1", "0:b1 1:c2"),
        ("a0<b1 b1<a0 c2<b1", "0:a0 1:b1 2:c2"),
        ("b1<a0 a0", "0:a0 1:b1"),
        ("a0 a0 b1<a0", "0:a0 1:b1"),
        ("", ""),
    ] {
        assert_eq!(shown(&tree(words)), expected, "{words}");
    }
}

#[test]
fn a_shown_entry_knows_its_parent_and_how_many_are_under_it() {
    let nodes = tree("a b<a c<a").view(|_| None);
    let facts: Vec<_> = nodes
        .iter()
        .map(|node| (node.parent.as_ref().map(EntryId::as_str), node.children))
        .collect();
    assert_eq!(facts, [(None, 2), (Some("a"), 0), (Some("a"), 0)]);
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_is_shown() {
    let id = |n: usize| EntryId::from(format!("{n:08x}"));
    let tree = Tree::new((0..100_000).map(|n| IndexRow {
        id: id(n),
        parent_id: n.checked_sub(1).map(id),
        tag: EntryTag::User,
    }));
    assert_eq!(tree.view(|_| None).last().map(|node| node.depth), Some(99_999));
}

#[test]
fn a_gap_is_before_each_entry_whose_parent_is_missing() {
    for (words, gaps) in [
        ("a b<a", vec![]),
        ("a b<gone c<b d<lost", vec![("b", "gone", Some("a")), ("d", "lost", Some("c"))]),
        ("a<gone b<gone", vec![("a", "gone", None), ("b", "gone", Some("a"))]),
        ("b<a a<gone", vec![("a", "gone", None)]),
        ("x b<a a<gone", vec![("a", "gone", Some("x"))]),
        ("a<a", vec![]),
    ] {
        let expected: Vec<Gap> = gaps
            .into_iter()
            .map(|(entry, missing, before)| Gap {
                entry: entry.into(),
                missing: missing.into(),
                before: before.map(EntryId::from),
            })
            .collect();
        assert_eq!(tree(words).gaps(), expected, "{words}");
    }
}

proptest! {
    #[test]
    fn every_entry_is_shown_once_and_after_what_it_hangs_under(
        links in proptest::collection::vec((0..12u8, proptest::option::of(0..14u8)), 0..14),
    ) {
        let words: Vec<String> = links
            .iter()
            .map(|(id, parent)| parent.map_or(id.to_string(), |parent| format!("{id}<{parent}")))
            .collect();
        let tree = tree(&words.join(" "));
        let shown = tree.view(|_| None);
        let mut ids: Vec<&EntryId> = shown.iter().map(|node| &node.id).collect();
        for (at, node) in shown.iter().enumerate() {
            if let Some(parent) = &node.parent {
                let above = shown[..at].iter().rev().find(|above| above.depth < node.depth);
                prop_assert_eq!(above.map(|above| &above.id), Some(parent));
            }
        }
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), shown.len());
        prop_assert_eq!(shown.len(), tree.len());
    }

    #[test]
    fn closing_every_gap_leaves_no_gap_that_can_be_closed(
        links in proptest::collection::vec(proptest::option::of(0..14u8), 0..10),
    ) {
        let mut rows: Vec<IndexRow> = links
            .iter()
            .enumerate()
            .map(|(n, parent)| IndexRow {
                id: n.to_string().into(),
                parent_id: parent.map(|parent| parent.to_string().into()),
                tag: EntryTag::User,
            })
            .collect();
        while let Some(gap) = Tree::new(rows.clone()).gaps().into_iter().find(|gap| gap.before.is_some()) {
            let row = rows.iter_mut().find(|row| row.id == gap.entry);
            row.expect("a gap is before an entry").parent_id = gap.before;
        }
        let tree = Tree::new(rows.clone());
        for row in &rows {
            prop_assert!(!tree.path(&row.id).is_empty());
        }
    }
}
