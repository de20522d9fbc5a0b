//! Several owners of one session each hear what the others wrote, once.

use longhand_session::StoreError;
use longhand_session::store::{Adopted, ChangeSet, IndexRow};

use crate::{Kind, Session, entry, promises};

promises! {
    what_another_appended_is_told_by_the_next_write
    whoever_only_looks_writes_nothing
    what_another_replaced_is_told_and_kept
    an_id_of_another_is_taken
}

fn rows(ids: &[(&str, &str)]) -> Adopted {
    let rows = ids.iter().map(|(id, parent)| IndexRow::from(&*entry(id, Some(parent), "")));
    Adopted { rows: rows.collect(), changed: vec![] }
}

fn what_another_appended_is_told_by_the_next_write(kind: Kind) {
    let mut one = Session::with(kind, &[entry("a", None, "1")]);
    let Some(mut two) = one.another_owner() else { return };
    two.append(&[entry("b", Some("a"), "2"), entry("c", Some("b"), "3")]).expect("room");
    let told = one.store.append(&[entry("d", Some("a"), "4")]).expect("room").adopted;
    assert_eq!(told, rows(&[("b", "a"), ("c", "b")]));
    assert_eq!(one.store.read(&["c".into()]).expect("c"), [entry("c", Some("b"), "3")]);
    let told = one.store.append(&[entry("e", Some("d"), "5")]).expect("room").adopted;
    assert!(told.is_empty(), "{told:?}");
    let told = two.rewrite(&ChangeSet::default()).expect("room").adopted;
    assert_eq!(told, rows(&[("d", "a"), ("e", "d")]));
    assert_eq!(one.observe().ids(), ["a", "b", "c", "d", "e"]);
}

fn whoever_only_looks_writes_nothing(kind: Kind) {
    let mut one = Session::with(kind, &[entry("a", None, "1")]);
    let Some(mut two) = one.another_owner() else { return };
    two.append(&[entry("b", Some("a"), "2")]).expect("room");
    assert_eq!(one.store.append(&[]).expect("a look").adopted, rows(&[("b", "a")]));
    assert!(one.store.append(&[]).expect("a look").adopted.is_empty());
    assert_eq!(one.store.read(&["b".into()]).expect("b"), [entry("b", Some("a"), "2")]);
}

fn what_another_replaced_is_told_and_kept(kind: Kind) {
    let mut one = Session::with(kind, &[entry("a", None, "1"), entry("b", Some("a"), "2")]);
    let Some(mut two) = one.another_owner() else { return };
    let changes = ChangeSet {
        replace: vec![entry("a", None, "one")],
        append: vec![entry("c", Some("b"), "3")],
        ..ChangeSet::default()
    };
    two.rewrite(&changes).expect("known ids");
    let changes = ChangeSet { replace: vec![entry("b", Some("a"), "two")], ..ChangeSet::default() };
    let told = one.store.rewrite(&changes).expect("known ids").adopted;
    assert_eq!(told, Adopted { changed: vec!["a".into()], ..rows(&[("c", "b")]) });
    let expected =
        [entry("a", None, "one"), entry("b", Some("a"), "two"), entry("c", Some("b"), "3")];
    assert_eq!(one.observe().entries, expected);
}

fn an_id_of_another_is_taken(kind: Kind) {
    let mut one = Session::with(kind, &[entry("a", None, "1")]);
    let Some(mut two) = one.another_owner() else { return };
    two.append(&[entry("b", Some("a"), "2")]).expect("room");
    let taken = one.store.append(&[entry("b", Some("a"), "mine")]);
    assert!(matches!(taken, Err(StoreError::DuplicateEntry(id)) if id == "b"));
    let told = one.store.append(&[entry("c", Some("a"), "3")]).expect("room").adopted;
    assert_eq!(told, rows(&[("b", "a")]));
}
