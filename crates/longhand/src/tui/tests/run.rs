//! The parts of the loop that need no terminal.

use std::time::Duration;

use crossterm::event::Event;

use super::fixture::key_event;
use crate::tui::farewell;
use crate::tui::late_answers::LateAnswers;
use crate::tui::moment::Moment;
use crate::tui::pace::Pace;

fn at(millis: u64) -> Moment {
    Moment::new(Duration::from_millis(millis))
}

#[test]
fn frames_keep_their_distance_and_nothing_is_drawn_without_a_change() {
    let mut pace = Pace::default();
    assert_eq!(pace.due(), None);
    pace.changed(at(100));
    assert_eq!(pace.due(), Some(at(100)), "the first change is shown at once");
    pace.drawn(at(100));
    assert_eq!(pace.due(), None);
    pace.changed(at(101));
    pace.changed(at(110));
    assert_eq!(pace.due(), Some(at(100).after(Duration::from_micros(16_667))));
}

#[test]
fn only_the_last_of_many_sizes_is_drawn() {
    let mut pace = Pace::default();
    pace.resized(at(0));
    pace.resized(at(40));
    assert_eq!(pace.due(), Some(at(90)));
}

#[test]
fn the_farewell_is_the_end_of_the_last_answer_and_how_to_resume() {
    let long: String = (1..=25).map(|n| format!("line {n}\n")).collect();
    let text = farewell::text(&long, Some("abc"));
    assert!(text.starts_with("… 5 earlier lines\nline 6\n"), "{text}");
    assert!(text.ends_with("line 25\n\nResume: longhand --resume abc\n"), "{text}");
    assert_eq!(farewell::text("", Some("abc")), "Resume: longhand --resume abc\n");
    assert_eq!(farewell::text("hi\u{1b}[31m", None), "hi\n");
    assert_eq!(farewell::text("", None), "");
}

fn passed(keys: &[&str]) -> Vec<Event> {
    let mut late = LateAnswers::default();
    keys.iter().flat_map(|key| late.pass(Event::Key(key_event(key)))).collect()
}

#[test]
fn a_late_answer_of_the_terminal_is_not_typed() {
    let letters = |keys: &[&str]| -> Vec<Event> {
        keys.iter().map(|key| Event::Key(key_event(key))).collect()
    };
    let kitty = ["a", "alt+_", "G", "i", "=", "3", "1", ";", "O", "K", "alt+\\", "b"];
    assert_eq!(passed(&kitty), letters(&["a", "b"]));
    assert_eq!(passed(&["alt+P", ">", "|", "f", "alt+\\"]), []);
    let typed = ["alt+_", "a", "alt+P", "alt+_", "enter", "alt+\\"];
    assert_eq!(passed(&typed), letters(&typed), "keys come out as they went in");
    let endless: Vec<&str> = ["alt+_", "G"].into_iter().chain(["x"; 70]).collect();
    assert_eq!(passed(&endless), letters(&endless), "no answer is that long");
}

#[test]
fn what_is_no_key_ends_the_wait_for_a_late_answer() {
    let mut late = LateAnswers::default();
    let start = Event::Key(key_event("alt+_"));
    assert_eq!(late.pass(start.clone()), []);
    assert_eq!(late.pass(Event::Resize(80, 24)), [start, Event::Resize(80, 24)]);
}
