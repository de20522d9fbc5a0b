//! Which pixels of a picture have ink.

use png::{Decoder, Transformations};

use crate::error::Error;
use crate::palette::{BACKGROUND, BAND, PALETTE};

/// Widest box whose pixels can be compared.
pub(super) const MOST_PX: usize = 64;

/// A picture of ink and paper.
pub(super) struct Inked {
    pub(super) width_px: usize,
    pub(super) height_px: usize,
    has_ink: Vec<bool>,
}

/// The pixels of some cells, a row a number, leftmost pixel in the highest used bit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CellBits(Vec<u64>);

impl CellBits {
    pub(super) fn blank(height_px: usize) -> Self {
        Self(vec![0; height_px])
    }

    pub(super) fn full(width_px: usize, height_px: usize) -> Self {
        Self(vec![u64::MAX >> (MOST_PX - width_px); height_px])
    }

    /// Adds the pixels of a glyph's row; `row` has its leftmost pixel in bit 15.
    pub(super) fn add(&mut self, y: usize, left: usize, width_px: usize, row: u16) {
        let Some(line) = self.0.get_mut(y) else { return };
        let shifted = u64::from(row) << 48 >> left >> (MOST_PX - width_px);
        *line |= shifted;
    }

    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    pub(super) fn with(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(own, other)| own | other).collect())
    }

    pub(super) fn ink(&self) -> u32 {
        self.0.iter().map(|line| line.count_ones()).sum()
    }
}

impl Inked {
    /// Reads a PNG file: everything that is neither paper nor the band behind a repeated line is ink.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let unreadable = |error: &dyn std::fmt::Display| Error::Unreadable(error.to_string());
        let mut decoder = Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| unreadable(&error))?;
        let size = reader.output_buffer_size().ok_or_else(|| unreadable(&"it is too large"))?;
        let mut pixels = vec![0; size];
        let info = reader.next_frame(&mut pixels).map_err(|error| unreadable(&error))?;
        let samples = info.color_type.samples();
        let paper = [PALETTE[usize::from(BACKGROUND)], PALETTE[usize::from(BAND)]];
        let is_ink = |pixel: &[u8]| match samples {
            1 | 2 => pixel[0] != 255,
            _ => !paper.iter().any(|colour| pixel[..3] == *colour),
        };
        let has_ink = pixels[..info.buffer_size()].chunks_exact(samples).map(is_ink).collect();
        Ok(Self { width_px: info.width as usize, height_px: info.height as usize, has_ink })
    }

    /// The pixels of a box, at most [`MOST_PX`] wide.
    pub(super) fn bits(&self, x: usize, y: usize, width: usize, height: usize) -> CellBits {
        let line = |line: usize| {
            let row = &self.has_ink[line * self.width_px..][..self.width_px];
            row[x..x + width].iter().fold(0, |bits, ink| bits << 1 | u64::from(*ink))
        };
        CellBits((y..y + height).map(line).collect())
    }
}
