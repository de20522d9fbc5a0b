//! The tree of a session: paths, the leaf, and input that is no tree.

use longhand_session::store::{EntryTag, IndexRow};
use longhand_session::{EntryId, Tree};
use proptest::prelude::*;

fn row(id: &str, parent: Option<&str>, tag: EntryTag) -> IndexRow {
    IndexRow { id: id.into(), parent_id: parent.map(EntryId::from), tag }
}

/// Rows from `id<parent` words; `id` alone is a root, a `!` before the id makes it bookkeeping.
fn rows(words: &str) -> Vec<IndexRow> {
    words
        .split_whitespace()
        .map(|word| {
            let (id, parent) = word.split_once('<').map_or((word, None), |(id, p)| (id, Some(p)));
            match id.strip_prefix('!') {
                Some(id) => row(id, parent, EntryTag::Bookkeeping),
                None => row(id, parent, EntryTag::User),
            }
        })
        .collect()
}

fn joined<'a>(ids: impl IntoIterator<Item = &'a EntryId>) -> String {
    ids.into_iter().map(EntryId::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_leaf_of_a_file_is_its_last_entry_unless_that_is_a_stray_note() {
    for (words, leaf) in [
        ("a b<a c<b", "c"),
        ("a b<a c<a", "c"),
        ("a b<a !x<b", "x"),
        ("a b<a c<a !x<b", "c"),
        ("a b<a c<a !x<b !y<c", "y"),
        ("a b<a c<a !y<c !x<b", "y"),
        ("a b<a c<a !y<c !z<y !x<b", "z"),
        ("a !x<gone", "a"),
        ("!x !y<x", "y"),
    ] {
        assert_eq!(Tree::new(rows(words)).leaf(), Some(&leaf.into()), "{words}");
    }
    assert_eq!(Tree::new([]).leaf(), None);
}

#[test]
fn a_path_ends_at_a_root_a_gap_or_where_it_would_repeat() {
    for (words, from, path) in [
        ("a b<a c<b", "c", "a b c"),
        ("b<gone c<b", "c", "b c"),
        ("a<a b<a", "b", "a b"),
        ("a<b b<a c<a", "c", "b a c"),
        ("a<b b<a c<a", "b", "a b"),
        ("c<b b<a a", "c", "a b c"),
        ("a b<a", "unknown", ""),
    ] {
        let path_of = Tree::new(rows(words)).path(&from.into());
        assert_eq!(joined(&path_of), path, "{words} from {from}");
    }
}

#[test]
fn children_come_in_file_order_and_orphans_are_roots() {
    let tree = Tree::new(rows("a b<a c<gone d<a e<e"));
    let ids = |parent: Option<&str>| {
        joined(tree.children(parent.map(EntryId::from).as_ref()).map(|row| &row.id))
    };
    assert_eq!(ids(Some("a")), "b d");
    assert_eq!(ids(None), "a c e");
    assert_eq!(joined(tree.missing_parents()), "gone");
}

#[test]
fn the_later_of_two_entries_owns_their_id() {
    let tree = Tree::new(rows("a b<a c<b b"));
    assert_eq!(joined(&tree.path(&"c".into())), "b c");
    assert_eq!(tree.len(), 3);
}

#[test]
fn the_leaf_follows_only_what_is_appended_to_it() {
    let mut tree = Tree::new(rows("a b<a"));
    tree.append(row("c", Some("b"), EntryTag::User));
    tree.append(row("side", Some("a"), EntryTag::Bookkeeping));
    assert_eq!(tree.leaf(), Some(&"c".into()));

    tree.set_leaf(None).expect("before the first");
    tree.append(row("root", None, EntryTag::User));
    assert_eq!(joined(&tree.active_path()), "root");

    let unknown = tree.set_leaf(Some(&"x".into())).expect_err("no such entry");
    assert_eq!(unknown.to_string(), "entry `x` not found");
    assert_eq!(tree.leaf(), Some(&"root".into()));
}

#[test]
fn a_chain_of_a_hundred_thousand_entries_is_walked_whole() {
    let id = |n: usize| EntryId::from(format!("{n:08x}"));
    let tree = Tree::new((0..100_000).map(|n| IndexRow {
        id: id(n),
        parent_id: n.checked_sub(1).map(id),
        tag: EntryTag::User,
    }));
    assert_eq!(tree.active_path().len(), 100_000);
}

fn any_rows() -> impl Strategy<Value = Vec<IndexRow>> {
    let link = (0..12u8, proptest::option::of(0..14u8), any::<bool>());
    proptest::collection::vec(link, 0..12).prop_map(|links| {
        let mut seen = std::collections::HashSet::new();
        links
            .into_iter()
            .filter(|(id, _, _)| seen.insert(*id))
            .map(|(id, parent, note)| {
                let tag = if note { EntryTag::Bookkeeping } else { EntryTag::User };
                row(&id.to_string(), parent.map(|p| p.to_string()).as_deref(), tag)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn every_path_is_finite_and_repeats_nothing(rows in any_rows()) {
        let tree = Tree::new(rows.clone());
        for row in &rows {
            let path = tree.path(&row.id);
            let distinct: std::collections::HashSet<_> = path.iter().collect();
            prop_assert_eq!(distinct.len(), path.len());
            prop_assert_eq!(path.last(), Some(&row.id));
        }
    }

    #[test]
    fn appending_one_by_one_gives_the_links_of_reading_at_once(rows in any_rows()) {
        let read = Tree::new(rows.clone());
        let mut grown = Tree::default();
        for row in &rows {
            grown.append(row.clone());
        }
        for row in &rows {
            prop_assert_eq!(read.path(&row.id), grown.path(&row.id));
        }
        let sorted = |tree: &Tree, parent: Option<&EntryId>| {
            let mut ids: Vec<EntryId> = tree.children(parent).map(|row| row.id.clone()).collect();
            ids.sort();
            ids
        };
        for parent in rows.iter().map(|row| Some(&row.id)).chain([None]) {
            prop_assert_eq!(sorted(&read, parent), sorted(&grown, parent));
        }
    }
}
