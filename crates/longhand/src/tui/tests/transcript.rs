//! Scrolling: what the user reads stays where it is.

use serde_json::json;

use super::fixture::Told;
use crate::tui::render::transcript::Scroll;

fn long() -> Told {
    let mut told = Told::new();
    for n in 0..200 {
        told.user(&format!("question {n}"));
        told.answer(&format!("answer {n}"));
    }
    told.screen(60, 20);
    told
}

/// The rows of the transcript.
fn transcript(told: &mut Told) -> String {
    let screen = told.screen(60, 20);
    screen.lines().take(16).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_end_is_followed_until_the_user_scrolls_up() {
    let mut told = long();
    assert!(told.screen(60, 20).contains("answer 199"));
    told.user("one more");
    assert!(told.screen(60, 20).contains("one more"));
    told.key("pgup");
    let read = transcript(&mut told);
    told.user("unseen");
    told.answer("also unseen");
    let after = transcript(&mut told);
    assert_eq!(after, read, "nothing that comes moves the view");
    assert!(told.screen(60, 20).contains("↓ 2 new"));
}

#[test]
fn scrolling_down_to_the_end_follows_again() {
    let mut told = long();
    told.key("pgup");
    assert_ne!(told.app.transcript.scroll(), Scroll::Follow);
    told.key("pgdn");
    told.key("pgdn");
    assert_eq!(told.app.transcript.scroll(), Scroll::Follow);
}

#[test]
fn the_beginning_and_the_end_are_one_key_away() {
    let mut told = long();
    told.key("ctrl+home");
    assert!(told.screen(60, 20).contains("question 0"));
    told.key("ctrl+end");
    assert!(told.screen(60, 20).contains("answer 199"));
}

#[test]
fn pages_up_and_down_are_inverse() {
    let mut told = long();
    for _ in 0..5 {
        told.key("pgup");
    }
    let there = transcript(&mut told);
    told.key("pgup");
    told.key("pgdn");
    assert_eq!(transcript(&mut told), there);
}

#[test]
fn a_transcript_that_fits_does_not_scroll() {
    let mut told = Told::new();
    told.user("short");
    told.screen(60, 20);
    told.key("pgup");
    assert_eq!(told.app.transcript.scroll(), Scroll::Follow);
}

#[test]
fn expanding_one_item_leaves_the_others_collapsed() {
    let mut told = Told::new();
    let output: String = (1..=8).map(|n| format!("out {n}\n")).collect();
    for _ in 0..2 {
        let id = told.call("", "bash", json!({"command": "seq 8"}));
        told.result(&id, "bash", &output, json!({"exitCode": 0}));
    }
    told.screen(60, 40);
    told.key("alt+k");
    told.key("ctrl+o");
    let screen = told.screen(60, 40);
    assert_eq!(screen.matches("earlier lines").count(), 1);
    assert_eq!(screen.matches("out 1\n").count(), 1);
}

#[test]
fn what_is_on_the_screen_is_all_that_is_laid_out() {
    let mut told = Told::new();
    for n in 0..5_000 {
        told.user(&format!("question {n}"));
    }
    told.screen(60, 20);
    let laid_out = told.app.transcript.laid_out();
    assert!(laid_out <= 20, "{laid_out} items were laid out for a screen of 20 rows");
}
