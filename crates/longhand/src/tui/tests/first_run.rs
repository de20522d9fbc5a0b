//! The first screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::fixture::{key_event, text_of};
use crate::exit::Exit;
use crate::tui::app::Press;
use crate::tui::first_run::State;
use crate::tui::theme::{Palette, SymbolSet};
use crate::tui::{Choice, FirstRunOptions, KeyState};

fn state(is_set: bool) -> State {
    State::new(FirstRunOptions {
        palette: Palette::Dark,
        symbols: SymbolSet::Unicode,
        version: "0.1.0".into(),
        place: "~/proj · ⑂ main ?2".into(),
        draft: String::new(),
        keys: Box::new(move || {
            ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"]
                .map(|variable| KeyState { variable: variable.into(), is_set })
                .into()
        }),
        sessions: 3,
    })
}

fn screen(state: &mut State, columns: u16, rows: u16) -> String {
    text_of(&state.frame(Rect::new(0, 0, columns, rows)).buffer)
}

fn press(state: &mut State, keys: &[&str]) -> Option<Choice> {
    keys.iter().find_map(|key| state.press(Press::Key(key_event(key))))
}

fn type_text(state: &mut State, text: &str) {
    for c in text.chars() {
        state.press(Press::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
    }
}

#[test]
fn the_first_screen_in_every_size() {
    for (columns, rows) in [(100, 30), (60, 20), (40, 12), (200, 60)] {
        let screen = screen(&mut state(false), columns, rows);
        insta::assert_snapshot!(format!("first_run_{columns}x{rows}"), screen);
    }
}

#[test]
fn each_choice_has_its_digit() {
    assert_eq!(press(&mut state(false), &["1"]), Some(Choice::Demo));
    assert_eq!(press(&mut state(true), &["2"]), Some(Choice::Key));
    assert_eq!(press(&mut state(false), &["r"]), None);
    let mut resume = state(false);
    assert_eq!(press(&mut resume, &["4"]), None);
    assert!(screen(&mut resume, 100, 30).contains("longhand --resume"));
}

#[test]
fn a_local_server_is_named_by_its_url() {
    let mut state = state(false);
    assert_eq!(press(&mut state, &["3"]), None);
    type_text(&mut state, "localhost:8080");
    assert_eq!(press(&mut state, &["enter"]), None);
    assert!(screen(&mut state, 100, 30).contains("a URL begins with http://"));
    press(&mut state, &["ctrl+u"]);
    type_text(&mut state, "http://localhost:8080/v1");
    let url = "http://localhost:8080/v1".to_owned();
    assert_eq!(press(&mut state, &["enter"]), Some(Choice::Server(url)));
}

#[test]
fn a_message_without_a_model_is_kept_and_offers_the_demo() {
    let mut state = state(false);
    press(&mut state, &["esc"]);
    type_text(&mut state, "fix the tests");
    assert_eq!(press(&mut state, &["enter"]), None);
    let shown = screen(&mut state, 100, 30);
    assert!(shown.contains("❯ fix the tests") && shown.contains("1 sends this to the demo"));
    assert_eq!(press(&mut state, &["esc", "1"]), Some(Choice::Demo));
}

#[test]
fn the_program_can_be_left() {
    for keys in [&["ctrl+c"][..], &["ctrl+d"], &["esc", "ctrl+d"]] {
        assert_eq!(press(&mut state(false), keys), Some(Choice::Leave(Exit::Success)));
    }
}
