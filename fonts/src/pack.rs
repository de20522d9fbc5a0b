//! The packed form of a font, and how it is unpacked.
//!
//! A packed font is a zlib stream of, in this order and with numbers little-endian:
//!
//! - cell width, cell height and ascent in pixels, a byte each;
//! - the number of ranges (u16), and for each range its first code point (u32), its length (u16) and the width of its glyphs in
//!   pixels (u8, 1 to 16); ranges rise and stay apart;
//! - the narrow glyphs, up to 8 px wide, by code point: a byte a row, leftmost pixel in the highest bit;
//! - the wide glyphs, which only a font of 16 px height has, by columns: first of every glyph the upper half of its 16 columns,
//!   then of every glyph the lower half; a byte a column, topmost pixel in the highest bit.
//!
//! Ideographs are composed of parts that stand side by side or above each other. In halves of columns, deflate finds the same part
//! in a neighbour, which it does not in rows: the wide font takes 0.51 MB instead of 0.69.

use std::io::{self, Read};

use flate2::read::ZlibDecoder;

use crate::font::{BitmapFont, Range};

/// Widest glyph that is stored by rows, in pixels.
const NARROW_PX: u8 = 8;

/// Width of the glyphs that are stored by columns, and height of a font that has such, in pixels.
const WIDE_PX: usize = 16;

/// Bytes of a half of a wide glyph.
const HALF_BYTES: usize = WIDE_PX;

/// Why bytes are no packed font.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The bytes are no zlib stream.
    #[error("the packed font is no zlib stream")]
    Stream(#[source] io::Error),
    /// The stream ends before or after its last glyph.
    #[error("the packed font is longer or shorter than it says")]
    Length,
    /// A range overlaps the one before it or leaves Unicode, or has glyphs of a width or height that is not possible.
    #[error("the packed font has an impossible range at U+{first:04X}")]
    Range {
        /// First code point of the range.
        first: u32,
    },
}

impl BitmapFont {
    /// Unpacks a font. Those that are compiled in come unpacked from [`crate::BuiltIn::font`].
    ///
    /// # Errors
    /// The bytes are no packed font.
    pub fn unpack(packed: &[u8]) -> Result<Self, UnpackError> {
        let mut bytes = Vec::new();
        ZlibDecoder::new(packed).read_to_end(&mut bytes).map_err(UnpackError::Stream)?;
        let mut rest = bytes.as_slice();
        let [cell_width_px, cell_height_px, ascent_px] = take(&mut rest)?;
        let mut ranges = read_ranges(&mut rest, cell_height_px)?;
        let narrow = number_glyphs(&mut ranges, 0, |width_px| width_px <= NARROW_PX);
        let all = number_glyphs(&mut ranges, narrow, |width_px| width_px > NARROW_PX);

        let narrow_bytes = narrow as usize * usize::from(cell_height_px);
        let half_bytes = (all - narrow) as usize * HALF_BYTES;
        if rest.len() != narrow_bytes + 2 * half_bytes {
            return Err(UnpackError::Length);
        }
        let (narrow_rows, columns) = rest.split_at(narrow_bytes);
        let (upper, lower) = columns.split_at(half_bytes);
        let mut rows = Vec::with_capacity(all as usize * usize::from(cell_height_px));
        rows.extend(narrow_rows.iter().map(|row| u16::from(*row) << 8));
        let (upper, lower) = (upper.as_chunks().0, lower.as_chunks().0);
        for half in upper.iter().zip(lower).flat_map(|(upper, lower)| [upper, lower]) {
            rows.extend(rows_of_columns(half));
        }
        Ok(Self { cell_width_px, cell_height_px, ascent_px, ranges, rows })
    }
}

fn read_ranges(rest: &mut &[u8], cell_height_px: u8) -> Result<Vec<Range>, UnpackError> {
    let count = u16::from_le_bytes(take(rest)?);
    let mut ranges: Vec<Range> = Vec::with_capacity(count.into());
    let mut free_from = 0;
    for _ in 0..count {
        let first = u32::from_le_bytes(take(rest)?);
        let length = u32::from(u16::from_le_bytes(take(rest)?));
        let [width_px] = take(rest)?;
        let end = first.saturating_add(length);
        let is_possible = first >= free_from
            && end <= u32::from(char::MAX) + 1
            && (1..=WIDE_PX).contains(&width_px.into())
            && (width_px <= NARROW_PX || usize::from(cell_height_px) == WIDE_PX);
        if !is_possible {
            return Err(UnpackError::Range { first });
        }
        free_from = end;
        ranges.push(Range { first, length, width_px, glyph: 0 });
    }
    Ok(ranges)
}

/// Numbers the glyphs of those ranges whose width is asked for, from a number on. Returns the number after the last.
fn number_glyphs(ranges: &mut [Range], from: u32, is_asked_for: fn(u8) -> bool) -> u32 {
    let mut next = from;
    for range in ranges.iter_mut().filter(|range| is_asked_for(range.width_px)) {
        range.glyph = next;
        next += range.length;
    }
    next
}

/// Turns the upper or lower half of 16 columns into eight rows.
fn rows_of_columns(columns: &[u8; HALF_BYTES]) -> [u16; 8] {
    let (left, right) = columns.split_at(8);
    let [left, right] = [left, right].map(|half| {
        let columns = half.try_into().expect("a half of sixteen columns is eight");
        transposed(u64::from_be_bytes(columns)).to_be_bytes()
    });
    std::array::from_fn(|y| u16::from_be_bytes([left[y], right[y]]))
}

/// Swaps rows and columns of eight by eight bits: first of neighbouring bits, then of blocks of two and of four.
fn transposed(bits: u64) -> u64 {
    let swap = |bits: u64, distance: u32, mask: u64| {
        let moved = (bits ^ (bits >> distance)) & mask;
        bits ^ moved ^ (moved << distance)
    };
    let bits = swap(bits, 7, 0x00AA_00AA_00AA_00AA);
    let bits = swap(bits, 14, 0x0000_CCCC_0000_CCCC);
    swap(bits, 28, 0x0000_0000_F0F0_F0F0)
}

/// Takes bytes from the front.
fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], UnpackError> {
    let (head, tail) = rest.split_first_chunk().ok_or(UnpackError::Length)?;
    *rest = tail;
    Ok(*head)
}
