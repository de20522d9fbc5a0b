//! A TrueType file as fallback: when it is asked, how its glyphs come out, and what a damaged one does.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

mod tiny_font;

use longhand_snapcompact::glyphs::{Found, Raster};
use longhand_snapcompact::shape::FontName;
use longhand_snapcompact::{Error, Fonts, Glyphs};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use tiny_font::{Ink, TinyFont};

/// A character that no compiled-in font has.
const CRAB: char = '\u{1F980}';

/// Ink of a letter that stands on the baseline, a column from the left.
const LETTER: Ink = [1, 0, 7, 10];

fn glyphs(font: &TinyFont) -> Glyphs {
    Fonts::with_fallback(&font.bytes()).unwrap().glyphs(FontName::Fixed8x13)
}

/// The glyph that a fallback gives, `#` for ink, without the empty rows above and below: and how many are above.
fn drawn(glyphs: &Glyphs, c: char) -> (usize, Vec<String>) {
    let Some(Found::Fallback(Raster { width_px, rows, .. })) = glyphs.find(c) else {
        panic!("no fallback has {c}");
    };
    let pixel = |row: u16, x: u8| if row << x & 0x8000 == 0 { '.' } else { '#' };
    let above = rows.iter().take_while(|row| **row == 0).count();
    let inked = rows.iter().rposition(|row| *row != 0).map_or(0, |last| last + 1);
    let text = |row: &u16| (0..width_px).map(|x| pixel(*row, x)).collect();
    (above, rows[above..inked].iter().map(text).collect())
}

/// The glyph of the crab where it has this advance and ink.
fn drawn_crab(advance: u16, ink: &[Ink]) -> (usize, Vec<String>) {
    drawn(&glyphs(&TinyFont::new().glyph(CRAB, advance, ink)), CRAB)
}

#[test]
fn a_glyph_of_the_file_is_drawn_where_the_file_puts_it() {
    let (above, rows) = drawn_crab(16, &[[2, -2, 4, 3], [10, 1, 14, 3]]);
    assert_eq!(above, 11, "the baseline is below the fourteenth row");
    assert_eq!(
        rows,
        [
            "..##......####..",
            "..##......####..",
            "..##............",
            "..##............",
            "..##............",
        ]
    );
}

#[test]
fn letters_take_a_narrow_cell_and_ideographs_a_wide_one() {
    for (advance, width_px, units) in [(5, 8, 1), (8, 8, 1), (10, 8, 1), (11, 16, 2), (16, 16, 2)] {
        let glyphs = glyphs(&TinyFont::new().glyph(CRAB, advance, &[[1, 0, 5, 5]]));
        let Some(Found::Fallback(raster)) = glyphs.find(CRAB) else { panic!("no crab") };
        assert_eq!((raster.width_px, raster.height_px), (width_px, 16), "advance {advance}");
        assert_eq!(glyphs.units(CRAB), units, "advance {advance}");
    }
}

#[test]
fn the_shapes_own_font_is_asked_first_then_the_file_then_the_wide_font() {
    let font = TinyFont::new().glyph('A', 8, &[LETTER]).glyph('漢', 16, &[LETTER]);
    let with_file = Fonts::with_fallback(&font.bytes()).unwrap();
    let without = Fonts::default();
    let find = |fonts: &Fonts, font, c| fonts.glyphs(font).find(c);

    let fixed = FontName::Fixed8x13;
    assert!(matches!(find(&with_file, fixed, 'A'), Some(Found::Own(_))));
    assert_eq!(find(&with_file, fixed, 'A'), find(&without, fixed, 'A'));
    assert_ne!(find(&with_file, fixed, '漢'), find(&without, fixed, '漢'));
    assert_eq!(find(&with_file, fixed, '字'), find(&without, fixed, '字'));
    assert_ne!(find(&with_file, FontName::Silver, 'A'), find(&without, FontName::Silver, 'A'));
}

#[test]
fn a_character_that_the_file_leaves_blank_comes_from_the_wide_font() {
    let glyphs = glyphs(&TinyFont::new().glyph('漢', 16, &[]).glyph(CRAB, 16, &[]));
    let expected = Fonts::default().glyphs(FontName::Fixed8x13).find('漢');
    assert!(expected.is_some());
    assert_eq!(glyphs.find('漢'), expected);
    assert_eq!(glyphs.find(CRAB), None);
    assert!(!glyphs.supports(CRAB));
}

#[test]
fn ink_outside_of_the_cell_is_moved_into_it() {
    let square = vec!["####....".to_owned(); 4];
    let shifted = vec!["....####".to_owned(); 4];
    for (where_, ink, expected) in [
        ("left", [-3, 0, 1, 4], (10, &square)),
        ("right", [9, 0, 13, 4], (10, &shifted)),
        ("below", [0, -7, 4, -3], (12, &square)),
        ("above", [0, 15, 4, 19], (0, &square)),
    ] {
        let (above, rows) = drawn_crab(8, &[ink]);
        assert_eq!((above, &rows), expected, "{where_}");
    }
}

