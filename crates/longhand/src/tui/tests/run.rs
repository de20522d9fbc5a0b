//! The parts of the loop that need no terminal.

use std::time::Duration;

use crate::tui::farewell;
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
