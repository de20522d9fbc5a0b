//! A font as its source describes it, before it is packed.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

/// A bitmap font of one cell height.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFont {
    pub(super) cell_width_px: u8,
    pub(super) cell_height_px: u8,
    pub(super) ascent_px: u8,
    pub(super) glyphs: BTreeMap<char, SourceGlyph>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceGlyph {
    pub(super) width_px: u8,
    /// As many as the font's cell is high, leftmost pixel in bit 15.
    pub(super) rows: Vec<u16>,
}

impl SourceFont {
    pub(super) fn new(cell_width_px: u8, cell_height_px: u8, ascent_px: u8) -> Self {
        Self { cell_width_px, cell_height_px, ascent_px, glyphs: BTreeMap::new() }
    }

    /// Gives a character that the font has other pixels, a byte a row.
    pub(super) fn replace(&mut self, c: char, rows: &[u8]) -> Result<()> {
        ensure!(rows.len() == usize::from(self.cell_height_px), "the new `{c}` has another height");
        let glyph = self.glyphs.get_mut(&c).with_context(|| format!("the font has no `{c}`"))?;
        glyph.rows = rows.iter().map(|row| u16::from(*row) << 8).collect();
        Ok(())
    }
}
