//! A rewrite happens whole or not at all, and leaves alone what it does not name.

use longhand_session::store::ChangeSet;
use longhand_session::{Header, StoreError};

use crate::{Kind, Session, entry, header, promises};

promises! {
    a_rewrite_replaces_removes_and_appends
    a_refused_rewrite_changes_nothing
    an_id_that_goes_is_not_free_in_the_same_change
    an_id_that_went_is_free_afterwards
    an_empty_rewrite_writes_a_new_session
    a_title_changes_and_nothing_else
    a_header_keeps_what_nobody_knows
    a_session_never_goes_back_to_an_older_version
}

fn a_rewrite_replaces_removes_and_appends(kind: Kind) {
    let entries = [entry("a", None, "1"), entry("b", Some("a"), "2"), entry("c", Some("b"), "3")];
    let mut session = Session::with(kind, &entries);
    let changes = ChangeSet {
        replace: vec![entry("a", None, "one")],
        remove: vec!["b".into(), "b".into()],
        append: vec![entry("d", Some("c"), "4")],
        header: None,
    };
    assert!(session.store.rewrite(&changes).expect("known ids").adopted.is_empty());
    let expected =
        [entry("a", None, "one"), entry("c", Some("b"), "3"), entry("d", Some("c"), "4")];
    assert_eq!(session.observe().entries, expected);
}

fn a_refused_rewrite_changes_nothing(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1"), entry("b", Some("a"), "2")]);
    let before = session.observe();
    let renamed = Some(Header { title: Some("T".into()), ..header() });
    let sound = ChangeSet {
        replace: vec![entry("a", None, "one")],
        remove: vec!["b".into()],
        append: vec![entry("c", None, "3")],
        header: renamed,
    };
    let refused = [
        ChangeSet {
            replace: vec![sound.replace[0].clone(), entry("z", None, "")],
            ..sound.clone()
        },
        ChangeSet { replace: vec![sound.append[0].clone()], ..sound.clone() },
        ChangeSet { remove: vec!["b".into(), "z".into()], ..sound.clone() },
        ChangeSet { append: vec![entry("c", None, "3"), entry("c", None, "4")], ..sound.clone() },
        ChangeSet { append: vec![entry("c", None, "3"), entry("a", None, "4")], ..sound.clone() },
    ];
    for (at, changes) in refused.iter().enumerate() {
        let rewritten = session.store.rewrite(changes);
        assert!(
            matches!(rewritten, Err(StoreError::UnknownEntry(_) | StoreError::DuplicateEntry(_))),
            "change set {at}: {rewritten:?}"
        );
        assert_eq!(session.observe(), before, "change set {at}");
    }
    session.store.rewrite(&sound).expect("known ids");
    assert_eq!(session.observe().ids(), ["a", "c"]);
}

fn an_id_that_goes_is_not_free_in_the_same_change(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1")]);
    let changes = ChangeSet {
        remove: vec!["a".into()],
        append: vec![entry("a", None, "2")],
        ..ChangeSet::default()
    };
    let rewritten = session.store.rewrite(&changes);
    assert!(matches!(rewritten, Err(StoreError::DuplicateEntry(id)) if id == "a"));
}

fn an_id_that_went_is_free_afterwards(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1"), entry("b", None, "2")]);
    let changes = ChangeSet { remove: vec!["a".into()], ..ChangeSet::default() };
    session.store.rewrite(&changes).expect("a known id");
    session.store.append(&[entry("a", None, "again")]).expect("the id is free");
    let expected = [entry("b", None, "2"), entry("a", None, "again")];
    assert_eq!(session.observe().entries, expected);
}

fn an_empty_rewrite_writes_a_new_session(kind: Kind) {
    let mut session = Session::new(kind);
    session.store.rewrite(&ChangeSet::default()).expect("room");
    session.store.sync().expect("a device");
    let observed = session.observe();
    assert_eq!((observed.header, observed.lines.len()), (header(), 0));
}

fn a_title_changes_and_nothing_else(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1")]);
    let before = session.observe();
    let titled =
        Header { title: Some("Fix retry".into()), title_source: Some("user".into()), ..header() };
    let changes = ChangeSet { header: Some(titled.clone()), ..ChangeSet::default() };
    session.store.rewrite(&changes).expect("room");
    let mut after = session.observe();
    assert_eq!(std::mem::replace(&mut after.header, before.header.clone()), titled);
    assert_eq!(after, before);

    session.store.append(&[entry("b", None, "2")]).expect("room");
    assert_eq!(session.observe().header, titled);
    let untitled = ChangeSet { header: Some(header()), ..ChangeSet::default() };
    session.store.rewrite(&untitled).expect("room");
    assert_eq!(session.observe().header, header());
}

fn a_header_keeps_what_nobody_knows(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1")]);
    let line = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/elsewhere","hologram":{"n":12345678901234567890123}}"#;
    let strange = Header::from_line(line).expect("a header");
    let changes = ChangeSet { header: Some(strange.clone()), ..ChangeSet::default() };
    session.store.rewrite(&changes).expect("room");
    session.store.append(&[entry("b", None, "2")]).expect("room");
    let header = session.observe().header;
    assert_eq!(header, strange);
    assert!(header.to_line().contains("12345678901234567890123"));
}

fn a_session_never_goes_back_to_an_older_version(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "1")]);
    for (asked, expected) in [(7, 7), (3, 7)] {
        let header = Header { version: Some(asked), ..header() };
        let changes = ChangeSet { header: Some(header), ..ChangeSet::default() };
        session.store.rewrite(&changes).expect("room");
        assert_eq!(session.observe().header.version, Some(expected));
    }
}
