//! What was appended is there, all of it or none.

use longhand_session::{EntryId, StoreError};

use crate::{Kind, Session, entry, header, promises};

promises! {
    a_new_session_has_its_header_and_no_entries
    what_is_appended_is_read_in_any_order
    a_refused_append_adds_nothing
    an_unknown_id_is_named
    an_append_of_nothing_is_no_failure
    a_long_text_with_odd_characters_survives
    a_receipt_tells_the_length
}

fn a_new_session_has_its_header_and_no_entries(kind: Kind) {
    let mut session = Session::new(kind);
    let opened = session.store.open().expect("a new session");
    assert_eq!(opened.header, header());
    assert!(opened.rows.is_empty() && opened.damage.is_none() && !opened.needs_rewrite);
    assert_eq!(session.store.lines().count(), 0);
    assert!(session.store.read(&[]).expect("nothing").is_empty());
}

fn what_is_appended_is_read_in_any_order(kind: Kind) {
    let (a, b) = (entry("a", None, "one"), entry("b", Some("a"), "two"));
    let mut session = Session::with(kind, &[a.clone(), b.clone()]);
    let both = ["b", "a", "b"].map(EntryId::from);
    assert_eq!(session.store.read(&both).expect("both"), [b.clone(), a.clone(), b.clone()]);
    assert_eq!(session.observe().entries, [a, b]);
}

fn a_refused_append_adds_nothing(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "one")]);
    let before = session.observe();
    for refused in [
        [entry("b", None, "x"), entry("b", None, "y")],
        [entry("b", None, "x"), entry("a", None, "y")],
    ] {
        let appended = session.store.append(&refused);
        assert!(matches!(appended, Err(StoreError::DuplicateEntry(id)) if id == refused[1].id));
        assert_eq!(session.observe(), before);
    }
    session.store.append(&[entry("b", None, "x")]).expect("the id is free");
}

fn an_unknown_id_is_named(kind: Kind) {
    let unknown = |session: &Session| {
        let read = session.store.read(&["a".into(), "z".into()]);
        assert!(matches!(read, Err(StoreError::UnknownEntry(id)) if id == "z"));
    };
    unknown(&Session::with(kind, &[entry("a", None, "one")]));
    let read = Session::new(kind).store.read(&["z".into()]);
    assert!(matches!(read, Err(StoreError::UnknownEntry(id)) if id == "z"));
}

fn an_append_of_nothing_is_no_failure(kind: Kind) {
    let mut session = Session::with(kind, &[entry("a", None, "one")]);
    let before = session.observe();
    assert!(session.store.append(&[]).expect("nothing to do").adopted.is_empty());
    assert_eq!(session.observe(), before);
}

fn a_long_text_with_odd_characters_survives(kind: Kind) {
    let text = "zwei \u{1F642} \"\\ \0 \u{2028} \r\n\t \u{7f}".repeat(20_000);
    let long = entry("a", None, &text);
    assert_eq!(Session::with(kind, std::slice::from_ref(&long)).observe().entries, [long]);
}

fn a_receipt_tells_the_length(kind: Kind) {
    let mut session = Session::new(kind);
    let first = session.store.append(&[entry("a", None, "one")]).expect("room").bytes;
    let line = entry("b", None, "two").to_line().len() as u64 + 1;
    let second = session.store.append(&[entry("b", None, "two")]).expect("room").bytes;
    let expected = if kind == Kind::Memory { 0 } else { line };
    assert_eq!(second - first, expected);
}
