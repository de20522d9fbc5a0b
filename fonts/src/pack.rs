//! The packed form of a font, and the font that it becomes.
//!
//! A packed font is a zlib stream of: cell width, cell height and ascent in pixels (a byte each); the number of ranges (u16); for
//! each range its first code point (u32), its length (u16) and the width of its glyphs in pixels (u8), all little-endian, in rising
//! order; then the rows of all glyphs in the order of their code points, `cell height` rows a glyph, one byte a row for widths up
//! to 8 and two beyond, leftmost pixel in the highest bit.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// A bitmap font in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitmapFont {
    cell_width_px: u8,
    cell_height_px: u8,
    ascent_px: u8,
    ranges: Vec<Range>,
    /// `cell_height_px` rows a glyph, leftmost pixel in bit 15.
    rows: Vec<u16>,
}

/// Code points without a gap between them, whose glyphs have one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u32,
    length: u32,
    width_px: u8,
    /// Number of the first glyph.
    glyph: u32,
}

/// One glyph. Fills its cell from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyph<'a> {
    /// Pixels a row, at most 16.
    pub width_px: u8,
    /// Rows from top to bottom, leftmost pixel in bit 15.
    pub rows: &'a [u16],
}

impl BitmapFont {
    /// Reads a packed font that was compiled in.
    pub(crate) fn unpack(packed: &[u8]) -> Self {
        let mut bytes = Vec::new();
        ZlibDecoder::new(packed).read_to_end(&mut bytes).expect("the pack is a whole zlib stream");
        let mut at = Cursor(&bytes);
        let [cell_width_px, cell_height_px, ascent_px] = [at.u8(), at.u8(), at.u8()];
        let count = at.u16();
        let mut glyph = 0;
        let ranges: Vec<Range> = (0..count)
            .map(|_| {
                let range =
                    Range { first: at.u32(), length: at.u16().into(), width_px: at.u8(), glyph };
                glyph += range.length;
                range
            })
            .collect();
        let mut rows = Vec::with_capacity(glyph as usize * usize::from(cell_height_px));
        for range in &ranges {
            for _ in 0..range.length * u32::from(cell_height_px) {
                let row = if range.width_px > 8 {
                    u16::from_be_bytes([at.u8(), at.u8()])
                } else {
                    u16::from(at.u8()) << 8
                };
                rows.push(row);
            }
        }
        Self { cell_width_px, cell_height_px, ascent_px, ranges, rows }
    }

    /// Width of an ordinary glyph, in pixels.
    pub fn cell_width_px(&self) -> usize {
        self.cell_width_px.into()
    }

    /// Height of every glyph, in pixels.
    pub fn cell_height_px(&self) -> usize {
        self.cell_height_px.into()
    }

    /// Rows above the baseline, in pixels.
    pub fn ascent_px(&self) -> usize {
        self.ascent_px.into()
    }

    /// Whether the font has a glyph for a character.
    pub fn covers(&self, c: char) -> bool {
        self.range_of(c).is_some()
    }

    /// The glyph of a character.
    pub fn glyph(&self, c: char) -> Option<Glyph<'_>> {
        let range = self.range_of(c)?;
        let number = (range.glyph + u32::from(c) - range.first) as usize;
        let height = self.cell_height_px();
        Some(Glyph { width_px: range.width_px, rows: &self.rows[number * height..][..height] })
    }

    /// Every character that the font has, in rising order.
    pub fn chars(&self) -> impl Iterator<Item = char> + '_ {
        self.ranges
            .iter()
            .flat_map(|range| range.first..range.first + range.length)
            .filter_map(char::from_u32)
    }

    fn range_of(&self, c: char) -> Option<&Range> {
        let code = u32::from(c);
        let after = self.ranges.partition_point(|range| range.first <= code);
        let range = &self.ranges[after.checked_sub(1)?];
        (code - range.first < range.length).then_some(range)
    }
}

/// Reads numbers from the front of a slice. A pack that ends early is one that was built wrongly.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().expect("the pack is whole");
        self.0 = rest;
        *head
    }

    fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }
}
