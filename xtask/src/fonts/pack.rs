//! Packs a font. The form is described, and unpacked, in `longhand-fonts`.

use anyhow::{Context, Result};
use libdeflater::{CompressionLvl, Compressor};

use super::source::{SourceFont, SourceGlyph};

/// Widest glyph that is stored by rows, in pixels.
const NARROW_PX: u8 = 8;

/// The packed form of a font. The same font gives the same bytes.
pub(super) fn pack(font: &SourceFont) -> Result<Vec<u8>> {
    let mut bytes = vec![font.cell_width_px, font.cell_height_px, font.ascent_px];
    let ranges = ranges(font);
    bytes.extend(u16::try_from(ranges.len()).context("too many ranges")?.to_le_bytes());
    for range in &ranges {
        bytes.extend(range.first.to_le_bytes());
        bytes.extend(range.length.to_le_bytes());
        bytes.push(range.width_px);
    }
    let (narrow, wide): (Vec<_>, Vec<_>) =
        font.glyphs.values().partition(|glyph| glyph.width_px <= NARROW_PX);
    for glyph in narrow {
        bytes.extend(glyph.rows.iter().map(|row| (row >> 8) as u8));
    }
    for half in [0..8, 8..16] {
        for glyph in &wide {
            bytes.extend((0..16).map(|x| column(&glyph.rows[half.clone()], x)));
        }
    }
    Ok(compressed(&bytes))
}

/// Code points without a gap between them, whose glyphs have one width.
struct Range {
    first: u32,
    length: u16,
    width_px: u8,
}

fn ranges(font: &SourceFont) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (c, SourceGlyph { width_px, .. }) in &font.glyphs {
        let code = u32::from(*c);
        match ranges.last_mut() {
            Some(last)
                if last.first + u32::from(last.length) == code
                    && last.width_px == *width_px
                    && last.length < u16::MAX =>
            {
                last.length += 1;
            }
            _ => ranges.push(Range { first: code, length: 1, width_px: *width_px }),
        }
    }
    ranges
}

/// A column of eight rows, topmost pixel in the highest bit.
fn column(rows: &[u16], x: u32) -> u8 {
    rows.iter().fold(0, |column, row| column << 1 | (row >> (15 - x) & 1) as u8)
}

/// A zlib stream, as small as deflate goes in reasonable time.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut packed = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor
        .zlib_compress(bytes, &mut packed)
        .expect("the buffer is as long as the stream can become");
    packed.truncate(length);
    packed
}

#[cfg(test)]
mod tests {
    use longhand_fonts::BitmapFont;

    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_as_it_was() {
        let mut font = SourceFont::new(8, 16, 14);
        let mut add = |c, width_px: u8, pixels: u16| {
            let inside = !u16::MAX.checked_shr(width_px.into()).unwrap_or(0);
            let rows = (0..16).map(|y| pixels.rotate_left(y) & inside).collect();
            font.glyphs.insert(c, SourceGlyph { width_px, rows });
        };
        for (c, width_px, pixels) in [
            ('A', 8, 0b1000_0000_0000_0000),
            ('B', 8, 0b1010_0110_0000_1110),
            ('C', 16, 0b1000_1100_0000_0001),
            ('Z', 16, 0b0100_0010_1010_0111),
            ('漢', 8, 0b1111_0000_1010_0101),
        ] {
            add(c, width_px, pixels);
        }
        let unpacked = BitmapFont::unpack(&pack(&font).unwrap()).unwrap();
        let chars: Vec<char> = unpacked.chars().collect();
        assert_eq!(chars, ['A', 'B', 'C', 'Z', '漢']);
        for (c, glyph) in &font.glyphs {
            let found = unpacked.glyph(*c).unwrap();
            assert_eq!((found.width_px, found.rows), (glyph.width_px, &*glyph.rows), "{c}");
        }
        let sizes = [unpacked.cell_width_px(), unpacked.cell_height_px(), unpacked.ascent_px()];
        assert_eq!(sizes, [8, 16, 14]);
    }
}
