//! The list of sessions.

use std::time::{Duration, SystemTime};

use longhand_session::listing::{SessionRow, Status};
use longhand_session::place::SessionPlace;
use longhand_session::time::Timestamp;
use ratatui::layout::Rect;

use super::fixture::{key_event, text_of};
use crate::tui::picker::{Picker, Shown, Step};
use crate::tui::theme::{Palette, SymbolSet, Theme};

fn row(id: &str, title: Option<&str>, first: &str, hours: u64, status: Status) -> SessionRow {
    SessionRow {
        place: SessionPlace::File(format!("/s/{id}.jsonl").into()),
        id: id.into(),
        cwd: Some("/home/me/proj".into()),
        title: title.map(str::to_owned),
        parent: None,
        created: Timestamp::from_millis(0),
        modified: SystemTime::now() - Duration::from_hours(hours) - Duration::from_mins(1),
        bytes: 1_024 * (1 + hours),
        messages: 14,
        assistant_turns: 7,
        first_message: Some(first.to_owned()),
        all_text: first.to_owned(),
        status,
    }
}

fn rows() -> Vec<SessionRow> {
    vec![
        row(
            "a",
            Some("Move the footer into its own component"),
            "the footer flickers when the window is narrow",
            2,
            Status::Complete,
        ),
        row("b", None, "why does the first paint take 1.5 s?\u{1b}[31m", 30, Status::Interrupted),
        row("c", Some("底部栏 — 一个很长的标题"), "你好", 100, Status::Damaged),
    ]
}

fn picker() -> Picker {
    let mut picker = Picker::new(&Theme::new(Palette::Mono, SymbolSet::Unicode), "");
    picker.take(Shown::Folder, Ok(rows()), vec!["b".into()]);
    picker
}

fn screen(picker: &mut Picker, columns: u16, rows: u16) -> String {
    text_of(&picker.frame(Rect::new(0, 0, columns, rows)).buffer)
}

fn press(picker: &mut Picker, keys: &[&str]) -> Step {
    keys.iter().map(|key| picker.press(key_event(key))).last().expect("a key")
}

fn place(id: &str) -> SessionPlace {
    SessionPlace::File(format!("/s/{id}.jsonl").into())
}

#[test]
fn the_list_in_every_size() {
    for (columns, rows) in [(100, 20), (60, 14), (40, 10), (8, 4)] {
        insta::assert_snapshot!(
            format!("picker_{columns}x{rows}"),
            screen(&mut picker(), columns, rows)
        );
    }
}

#[test]
fn what_is_typed_searches_and_enter_opens_the_best_match() {
    let mut picker = picker();
    for key in ["f", "o", "o", "t"] {
        assert_eq!(press(&mut picker, &[key]), Step::Stay);
    }
    assert!(!screen(&mut picker, 100, 20).contains("first paint"));
    assert_eq!(press(&mut picker, &["enter"]), Step::Open(place("a")));
    assert_eq!(press(&mut picker, &["esc"]), Step::Stay, "the search goes first");
    assert!(screen(&mut picker, 100, 20).contains("first paint"));
    assert_eq!(press(&mut picker, &["esc"]), Step::Back);
}

#[test]
fn a_damaged_session_is_listed_and_not_opened() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &["down", "down", "down", "enter"]), Step::Stay);
    assert!(screen(&mut picker, 100, 20).contains("no readable header"));
    assert_eq!(press(&mut picker, &["up", "enter"]), Step::Open(place("b")));
}

#[test]
fn a_session_is_deleted_by_the_second_press_only() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &["ctrl+d"]), Step::Stay);
    assert!(screen(&mut picker, 100, 20).contains("trash"));
    assert_eq!(press(&mut picker, &["esc", "ctrl+d", "down", "ctrl+d"]), Step::Stay);
    assert_eq!(press(&mut picker, &["ctrl+d"]), Step::Delete(place("b"), "b".into()));
    assert_eq!(press(&mut picker, &["ctrl+t"]), Step::Pin("b".into(), true));
}

#[test]
fn another_scope_is_read_and_a_late_list_of_the_old_one_is_not_shown() {
    let mut picker = picker();
    assert_eq!(press(&mut picker, &["tab"]), Step::Load(Shown::All));
    picker.take(Shown::Folder, Ok(rows()), Vec::new());
    assert!(screen(&mut picker, 100, 20).contains("reading sessions"));
    picker.take(Shown::All, Err("cannot list sessions".into()), Vec::new());
    assert!(screen(&mut picker, 100, 20).contains("cannot list sessions"));
}

#[test]
fn the_chosen_session_stays_chosen_and_on_the_screen() {
    let mut picker = picker();
    press(&mut picker, &["down"]);
    let mut newer = rows();
    newer.insert(0, row("n", Some("Newer"), "x", 0, Status::Pending));
    picker.take(Shown::Folder, Ok(newer), Vec::new());
    assert!(screen(&mut picker, 60, 8).contains("▸ why does the first paint"));
    assert_eq!(press(&mut picker, &["ctrl+s", "enter"]), Step::Open(place("a")), "by size");
}
