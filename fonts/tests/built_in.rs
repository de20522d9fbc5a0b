//! What holds of every font that is compiled in.

use std::collections::BTreeSet;

use longhand_fonts::{BitmapFont, BuiltIn};

/// The wide font stays in memory once it is used.
const MAX_UNPACKED_BYTES: usize = 2 << 20;

#[test]
fn every_font_has_ascii_and_latin_1() {
    for built_in in BuiltIn::ALL {
        let font = built_in.font();
        let missing: Vec<char> =
            (' '..='~').chain('\u{A1}'..='\u{FF}').filter(|c| !font.covers(*c)).collect();
        // The wide font has no format characters, and the soft hyphen is one.
        let expected: &[char] = if built_in == BuiltIn::Wide { &['\u{AD}'] } else { &[] };
        assert_eq!(missing, expected, "{built_in:?}");
    }
}

#[test]
fn characters_of_a_font_rise_and_each_has_a_glyph_of_its_height() {
    for built_in in BuiltIn::ALL {
        let font = built_in.font();
        let chars: Vec<char> = font.chars().collect();
        assert!(chars.is_sorted_by(|one, next| one < next), "{built_in:?}");
        for c in chars {
            let glyph = font.glyph(c).expect("a listed character has a glyph");
            assert_eq!(glyph.rows.len(), font.cell_height_px(), "{built_in:?} U+{:04X}", c as u32);
            let right_of_glyph = u16::MAX.checked_shr(glyph.width_px.into()).unwrap_or(0);
            let is_inside = glyph.rows.iter().all(|row| row & right_of_glyph == 0);
            assert!(is_inside, "{built_in:?} U+{:04X} has ink right of its width", c as u32);
        }
    }
}

#[test]
fn a_font_has_no_glyph_beyond_its_ranges() {
    for built_in in BuiltIn::ALL {
        let font = built_in.font();
        let listed: BTreeSet<char> = font.chars().collect();
        let found: BTreeSet<char> = ('\0'..=char::MAX).filter(|c| font.covers(*c)).collect();
        assert!(listed == found, "{built_in:?}");
        assert_eq!(font.glyph('\u{1F980}'), None, "{built_in:?}");
    }
}

#[test]
fn the_wide_font_has_a_glyph_for_scripts_that_the_others_lack() {
    let font = BuiltIn::Wide.font();
    for (script, sample) in [
        ("Han", "漢字圖书馆㐀龥"),
        ("kana", "ひらがなカタカナ"),
        ("Hangul", "한글힣"),
        ("Arabic", "العربية"),
        ("Hebrew", "עברית"),
        ("Devanagari", "नमस्ते"),
        ("Thai", "ภาษาไทย"),
        ("Tamil", "தமிழ்"),
        ("Tibetan", "བོད"),
        ("Khmer", "ភាសាខ្មែរ"),
        ("Ethiopic", "አማርኛ"),
        ("full width", "ＡＢＣ（）"),
    ] {
        let missing: String = sample.chars().filter(|c| !font.covers(*c)).collect();
        assert_eq!(missing, "", "{script}");
    }
}

#[test]
fn the_wide_font_has_no_boxes_for_what_cannot_be_seen() {
    let font = BuiltIn::Wide.font();
    for (kind, c) in [
        ("control", '\u{7}'),
        ("format", '\u{200D}'),
        ("private use", '\u{E000}'),
        ("not assigned", '\u{378}'),
        ("assigned after the font was made", '\u{1C89}'),
        ("noncharacter", '\u{FFFF}'),
    ] {
        assert!(!font.covers(c), "{kind}");
    }
}

#[test]
fn ideographs_fill_two_cells_and_letters_one() {
    let font = BuiltIn::Wide.font();
    let widths = ['漢', '한', 'あ', 'A', 'é', 'ש'].map(|c| font.glyph(c).unwrap().width_px);
    assert_eq!(widths, [16, 16, 16, 8, 8, 8]);
}

#[test]
fn an_unpacked_font_takes_at_most_two_megabytes() {
    for built_in in BuiltIn::ALL {
        let font = built_in.font();
        let bytes = font.chars().count() * font.cell_height_px() * size_of::<u16>();
        assert!(bytes <= MAX_UNPACKED_BYTES, "{built_in:?} takes {bytes} bytes");
    }
}

#[test]
fn characters_that_readers_confuse_differ_in_every_font() {
    for built_in in BuiltIn::ALL {
        for group in ["0OQD", "1lI|", "5S", "8B", "2Z", "rnm"] {
            let rasters: BTreeSet<_> = group.chars().map(|c| built_in.font().glyph(c)).collect();
            assert_eq!(rasters.len(), group.len(), "{built_in:?}: `{group}`");
        }
    }
}

#[test]
fn no_two_printable_ascii_characters_share_a_glyph() {
    for built_in in BuiltIn::ALL {
        let rasters: BTreeSet<_> = (' '..='~').map(|c| built_in.font().glyph(c)).collect();
        assert_eq!(rasters.len(), 95, "{built_in:?}");
    }
}

#[test]
fn glyph_classes_hold_exactly_the_characters_whose_glyph_is_not_theirs_alone() {
    for built_in in BuiltIn::ALL {
        let font = built_in.font();
        let classes = font.glyph_classes();
        assert!(classes.is_sorted(), "{built_in:?}");
        for class in &classes {
            assert!(class.len() > 1 && class.is_sorted(), "{built_in:?}: {class:?}");
            let glyphs: BTreeSet<_> = class.iter().map(|c| font.glyph(*c)).collect();
            assert_eq!(glyphs.len(), 1, "{built_in:?}: {class:?}");
        }
        assert_eq!(distinct_glyphs(font), distinct_by_classes(font, &classes), "{built_in:?}");
    }
}

fn distinct_glyphs(font: &BitmapFont) -> usize {
    font.chars().map(|c| font.glyph(c)).collect::<BTreeSet<_>>().len()
}

/// One glyph for each class, and one for each character outside of all.
fn distinct_by_classes(font: &BitmapFont, classes: &[Vec<char>]) -> usize {
    let members: BTreeSet<char> = classes.iter().flatten().copied().collect();
    classes.len() + font.chars().filter(|c| !members.contains(c)).count()
}

#[test]
fn latin_greek_and_cyrillic_capitals_are_of_one_class() {
    let classes = BuiltIn::Fixed8x13.font().glyph_classes();
    assert!(classes.contains(&vec!['A', 'Α', 'А']), "{classes:?}");
}
