//! A bitmap font in memory: which characters it has, and their pixels.
//!
//! Looking a character up is a binary search over ranges. Nothing is drawn here.

use std::collections::BTreeMap;

/// A bitmap font in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitmapFont {
    pub(crate) cell_width_px: u8,
    pub(crate) cell_height_px: u8,
    pub(crate) ascent_px: u8,
    /// In rising order, apart from each other.
    pub(crate) ranges: Vec<Range>,
    /// `cell_height_px` rows a glyph, leftmost pixel in bit 15.
    pub(crate) rows: Vec<u16>,
}

/// Code points without a gap between them, whose glyphs have one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u32,
    pub(crate) length: u32,
    pub(crate) width_px: u8,
    /// Number of the first glyph.
    pub(crate) glyph: u32,
}

/// One glyph. Fills its cell from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Glyph<'a> {
    /// Pixels a row, at most 16.
    pub width_px: u8,
    /// Rows from top to bottom, leftmost pixel in bit 15.
    pub rows: &'a [u16],
}

impl BitmapFont {
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

    /// The characters that look like others of this font: each class has two or more whose glyphs are equal pixel for pixel, in
    /// rising order, and the classes rise by their first character. A reader of the pixels cannot tell members of one class
    /// apart. Looks at every glyph: tens of milliseconds for the wide font.
    pub fn glyph_classes(&self) -> Vec<Vec<char>> {
        let mut by_glyph: BTreeMap<Glyph<'_>, Vec<char>> = BTreeMap::new();
        for c in self.chars() {
            if let Some(glyph) = self.glyph(c) {
                by_glyph.entry(glyph).or_default().push(c);
            }
        }
        let mut classes: Vec<_> = by_glyph.into_values().filter(|class| class.len() > 1).collect();
        classes.sort_unstable();
        classes
    }

    fn range_of(&self, c: char) -> Option<&Range> {
        let code = u32::from(c);
        let after = self.ranges.partition_point(|range| range.first <= code);
        let range = &self.ranges[after.checked_sub(1)?];
        (code - range.first < range.length).then_some(range)
    }
}
