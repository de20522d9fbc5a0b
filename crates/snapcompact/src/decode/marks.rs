//! Characters with marks drawn over them.

use super::glyph_index::bits_of;
use super::pixels::CellBits;
use crate::glyphs::Glyphs;

/// The pixels of every mark, over one cell and over two.
#[derive(Default)]
pub(super) struct Marks([Vec<(CellBits, char)>; 2]);

impl Marks {
    pub(super) fn push(&mut self, mark: char, glyphs: &Glyphs, cell: (usize, usize)) {
        for units in 1..=2 {
            if let Some(bits) = bits_of(mark, units, glyphs, cell).filter(|bits| bits.ink() > 0) {
                self.0[units - 1].push((bits, mark));
            }
        }
    }
}

/// Most marks over one character that are looked for.
const MOST_MARKS: usize = 2;

/// The character and the marks that together have these pixels: the character with the most pixels, then the fewest marks.
pub(super) fn compose(
    bits: &CellBits,
    bases: &[(CellBits, char)],
    marks: &Marks,
    units: usize,
) -> Option<String> {
    let within: Vec<&(CellBits, char)> =
        marks.0[units - 1].iter().filter(|(mark, _)| mark.is_within(bits)).collect();
    if within.is_empty() {
        return None;
    }
    let mut fitting: Vec<&(CellBits, char)> =
        bases.iter().filter(|(base, _)| base.is_within(bits)).collect();
    fitting.sort_by_key(|(base, c)| (std::cmp::Reverse(base.ink()), *c));
    fitting.iter().find_map(|(base, c)| {
        let found = completed(base, bits, &within, MOST_MARKS)?;
        Some(std::iter::once(*c).chain(found).collect())
    })
}

/// The marks that make `base` into `bits`.
fn completed(
    base: &CellBits,
    bits: &CellBits,
    marks: &[&(CellBits, char)],
    most: usize,
) -> Option<Vec<char>> {
    if let Some((_, mark)) = marks.iter().find(|(mark, _)| base.with(mark) == *bits) {
        return Some(vec![*mark]);
    }
    if most <= 1 {
        return None;
    }
    marks.iter().find_map(|(mark, c)| {
        let rest = completed(&base.with(mark), bits, marks, most - 1)?;
        Some(std::iter::once(*c).chain(rest).collect())
    })
}
