//! The pixels of the fonts, against golden tables.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::fmt::Write as _;

use longhand_fonts::{BitmapFont, BuiltIn, Glyph};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Fonts by their names in the tables.
const FONTS: [(&str, BuiltIn); 4] = [
    ("5x8", BuiltIn::Fixed5x8),
    ("8x8", BuiltIn::Unscii8),
    ("6x12", BuiltIn::Fixed6x12),
    ("8x13", BuiltIn::Fixed8x13),
];

/// Characters that are no glyphs in a frame: the line end, the switches of ink, and the block that is filled, not printed.
const NEVER_PRINTED: [char; 4] = ['\u{A}', '\u{E}', '\u{F}', '\u{2588}'];

fn tables() -> Value {
    serde_json::from_str(include_str!("data/snapcompact/glyph_tables.json")).unwrap()
}

/// The rows of a glyph as hexadecimal digits, two a row, rightmost pixel in the lowest bit.
fn digits(font: &BitmapFont, glyph: Glyph<'_>) -> String {
    glyph.rows.iter().fold(String::new(), |mut digits, row| {
        write!(digits, "{:02x}", row >> (16 - font.cell_width_px())).unwrap();
        digits
    })
}

#[test]
fn ascii_and_latin_1_are_pixel_for_pixel_those_of_the_tables() {
    for (name, built_in) in FONTS {
        let font = built_in.font();
        for (code, expected) in tables()[name].as_object().unwrap() {
            let c = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
            let glyph = font.glyph(c).unwrap_or_else(|| panic!("{name} lacks U+{code}"));
            assert_eq!(digits(font, glyph), expected.as_str().unwrap(), "{name}: {c}");
        }
    }
}

#[test]
fn all_glyphs_of_a_font_together_are_those_of_the_tables() {
    for (name, built_in) in FONTS {
        let font = built_in.font();
        let mut lines = String::new();
        let mut count = 0_u64;
        for c in font.chars().filter(|c| is_in_tables(built_in, *c)) {
            let glyph = font.glyph(c).unwrap();
            writeln!(lines, "{:x}:{}", u32::from(c), digits(font, glyph)).unwrap();
            count += 1;
        }
        let expected = &tables()[format!("{name}_all")];
        assert_eq!(count, expected["count"].as_u64().unwrap(), "{name}");
        let hash = Sha256::digest(lines);
        let hash = hash.iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
        assert_eq!(hash, expected["sha256_of_lines"].as_str().unwrap(), "{name}");
    }
}

/// What the tables hash. Of 5x8 they know ASCII and Latin-1 alone; ours has its other 1,200 glyphs too.
fn is_in_tables(built_in: BuiltIn, c: char) -> bool {
    let is_known = match built_in {
        BuiltIn::Fixed5x8 => matches!(c, ' '..='~' | '\u{A0}'..='\u{FF}'),
        BuiltIn::Fixed6x12 | BuiltIn::Fixed8x13 | BuiltIn::Unscii8 | BuiltIn::Wide => true,
    };
    is_known && !NEVER_PRINTED.contains(&c)
}

#[test]
fn easily_confused_characters_look_as_they_are_drawn() {
    let art: Value = serde_json::from_str(include_str!("data/snapcompact/glyph_art.json")).unwrap();
    for (name, built_in) in FONTS {
        let font = built_in.font();
        let drawn: Vec<String> =
            (0..font.cell_height_px()).map(|y| drawn_row(font, "0OQg8B", y)).collect();
        assert_eq!(Value::from(drawn), art["fonts"][name], "{name}");
    }
}

fn drawn_row(font: &BitmapFont, text: &str, y: usize) -> String {
    let pixels = |c| {
        let row = font.glyph(c).unwrap().rows[y];
        (0..font.cell_width_px()).map(move |x| if row << x & 0x8000 == 0 { '.' } else { '#' })
    };
    text.chars().flat_map(pixels).collect()
}
