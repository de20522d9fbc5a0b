//! A picture of palette colours, one byte a pixel.

use crate::palette::{BACKGROUND, Colour};
use crate::stamp::Stamp;

/// A picture of palette colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Canvas {
    pub(crate) width_px: usize,
    pub(crate) height_px: usize,
    /// Row by row; eight spare bytes at the end, so that eight pixels can be written at once anywhere.
    pixels: Vec<Colour>,
}

/// Pixels that are written at once.
const AT_ONCE: usize = 8;

/// For each byte of a glyph's row, eight bytes that are all ones where the row has ink; the leftmost pixel comes first in memory.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut bytes = [0; AT_ONCE];
        let mut at = 0;
        while at < AT_ONCE {
            if bits & (0x80 >> at) != 0 {
                bytes[at] = 0xFF;
            }
            at += 1;
        }
        table[bits] = u64::from_le_bytes(bytes);
        bits += 1;
    }
    table
};

impl Canvas {
    pub(crate) fn new(width_px: usize, height_px: usize) -> Self {
        Self { width_px, height_px, pixels: vec![BACKGROUND; width_px * height_px + AT_ONCE] }
    }

    pub(crate) fn row(&self, y: usize) -> &[Colour] {
        &self.pixels[y * self.width_px..][..self.width_px]
    }

    /// Fills a box, clipped to the canvas.
    pub(crate) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Colour) {
        let end = (x + width).min(self.width_px);
        for line in y..(y + height).min(self.height_px) {
            let start = line * self.width_px;
            self.pixels[start + x.min(end)..start + end].fill(colour);
        }
    }

    /// Draws a glyph with its cells at `x`, `y`, clipped to the canvas. Pixels without ink stay as they are.
    pub(crate) fn blit(&mut self, stamp: &Stamp, x: usize, y: usize, colour: Colour) {
        let (left, top) = (x + stamp.left, y + stamp.top);
        let Some(room) = self.width_px.checked_sub(left).filter(|room| *room > 0) else { return };
        let clip = if room >= 16 { u16::MAX } else { !(u16::MAX >> room) };
        let height = usize::from(stamp.raster.height_px).min(self.height_px.saturating_sub(top));
        let ink = u64::from_le_bytes([colour; AT_ONCE]);
        for (line, row) in stamp.raster.rows[..height].iter().enumerate() {
            let row = row & clip;
            let at = (top + line) * self.width_px + left;
            let [high, low] = row.to_be_bytes();
            self.write(at, high, ink);
            if low != 0 {
                self.write(at + AT_ONCE, low, ink);
            }
        }
    }

    fn write(&mut self, at: usize, bits: u8, ink: u64) {
        if bits == 0 {
            return;
        }
        let mask = SPREAD[usize::from(bits)];
        let target: &mut [u8; AT_ONCE] =
            (&mut self.pixels[at..at + AT_ONCE]).try_into().expect("a slice of eight");
        let old = u64::from_le_bytes(*target);
        *target = (old & !mask | ink & mask).to_le_bytes();
    }
}
