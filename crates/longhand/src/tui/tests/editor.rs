//! The editor: what keys make of text.

use crate::tui::editor::{Edit, Editor};
use crate::tui::look::{Detail, Look};
use crate::tui::theme::{Palette, SymbolSet, Theme};

fn typed(text: &str) -> Editor {
    let mut editor = Editor::default();
    for c in text.chars() {
        match c {
            '\n' => editor.apply(&Edit::NewLine),
            c => editor.apply(&Edit::Insert(c.to_string())),
        }
    }
    editor
}

fn apply(editor: &mut Editor, edits: &[Edit]) {
    for edit in edits {
        editor.apply(edit);
    }
}

/// Draws the editor and gives its rows and caret.
fn drawn(editor: &mut Editor, columns: usize, max_rows: usize) -> (Vec<String>, (usize, usize)) {
    let theme = Theme::new(Palette::Dark, SymbolSet::Unicode);
    let look = Look { theme: &theme, columns, detail: Detail::Collapsed, phase: 0 };
    let (rows, caret) = editor.view("❯", max_rows, &look);
    let text = |row: &crate::tui::wrap::Row| row.spans.iter().map(|s| s.content.as_ref()).collect();
    (rows.iter().map(text).collect(), caret)
}

#[test]
fn the_keys_of_emacs_kill_and_yank() {
    let mut editor = typed("one two three");
    apply(&mut editor, &[Edit::KillWordBack, Edit::KillWordBack, Edit::LineStart, Edit::Yank]);
    assert_eq!(editor.text(), "two threeone ");
    apply(&mut editor, &[Edit::KillToEnd, Edit::Yank, Edit::YankPop]);
    assert_eq!(editor.text(), "two threetwo three");
}

#[test]
fn undo_takes_back_a_word_that_was_typed_and_redo_makes_it_again() {
    let mut editor = typed("one two");
    editor.apply(&Edit::Undo);
    assert_eq!(editor.text(), "one ");
    apply(&mut editor, &[Edit::Undo, Edit::Undo]);
    assert_eq!(editor.text(), "");
    apply(&mut editor, &[Edit::Redo, Edit::Redo, Edit::Redo]);
    assert_eq!(editor.text(), "one two");
}

#[test]
fn a_cluster_is_one_step_however_many_code_points_it_has() {
    let mut editor = typed("a👩‍👩‍👧‍👦e\u{301}");
    apply(&mut editor, &[Edit::DeleteBack]);
    assert_eq!(editor.text(), "a👩‍👩‍👧‍👦");
    apply(&mut editor, &[Edit::Left, Edit::Insert("x".into())]);
    assert_eq!(editor.text(), "ax👩‍👩‍👧‍👦");
}

#[test]
fn a_combining_character_joins_the_cluster_before_it() {
    let mut editor = typed("cafe");
    editor.apply(&Edit::Insert("\u{301}".into()));
    editor.apply(&Edit::DeleteBack);
    assert_eq!(editor.text(), "caf");
}

#[test]
fn text_wraps_between_words_and_the_caret_follows() {
    let mut editor = typed("alpha beta gamma");
    let (rows, caret) = drawn(&mut editor, 14, 5);
    assert_eq!(rows, ["❯ alpha beta ", "  gamma"]);
    assert_eq!(caret, (7, 1));
}

#[test]
fn wide_clusters_wrap_whole() {
    let mut editor = typed("日本語日本語");
    let (rows, caret) = drawn(&mut editor, 10, 5);
    assert_eq!(rows, ["❯ 日本語", "  日本語"]);
    assert_eq!(caret, (8, 1));
}

#[test]
fn only_rows_around_the_caret_are_drawn() {
    let mut editor = typed("1\n2\n3\n4");
    assert_eq!(drawn(&mut editor, 20, 2).0, ["  3", "  4"]);
    apply(&mut editor, &[Edit::Up, Edit::Up, Edit::Up]);
    assert_eq!(drawn(&mut editor, 20, 2).0, ["❯ 1", "  2"]);
}

#[test]
fn up_and_down_keep_the_column_across_short_rows() {
    let mut editor = typed("long line\nx\nlong line");
    drawn(&mut editor, 40, 5);
    apply(&mut editor, &[Edit::Up, Edit::Up, Edit::Insert("!".into())]);
    assert_eq!(editor.text(), "long line!\nx\nlong line");
}

#[test]
fn history_sets_the_draft_aside_and_brings_it_back() {
    let mut editor = typed("first");
    editor.take();
    apply(&mut editor, &[Edit::Insert("second".into())]);
    editor.take();
    editor.set_text("draft");
    drawn(&mut editor, 40, 5);
    apply(&mut editor, &[Edit::Up, Edit::Up]);
    assert_eq!(editor.text(), "first");
    apply(&mut editor, &[Edit::Up, Edit::Down, Edit::Down]);
    assert_eq!(editor.text(), "draft");
}

#[test]
fn history_keeps_no_repetition_and_nothing_that_begins_with_a_blank() {
    let mut editor = Editor::default();
    for text in ["kept", "kept", " secret"] {
        editor.set_text(text);
        editor.take();
    }
    drawn(&mut editor, 40, 5);
    apply(&mut editor, &[Edit::Up]);
    assert_eq!(editor.text(), "kept");
    apply(&mut editor, &[Edit::Up]);
    assert_eq!(editor.text(), "kept");
}

#[test]
fn a_long_paste_is_one_piece_and_expands_when_it_is_taken() {
    let long = "line\n".repeat(123);
    let mut editor = typed("see ");
    editor.paste(&long);
    assert_eq!(drawn(&mut editor, 60, 5).0, ["❯ see [Paste #1, +123 lines]"]);
    apply(&mut editor, &[Edit::Insert("!".into())]);
    assert_eq!(editor.take(), format!("see {long}!"));
    editor.paste(&"x".repeat(1_234));
    assert_eq!(drawn(&mut editor, 60, 5).0, ["❯ [Paste #1, 1234 chars]"]);
    editor.apply(&Edit::DeleteBack);
    assert!(editor.is_empty());
}

#[test]
fn a_short_paste_is_text_whose_line_ends_do_not_send() {
    let mut editor = Editor::default();
    editor.paste("a\r\nb\rc\u{1b}[31m");
    assert_eq!(editor.text(), "a\nb\nc[31m");
}

#[test]
fn a_backslash_before_enter_asks_for_a_line_end() {
    let mut editor = typed("a\\");
    assert!(editor.take_backslash());
    assert!(!editor.take_backslash());
    assert_eq!(editor.text(), "a");
}

#[test]
fn jumping_goes_to_the_next_occurrence() {
    let mut editor = typed("abcabc");
    apply(&mut editor, &[Edit::LineStart, Edit::JumpTo('c'), Edit::Insert("!".into())]);
    assert_eq!(editor.text(), "ab!cabc");
}

#[test]
fn words_and_signs_are_stops_of_word_moves() {
    let mut editor = typed("foo.bar  baz");
    let mut stops = Vec::new();
    for _ in 0..4 {
        editor.apply(&Edit::WordLeft);
        let mut probe = Editor::with_text(&editor.text());
        std::mem::swap(&mut probe, &mut editor);
        probe.apply(&Edit::Insert("|".into()));
        stops.push(probe.text());
        probe.apply(&Edit::Undo);
        editor = probe;
    }
    assert_eq!(stops, ["foo.bar  |baz", "foo.|bar  baz", "foo|.bar  baz", "|foo.bar  baz"]);
}
