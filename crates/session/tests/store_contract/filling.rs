//! A session that goes from one store into another is the same there: entries, what nobody knows, and what is no entry.

use longhand_session::StoreError;
use longhand_session::store::ChangeSet;

use crate::{KINDS, Kind, Observed, Session, entry, promises};

/// Lines with everything that only merely keeps its place, or that nobody knows.
const LINES: [&str; 6] = [
    r#"{"note":"no id","n":1.0e2}"#,
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"hi","timestamp":1,"mood":"\ud83d"},"seen":[1,{}]}"#,
    r#"{"type":"hologram","id":"h","parentId":"a","big":123456789012345678901234567890}"#,
    r#"{"type":"title","id":"t","v":1}"#,
    r#"{"id":"r","type":"message","parentId":"h","message":{"role":"oracle","x":0.10}}"#,
    r#"{"type":"custom","id":"c","parentId":7,"customType":"note"}"#,
];

promises! {
    lines_survive_from_every_store_into_this_one
    rewrites_leave_objects_without_an_id_in_their_places
    a_session_with_lines_is_not_filled_again
    a_line_that_is_no_object_fills_nothing
    of_two_lines_with_one_id_the_later_owns_it
}

fn owned(lines: &[&str]) -> longhand_session::store::Lines<'static> {
    let lines: Vec<_> = lines.iter().map(|line| Ok((*line).to_owned())).collect();
    Box::new(lines.into_iter())
}

fn filled(kind: Kind, lines: &[&str]) -> Session {
    let mut session = Session::new(kind);
    session.store.fill(owned(lines)).expect("a new session");
    session
}

fn lines_survive_from_every_store_into_this_one(kind: Kind) {
    let expected: Vec<serde_json::Value> = LINES
        .iter()
        .map(|line| serde_json::from_str(&line.replace(r"\ud83d", "\u{fffd}")).expect("JSON"))
        .collect();
    for from in KINDS {
        let mut source = filled(*from, &LINES);
        let mut target = Session::new(kind);
        target.store.fill(source.store.lines()).expect("a new session");
        let texts: Vec<String> = target.store.lines().map(|line| line.expect("a line")).collect();
        let values: Vec<serde_json::Value> = texts
            .iter()
            .map(|line| serde_json::from_str(&line.replace(r"\ud83d", "\u{fffd}")).expect("JSON"))
            .collect();
        assert_eq!(values, expected, "from {from:?}");
        assert!(texts[1].contains(r"\ud83d"), "the half of a pair is kept: {}", texts[1]);
        assert!(texts[2].contains("123456789012345678901234567890"));
        assert_eq!(ids(&mut source), ids(&mut target), "from {from:?}");
    }
}

fn ids(session: &mut Session) -> Vec<String> {
    let rows = session.store.open().expect("a session").rows;
    assert_eq!(rows.len(), 4);
    rows.iter().map(|row| row.id.as_str().to_owned()).collect()
}

fn rewrites_leave_objects_without_an_id_in_their_places(kind: Kind) {
    let mut session = filled(kind, &[LINES[0], LINES[2], LINES[3], LINES[5]]);
    let changes = ChangeSet {
        remove: vec!["h".into()],
        append: vec![entry("z", None, "1")],
        ..ChangeSet::default()
    };
    session.store.rewrite(&changes).expect("a known id");
    session.store.append(&[entry("y", None, "2")]).expect("room");
    let observed = session.observe();
    assert_eq!(observed.ids(), ["c", "z", "y"]);
    let types: Vec<_> = observed.lines.iter().map(|line| line["type"].as_str()).collect();
    let expected = [None, Some("title"), Some("custom"), Some("message"), Some("message")];
    assert_eq!(types, expected);
}

fn a_session_with_lines_is_not_filled_again(kind: Kind) {
    for lines in [&LINES[..1], &LINES[1..2]] {
        let mut session = filled(kind, lines);
        let again = session.store.fill(owned(&LINES));
        assert!(matches!(again, Err(StoreError::Filled)), "{again:?}");
        assert_eq!(session.store.lines().count(), 1);
    }
}

fn a_line_that_is_no_object_fills_nothing(kind: Kind) {
    for broken in ["{torn", "[1]", "7", ""] {
        let mut session = Session::new(kind);
        let filled = session.store.fill(owned(&[LINES[1], broken]));
        assert!(matches!(filled, Err(StoreError::Line(_))), "`{broken}`: {filled:?}");
        session.store.fill(owned(&LINES[5..])).expect("nothing was written");
        assert_eq!(Observed::of(&mut *session.store).ids(), ["c"]);
    }
}

fn of_two_lines_with_one_id_the_later_owns_it(kind: Kind) {
    let (first, second) = (entry("a", None, "first").to_line(), entry("a", None, "2nd").to_line());
    let mut session = filled(kind, &[&first, &second]);
    session.reopen();
    let rows = session.store.open().expect("a session").rows;
    assert_eq!((rows.len(), rows[1].id.as_str()), (2, "a"));
    let read = session.store.read(&[rows[0].id.clone(), "a".into()]).expect("both");
    assert_eq!(*read[1], *entry("a", None, "2nd"));
    assert_eq!(read[0].message(), entry("a", None, "first").message());
}
