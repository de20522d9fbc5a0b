//! Every character that a shape can print, by its pixels.

use std::collections::HashMap;
use std::sync::Mutex;

use super::marks::{self, Marks};
use super::pixels::CellBits;
use crate::LINE_END;
use crate::glyphs::{self, Fonts, Glyphs};
use crate::normalize;
use crate::shape::Shape;
use crate::stamp;

/// Every character that a shape can print, by its pixels.
pub(super) struct GlyphIndex {
    /// Of characters of one cell, and of two. Of those that look alike the one with the lowest code point.
    by_units: [HashMap<CellBits, char>; 2],
    /// Those of them that marks are drawn over: scripts of East Asia have none.
    bases: [Vec<(CellBits, char)>; 2],
    glyphs: Glyphs,
    cell: (usize, usize),
    marks: Marks,
    /// Compositions that were looked for already.
    marked: Mutex<HashMap<(CellBits, usize), Option<String>>>,
}

impl GlyphIndex {
    pub(super) fn new(shape: &Shape, fonts: &Fonts) -> Self {
        let glyphs = fonts.glyphs(shape.font);
        let cell = (shape.cell_width, shape.cell_height);
        let mut by_units = [HashMap::new(), HashMap::new()];
        let mut bases = [Vec::new(), Vec::new()];
        let mut marks = Marks::default();
        by_units[0].insert(CellBits::blank(cell.1), ' ');
        by_units[0].insert(CellBits::full(cell.0, cell.1), LINE_END);
        for c in printable(&glyphs) {
            if glyphs::is_overlay(c) {
                marks.push(c, &glyphs, cell);
                continue;
            }
            let units = glyphs.units(c);
            if let Some(bits) = bits_of(c, units, &glyphs, cell) {
                if !glyphs::is_wide(c) {
                    bases[units - 1].push((bits.clone(), c));
                }
                by_units[units - 1].entry(bits).or_insert(c);
            }
        }
        Self { by_units, bases, glyphs, cell, marks, marked: Mutex::default() }
    }

    pub(super) fn is_wide(&self, c: char) -> bool {
        self.glyphs.units(c) == 2
    }

    pub(super) fn find(&self, bits: &CellBits, units: usize) -> Option<char> {
        self.by_units[units - 1].get(bits).copied()
    }

    /// A character with marks over it.
    pub(super) fn find_marked(&self, bits: &CellBits, units: usize) -> Option<String> {
        let mut known = self.marked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let find = || marks::compose(bits, &self.bases[units - 1], &self.marks, units);
        known.entry((bits.clone(), units)).or_insert_with(find).clone()
    }

    /// What is read where `c` is drawn alone; `None` where it has no pixels of its own or is not printed.
    pub(super) fn reading_of(&self, c: char) -> Option<String> {
        if c == LINE_END {
            return Some(c.to_string());
        }
        let units = self.glyphs.units(c);
        if units == 0 {
            return None;
        }
        let bits = bits_of(c, units, &self.glyphs, self.cell)?;
        if units == 2
            && let Some(pair) = self.as_pair(c)
        {
            return Some(pair);
        }
        self.find(&bits, units).map(String::from)
    }

    /// The two narrow characters that look like a wide one.
    fn as_pair(&self, c: char) -> Option<String> {
        let stamp = stamp::stamp(c, 2, &self.glyphs, self.cell)?;
        let width = self.cell.0;
        let half = |side: usize| {
            let mut bits = CellBits::blank(self.cell.1);
            for (y, row) in stamp.raster.rows.iter().enumerate() {
                for x in (0..16).filter(|x| row & (0x8000 >> x) != 0) {
                    let column = stamp.left + x;
                    if column / width == side {
                        bits.add(stamp.top + y, column % width, width, 0x8000);
                    }
                }
            }
            self.find(&bits, 1)
        };
        half(0).zip(half(1)).map(|(left, right)| String::from_iter([left, right]))
    }
}

/// The pixels of a character in its cells.
pub(super) fn bits_of(
    c: char,
    units: usize,
    glyphs: &Glyphs,
    cell: (usize, usize),
) -> Option<CellBits> {
    let stamp = stamp::stamp(c, units, glyphs, cell)?;
    let mut bits = CellBits::blank(cell.1);
    for (y, row) in stamp.raster.rows[..usize::from(stamp.raster.height_px)].iter().enumerate() {
        bits.add(stamp.top + y, stamp.left, units * cell.0, *row);
    }
    Some(bits)
}

/// The characters that normalised text can hold, in rising order.
fn printable(glyphs: &Glyphs) -> impl Iterator<Item = char> {
    glyphs.chars().into_iter().filter(|c| {
        // A mark stands only behind something.
        let text = if glyphs::is_overlay(*c) { format!("a{c}") } else { c.to_string() };
        let is_switch = glyphs.units(*c) == 0 && !glyphs::is_overlay(*c);
        !is_switch && normalize::normalize(&text, glyphs).text == text
    })
}
