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