#[test]
fn a_glyph_larger_than_its_cell_is_drawn_smaller_and_whole() {
    for (what, advance, ink) in [
        ("too wide", 8, [[0, 0, 4, 8], [16, 0, 20, 8]]),
        ("too high", 16, [[0, -10, 8, -4], [0, 14, 8, 20]]),
        ("both", 16, [[0, 0, 40, 10], [0, 30, 40, 40]]),
    ] {
        let (_, rows) = drawn_crab(advance, &ink);
        let inked: Vec<bool> = rows.iter().map(|row| row.contains('#')).collect();
        let gap_down = inked.windows(2).any(|pair| pair[0] && !pair[1]);
        let gap_across = rows.iter().all(|row| row.trim_matches('.').contains('.'));
        assert!(gap_down || gap_across, "{what}: both parts are there\n{}", rows.join("\n"));
        assert!(rows.len() <= 16, "{what}");
    }
}

#[test]
fn a_mark_without_advance_stands_in_the_middle_of_a_narrow_cell() {
    let (above, rows) = drawn_crab(0, &[[-6, 11, -2, 13]]);
    assert_eq!((above, rows), (1, vec!["..####..".to_owned(); 2]));
}

#[test]
fn strokes_thinner_than_a_pixel_are_drawn() {
    // 100 units are a pixel: two pixels are covered by a fifth each.
    let font = TinyFont::with_units_per_em(1600).glyph(CRAB, 800, &[[380, 0, 420, 300]]);
    assert_eq!(drawn(&glyphs(&font), CRAB), (11, vec!["...##...".to_owned(); 3]));
}

#[test]
fn a_glyph_of_gigabytes_is_missing() {
    let (least, most) = (i16::MIN / 2, i16::MAX / 2);
    let glyphs = glyphs(&TinyFont::new().glyph(CRAB, 16, &[[least, least, most, most]]));
    assert_eq!(glyphs.find(CRAB), None);
}

#[test]
fn what_is_no_font_is_an_error() {
    let font = TinyFont::new().glyph(CRAB, 16, &[LETTER]).bytes();
    for (what, bytes) in [
        ("nothing", &[][..]),
        ("text", b"not a font, but long enough for the head of one"),
        ("the head of a font", &font[..12]),
        ("a PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01"),
    ] {
        let error = Fonts::with_fallback(bytes).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::FallbackFont(_)), "{what}: {error}");
    }
}

#[test]
fn a_font_that_maps_more_characters_than_there_are_is_refused_at_once() {
    let mut bytes = TinyFont::new().glyph(CRAB, 16, &[LETTER]).bytes();
    let last_of_group = bytes.windows(8).position(|pair| {
        pair[..4] == u32::from(CRAB).to_be_bytes() && pair[4..] == u32::from(CRAB).to_be_bytes()
    });
    let place = last_of_group.unwrap() + 4;
    bytes[place..place + 4].fill(0xFF);
    let error = Fonts::with_fallback(&bytes).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::FallbackFont(_)), "{error}");
}

#[test]
fn a_font_is_read_whatever_its_name() {
    for name in [&b""[..], b"\0T\0i\0n\0y", b"\0T\0", b"\xD8\x3E", b"\xD8\x3E\0A"] {
        let glyphs = glyphs(&TinyFont::new().named(name).glyph(CRAB, 16, &[LETTER]));
        assert!(glyphs.supports(CRAB), "{name:?}");
    }
}

#[test]
fn a_font_that_is_cut_off_anywhere_is_an_error_or_lacks_glyphs() {
    let font = TinyFont::new().glyph('a', 8, &[LETTER]).glyph(CRAB, 16, &[LETTER, LETTER]).bytes();
    for end in 0..font.len() {
        look_at_all_glyphs(&font[..end]);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_font_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
        look_at_all_glyphs(&bytes);
    }

    #[test]
    fn a_damaged_font_is_read_or_refused(
        damage in vec((any::<Index>(), any::<u8>()), 1..12),
        ink in vec(any_ink(), 0..4),
    ) {
        let font = TinyFont::new().glyph('a', 8, &[LETTER]).glyph('漢', 16, &ink).glyph(CRAB, 16, &[LETTER]);
        let mut bytes = font.bytes();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        look_at_all_glyphs(&bytes);
    }
}

/// Ink near the cell, and ink anywhere.
fn any_ink() -> impl Strategy<Value = Ink> {
    prop_oneof![
        prop::array::uniform4(-40_i16..40),
        prop::array::uniform4(-1100_i16..1100),
        any::<Ink>()
    ]
}

/// Reads a font and draws what it has of a few characters. Whatever comes out fits its cell.
fn look_at_all_glyphs(bytes: &[u8]) {
    let Ok(fonts) = Fonts::with_fallback(bytes) else { return };
    let glyphs = fonts.glyphs(FontName::Silver);
    for c in ['\0', 'a', '漢', CRAB, char::MAX] {
        if let Some(Found::Fallback(raster)) = glyphs.find(c) {
            assert!(raster.width_px == 8 || raster.width_px == 16);
            let beyond = u16::MAX.checked_shr(raster.width_px.into()).unwrap_or(0);
            assert!(raster.rows.iter().all(|row| row & beyond == 0));
        }
    }
}
