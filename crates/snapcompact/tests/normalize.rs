//! Text reduced to printable characters, against tables and by properties.

use longhand_snapcompact::normalize::{
    Indent, is_cjk_heavy, normalize, normalize_for, normalize_indented,
};
use longhand_snapcompact::shape::FontName;
use longhand_snapcompact::{Fonts, dim};
use proptest::prelude::*;
use serde_json::Value;

fn cases(table: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(table).expect("JSON");
    table["cases"].as_array().expect("a table of cases").clone()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} of {case}"))
}

/// Rows whose expectation would lose what the text says, and what is printed instead: the text, its graphics and its fallbacks.
/// A sign keeps its stroke, flags are letters, and the colour of a picture goes with the picture.
const SAYS_MORE: &[(&str, &str, &str, u64, u64)] = &[
    ("math", "8x13", "∀x∈R ∃y ≤ ≥ != ≈ ∞ ∑ ∏ √ ∫ ∂ ∇ ⊂ ⊕", 33, 0),
    ("math", "5x8", "∀x∈R ∃y ≤ ≥ != ? ∞ ∑ ∏ √ ∫ ∂ ∇ ⊂ ?", 33, 2),
    ("math", "silver", "∀x∈R ∃y ≤ ≥ != ? ∞ ∑ ∏ √ ∫ ∂ ∇ ⊂ ?", 33, 2),
    ("emoji flags", "8x13", "US JP flag", 10, 0),
    ("emoji flags", "5x8", "US JP flag", 10, 0),
    ("emoji flags", "silver", "US JP flag", 10, 0),
    ("emoji skin", "8x13", "ok", 3, 0),
    ("emoji skin", "5x8", "ok", 3, 0),
    ("emoji skin", "silver", "ok", 3, 0),
];

/// What the font of the table has, beyond Latin-1.
fn coverage(case: &Value) -> String {
    ["supported_primary", "supported_fallback"]
        .map(|key| case[key].as_str().unwrap_or_default())
        .concat()
}

#[test]
fn text_is_normalised_as_the_table_says() {
    for case in cases(include_str!("data/snapcompact/normalize.json")) {
        // Halves of surrogate pairs do not reach text that is Unicode.
        let Some(input) = case["input"].as_str() else { continue };
        let coverage = coverage(&case);
        let done = normalize_for(input, &|c| coverage.contains(c), Indent::Dropped);
        let own = SAYS_MORE.iter().find(|row| case["name"] == row.0 && case["font"] == row.1);
        let expected = match own {
            Some((_, _, printed, graphics, fallbacks)) => {
                (*printed, Some(*graphics), Some(*fallbacks))
            }
            None => (
                text(&case, "output"),
                case["total_graphics"].as_u64(),
                case["fallback_count"].as_u64(),
            ),
        };
        let counts = (Some(done.graphics as u64), Some(done.fallbacks as u64));
        assert_eq!((done.text.as_str(), counts.0, counts.1), expected, "{case}");
        if own.is_none() {
            assert_eq!(done.is_safe(), case["safe"] == true, "{case}");
        }
        assert_eq!(is_cjk_heavy(input), case["cjk_heavy"] == true, "{case}");
    }
}

#[test]
fn a_long_run_of_one_thing_has_one_result() {
    let glyphs = Fonts::default().glyphs(FontName::Fixed8x13);
    for (unit, printed) in [
        ("\u{1b}[", ""),
        ("\u{1b}]", ""),
        ("\u{1b}", ""),
        ("\u{1b}[0;", ""),
        ("\u{9b}\u{1b}", ""),
        (" ", ""),
        ("\n", ""),
        ("\u{200b}", ""),
        ("\u{301}", ""),
        ("🎉", ""),
        ("█", ""),
    ] {
        assert_eq!(normalize(&unit.repeat(500_000), &glyphs).text, printed, "{unit:?}");
    }
    for (unit, printed) in [("a", "a"), ("é", "é"), ("漢", "漢"), ("ế", "e"), ("…", "...")]
    {
        let done = normalize(&unit.repeat(300_000), &glyphs);
        assert!(done.text == printed.repeat(300_000), "{unit:?}");
        assert_eq!((done.graphics, done.fallbacks), (300_000, 0), "{unit:?}");
    }
}

#[test]
fn scripts_keep_the_marks_without_which_they_cannot_be_read() {
    let glyphs = Fonts::default().glyphs(FontName::Fixed8x13);
    for text in ["नमस्ते", "สวัสดี", "مَرْحَبًا", "שָׁלוֹם", "வணக்கம்"]
    {
        assert_eq!(normalize(text, &glyphs).text, text);
    }
    assert_eq!(normalize("e\u{301} ế й 1\u{fe0f}\u{20e3}", &glyphs).text, "e e й 1");
}

#[test]
fn function_words_are_dimmed_as_the_table_says() {
    for case in cases(include_str!("data/snapcompact/dim_stopwords.json")) {
        assert_eq!(dim::dim_stopwords(text(&case, "text")), text(&case, "out"));
    }
}

#[test]
fn indentation_is_kept_in_pairs_where_it_is_asked_for() {
    let glyphs = Fonts::default().glyphs(FontName::Fixed8x13);
    let done = normalize_indented("if x:\n    y\n\tz\n   w\n            v", &glyphs, Indent::Kept);
    assert_eq!(done.text, "if x:█    y█  z█  w█        v");
    assert_eq!(normalize_indented(&done.text, &glyphs, Indent::Kept).text, done.text);
}

proptest! {
    #[test]
    fn normalised_text_normalises_to_itself(text in "(\\PC|[ \\t\\n\\r\\x00-\\x1f\\x7f-\\x9f]|\\x1b[\\[\\]P][0-9;]*m?|[\\u{300}-\\u{36f}]|[\\u{900}-\\u{e7f}]|[\\u{2000}-\\u{2bff}]|[\\u{1f000}-\\u{1ffff}]){0,60}") {
        for font in [FontName::Fixed8x13, FontName::Silver] {
            let glyphs = Fonts::default().glyphs(font);
            for indent in [Indent::Dropped, Indent::Kept] {
                let once = normalize_indented(&text, &glyphs, indent);
                prop_assert_eq!(&normalize_indented(&once.text, &glyphs, indent).text, &once.text);
                prop_assert!(once.fallbacks <= once.graphics);
            }
        }
    }
    #[test]
    fn any_text_normalises_to_itself_and_never_grows_in_fallbacks(text in prop::collection::vec(any::<char>(), 0..40)) {
        let text: String = text.into_iter().collect();
        let glyphs = Fonts::default().glyphs(FontName::Fixed6x12);
        let once = normalize(&text, &glyphs);
        let twice = normalize(&once.text, &glyphs);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(twice.fallbacks, 0);
    }
}
