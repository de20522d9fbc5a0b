//! Cells, pages and lines, against tables and for any text.

mod generated;

use longhand_snapcompact::cells::{self, Spot};
use longhand_snapcompact::shape::{FontName, Grid};
use longhand_snapcompact::{
    DIM_OFF, DIM_ON, Family, Fonts, Glyphs, Variant, pages, paginate, wrap,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn cases(table: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(table).expect("JSON");
    table["cases"].as_array().expect("a table of cases").clone()
}

/// Glyphs in which wide characters take two cells, or one.
fn glyphs(case: &Value) -> Glyphs {
    let is_wide = case["wide"].as_bool().expect("whether wide characters are wide");
    Fonts::default().glyphs(if is_wide { FontName::Fixed8x13 } else { FontName::Silver })
}

fn narrow() -> Glyphs {
    Fonts::default().glyphs(FontName::Fixed8x13)
}

fn grid(cols: usize, rows: usize) -> Grid {
    Grid { cols, rows, columns: 1 }
}

fn number(case: &Value, key: &str) -> usize {
    case[key].as_u64().unwrap_or_else(|| panic!("{key} of {case}")) as usize
}

#[test]
fn wide_characters_take_two_cells() {
    for case in cases(include_str!("data/snapcompact/cells.json")) {
        let Some(c) = char::from_u32(number(&case, "cp") as u32) else { continue };
        let is_wide = case["wide"].as_bool().expect("a flag");
        assert_eq!(longhand_snapcompact::glyphs::is_wide(c), is_wide, "{c:?}");
        assert!(!is_wide || narrow().units(c) == 2, "{c:?}");
    }
}

#[test]
fn a_wide_character_does_not_begin_in_the_last_cell_of_a_line() {
    for (cursor, cols, units, expected) in [
        (0, 4, 1, Spot { cell: 0, units: 1, next: 1 }),
        (3, 4, 1, Spot { cell: 3, units: 1, next: 4 }),
        (2, 4, 2, Spot { cell: 2, units: 2, next: 4 }),
        (3, 4, 2, Spot { cell: 4, units: 2, next: 6 }),
        (7, 4, 2, Spot { cell: 8, units: 2, next: 10 }),
        (3, 1, 2, Spot { cell: 3, units: 2, next: 5 }),
    ] {
        assert_eq!(cells::place(cursor, cols, units), expected, "{units} cells at {cursor}");
    }
}

#[test]
fn pages_end_where_the_table_says() {
    for case in cases(include_str!("data/snapcompact/paginate.json")) {
        let text = case["text"].as_str().expect("a text");
        let grid = grid(number(&case, "cols"), number(&case, "rows"));
        let pages = paginate::paginate(text, grid, &glyphs(&case));
        assert_eq!(json!(pages), case["pages"], "{case}");
    }
}

#[test]
fn lines_break_where_the_table_says() {
    for case in cases(include_str!("data/snapcompact/wrap.json")) {
        let text = case["text"].as_str().expect("a text");
        let lines = wrap::wrap(text, number(&case, "width"), &glyphs(&case));
        assert_eq!(json!(lines), case["lines"], "{case}");
    }
}

#[test]
fn a_text_has_as_many_frames_as_the_table_says() {
    for case in cases(include_str!("data/snapcompact/frames_count.json")) {
        let variant: Variant = case["variant"].as_str().expect("a name").parse().expect("a shape");
        let shape = variant.shape(Family::Anthropic);
        let text = generated::text(number(&case["gen"], "n"), number(&case["gen"], "seed") as u64);
        let glyphs = Fonts::default().glyphs(shape.font);
        // A normalised text does not end in a space.
        let count = pages::frame_count(text.trim_end(), &shape, &glyphs).expect("a possible shape");
        assert_eq!(count, number(&case, "frames"), "{case}");
    }
}

#[test]
fn a_mark_stays_on_the_page_of_its_letter() {
    let text = "कि कु के";
    let pages = paginate::paginate(text, grid(3, 1), &narrow());
    assert_eq!(pages, ["कि ", "कु ", "के"]);
    assert_eq!(wrap::wrap("किकु", 2, &narrow()), ["कि", "कु"]);
}

#[test]
fn only_characters_that_find_a_cell_are_drawn() {
    let columns = Grid { cols: 4, rows: 2, columns: 2 };
    for (page, grid, expected) in [
        ("", grid(4, 1), 0),
        ("\u{e}ab\u{f}c", grid(4, 1), 3),
        ("abcdef", grid(4, 1), 4),
        ("abc你", grid(4, 1), 3),
        ("कि", grid(4, 1), 1),
        ("ab\ncd", columns, 4),
        ("\u{e}कि\u{f}\n", columns, 1),
        ("abcdefghijklmnopq", columns, 16),
    ] {
        assert_eq!(pages::drawn_chars(page, grid, &narrow()), expected, "{page:?}");
    }
}

/// Letters of every width, marks, ink switches, spaces and line ends.
fn any_text() -> impl Strategy<Value = String> {
    let letters = vec!['a', ' ', 'é', 'я', '\u{2588}', '你', '가', 'ि', '\u{301}', DIM_ON, DIM_OFF];
    prop::collection::vec(prop::sample::select(letters), 0..60).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn pages_are_all_of_the_text(text in any_text(), cols in 1..6_usize, rows in 1..4_usize) {
        let pages = paginate::paginate(&text, grid(cols, rows), &narrow());
        let has_cell = text.chars().any(|c| narrow().units(c) > 0);
        prop_assert_eq!(pages.concat(), if has_cell { text } else { String::new() });
    }

    #[test]
    fn a_page_is_full_or_the_last(text in any_text(), cols in 2..6_usize, rows in 1..4_usize) {
        let (grid, glyphs) = (grid(cols, rows), narrow());
        let all = paginate::paginate(&text, grid, &glyphs);
        for (at, page) in all.iter().enumerate() {
            let cells = page.chars().filter(|c| glyphs.units(*c) > 0).count();
            prop_assert_eq!(pages::drawn_chars(page, grid, &glyphs), cells, "{:?}", page);
            if let Some(next) = all.get(at + 1) {
                let first = next.chars().next().expect("a page has a character");
                let longer = format!("{page}{first}");
                prop_assert_eq!(pages::drawn_chars(&longer, grid, &glyphs), cells, "{:?}", longer);
            }
        }
    }

    #[test]
    fn wrapping_changes_only_white_space(text in any_text(), width in 1..8_usize) {
        let lines = wrap::wrap(&text, width, &narrow());
        let without = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(without(&lines.concat()), without(&text));
    }
}
