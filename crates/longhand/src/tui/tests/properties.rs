//! What holds for every text, width and order of events.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::fixture::Told;
use crate::tui::editor::{Edit, Editor};
use crate::tui::look::{Detail, Look};
use crate::tui::markdown::{self, Layout};
use crate::tui::theme::{Palette, SymbolSet, Theme};
use crate::tui::wrap::{self, Indent, Row};
use crate::tui::{sanitize, width};

fn theme() -> Theme {
    Theme::new(Palette::Dark, SymbolSet::Unicode)
}

/// Text with the clusters that layouts get wrong.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,12}",
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("日本語".to_owned()),
        Just("👩‍👩‍👧‍👦".to_owned()),
        Just("🇳🇴".to_owned()),
        Just("e\u{301}\u{302}".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("\t".to_owned()),
        Just("**x** `y` ".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n> ".to_owned()),
        Just("\n| a | b |\n|---|---|\n| c | ".to_owned()),
        Just("\n```\n".to_owned()),
        "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn widest(rows: &[Row]) -> usize {
    rows.iter().map(wrap::row_columns).max().unwrap_or(0)
}

fn content(rows: &[Row]) -> String {
    rows.iter().flat_map(|row| row.spans.iter().map(|span| span.content.as_ref())).collect()
}

proptest! {
    #[test]
    fn no_row_is_wider_than_the_area(text in text(), columns in 2_usize..90) {
        let clean = sanitize::text(&text);
        let rows = wrap::wrap_text(&clean, theme().style(crate::tui::theme::Role::Text), columns, &Indent::default());
        prop_assert!(widest(&rows) <= columns);
        prop_assert!(widest(&markdown::rows(&text, columns, &theme())) <= columns);
    }

    #[test]
    fn no_cluster_is_split_and_nothing_but_blanks_is_lost(text in text(), columns in 2_usize..40) {
        let clean = sanitize::text(&text);
        let rows = wrap::wrap_text(&clean, theme().style(crate::tui::theme::Role::Text), columns, &Indent::default());
        let solid = |text: &str| -> Vec<String> {
            let clusters = text.split('\n').flat_map(|line| line.graphemes(true));
            let solid = clusters.map(|cluster| cluster.trim_end_matches(' '));
            solid.filter(|cluster| !cluster.is_empty()).map(str::to_owned).collect()
        };
        let drawn: Vec<String> = rows.iter().flat_map(|row| solid(&content(std::slice::from_ref(row)))).collect();
        prop_assert_eq!(drawn, solid(&clean));
    }

    #[test]
    fn no_control_character_is_drawn(text in "\\PC{0,20}[\\x00-\\x1f\\x7f-\\x9f]{0,6}\\PC{0,20}") {
        prop_assert!(!sanitize::text(&text).chars().any(|c| c.is_control() && c != '\n'));
        let rows = markdown::rows(&text, 40, &theme());
        prop_assert!(!content(&rows).contains(char::is_control));
    }

    #[test]
    fn cut_text_fits_and_is_a_start(text in text(), columns in 0_usize..20) {
        let line = sanitize::one_line(&text);
        let cut = width::cut(&line, columns);
        prop_assert!(line.starts_with(cut));
        prop_assert!(width::of(cut) <= columns);
        prop_assert!(width::of(&width::fit(&line, columns)) <= columns);
        prop_assert!(width::of(&width::fit_end(&line, columns)) <= columns);
    }

    #[test]
    fn a_layout_that_grew_never_panics(text in text(), columns in 2_usize..60) {
        let mut layout = Layout::default();
        for (end, _) in text.char_indices() {
            layout.update(&text[..end], columns, &theme());
            prop_assert!(widest(layout.rows()) <= columns);
        }
    }

    #[test]
    fn every_screen_is_drawn(texts in prop::collection::vec(text(), 0..6), draft in text(), columns in 1_u16..120, rows in 1_u16..40) {
        let mut told = Told::new();
        for text in &texts {
            told.user(text);
            told.answer(text);
        }
        told.paste(&draft);
        told.key("ctrl+o");
        let screen = told.screen(columns, rows);
        prop_assert_eq!(screen.lines().count(), usize::from(rows));
    }

    #[test]
    fn nothing_that_comes_moves_what_is_read(pages in 1_usize..6, texts in prop::collection::vec(text(), 1..6)) {
        let mut told = Told::new();
        for n in 0..60 {
            told.user(&format!("question {n}"));
        }
        told.screen(50, 20);
        for _ in 0..pages {
            told.key("pgup");
        }
        let read = |told: &mut Told| {
            told.screen(50, 20).lines().take(16).map(str::to_owned).collect::<Vec<_>>()
        };
        let before = read(&mut told);
        for text in &texts {
            told.answer(text);
        }
        prop_assert_eq!(read(&mut told), before);
    }

    #[test]
    fn edits_never_panic_and_undo_brings_everything_back(edits in prop::collection::vec(edit(), 0..60), columns in 4_usize..30) {
        let mut editor = Editor::with_text("start");
        let theme = theme();
        let look = Look { theme: &theme, columns, detail: Detail::Collapsed, phase: 0 };
        for edit in &edits {
            editor.apply(edit);
            let (rows, (x, y)) = editor.view("❯", 6, &look);
            prop_assert!(widest(&rows) <= columns);
            prop_assert!(x <= columns && y < rows.len());
        }
        for _ in 0..=edits.len() + 1 {
            editor.apply(&Edit::Undo);
        }
        prop_assert_eq!(editor.text(), "");
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        text().prop_map(Edit::Insert),
        Just(Edit::NewLine),
        Just(Edit::Left),
        Just(Edit::Right),
        Just(Edit::Up),
        Just(Edit::Down),
        Just(Edit::WordLeft),
        Just(Edit::WordRight),
        Just(Edit::LineStart),
        Just(Edit::LineEnd),
        Just(Edit::DeleteBack),
        Just(Edit::DeleteForward),
        Just(Edit::KillToEnd),
        Just(Edit::KillToStart),
        Just(Edit::KillWordBack),
        Just(Edit::KillWordForward),
        Just(Edit::Yank),
        Just(Edit::YankPop),
        Just(Edit::JumpTo('a')),
    ]
}
