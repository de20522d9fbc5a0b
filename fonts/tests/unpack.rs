//! Unpacking is told apart from reading what is compiled in: it takes any bytes.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use longhand_fonts::{BitmapFont, UnpackError};
use proptest::collection::vec;
use proptest::prelude::*;

const WIDE: &[u8] = include_bytes!("../data/wide.font");

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A font of one range, with so many bytes of glyphs.
fn one_range(height: u8, first: u32, length: u16, width: u8, glyph_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![8, height, 7, 1, 0];
    bytes.extend(first.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.push(width);
    bytes.resize(bytes.len() + glyph_bytes, 0xAA);
    packed(&bytes)
}

#[test]
fn rows_and_columns_come_out_as_pixels() {
    let mut bytes = vec![8, 16, 14, 2, 0];
    bytes.extend([b'a', 0, 0, 0, 1, 0, 8, b'b', 0, 0, 0, 1, 0, 16]);
    let narrow: [u8; 16] = std::array::from_fn(|y| y as u8);
    bytes.extend(narrow);
    // Upper half: the leftmost column full. Lower half: the lowest row of the rightmost column.
    bytes.extend([0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01]);
    let font = BitmapFont::unpack(&packed(&bytes)).unwrap();

    let narrow_rows: [u16; 16] = std::array::from_fn(|y| (y as u16) << 8);
    assert_eq!(font.glyph('a').unwrap().rows, narrow_rows);
    let wide_rows = [[0x8000; 8], [0, 0, 0, 0, 0, 0, 0, 1]].concat();
    assert_eq!(font.glyph('b').unwrap().rows, wide_rows);
}

#[test]
fn a_font_that_does_not_hold_together_is_refused() {
    for (why, bytes) in [
        ("too few glyphs", one_range(8, 32, 3, 8, 23)),
        ("too many glyphs", one_range(8, 32, 3, 8, 25)),
        ("ranges cut off", packed(&[8, 8, 7, 2, 0, 32, 0, 0])),
        ("empty", packed(&[])),
    ] {
        assert!(matches!(BitmapFont::unpack(&bytes), Err(UnpackError::Length)), "{why}");
    }
    for (why, bytes) in [
        ("no width", one_range(8, 32, 1, 0, 8)),
        ("too wide", one_range(16, 32, 1, 17, 32)),
        ("wide glyphs in a low font", one_range(8, 32, 1, 16, 16)),
        ("beyond Unicode", one_range(8, 0x0010_FFFF, 2, 8, 16)),
        ("far beyond Unicode", one_range(8, u32::MAX, u16::MAX, 8, 16)),
    ] {
        assert!(matches!(BitmapFont::unpack(&bytes), Err(UnpackError::Range { .. })), "{why}");
    }
}

#[test]
fn ranges_that_fall_or_overlap_are_refused() {
    let two_ranges = |second: u8| {
        let ranges = [32, 0, 0, 0, 2, 0, 8, second, 0, 0, 0, 1, 0, 8];
        packed(&[&[8, 1, 1, 2, 0], ranges.as_slice(), &[0; 3]].concat())
    };
    assert!(BitmapFont::unpack(&two_ranges(34)).is_ok());
    for second in [31, 32, 33] {
        let unpacked = BitmapFont::unpack(&two_ranges(second));
        assert!(matches!(unpacked, Err(UnpackError::Range { first }) if first == second.into()));
    }
}

#[test]
fn a_font_that_is_cut_off_is_no_stream() {
    let cut_off = BitmapFont::unpack(&WIDE[..WIDE.len() / 2]);
    assert!(matches!(cut_off, Err(UnpackError::Stream(_))));
}

proptest! {
    #[test]
    fn any_bytes_are_a_font_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        for packed in [packed(&bytes), bytes] {
            if let Ok(font) = BitmapFont::unpack(&packed) {
                for c in font.chars() {
                    prop_assert!(font.glyph(c).is_some());
                }
            }
        }
    }
}
