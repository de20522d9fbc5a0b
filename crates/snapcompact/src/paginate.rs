//! Text cut into pages of cells.
//!
//! Pages are slices of the text, and together they are all of it. Linear in the text.

use crate::cells;
use crate::glyphs::Glyphs;
use crate::shape::Grid;
use crate::{DIM_OFF, DIM_ON};

/// The pages of a text that fills a grid cell by cell. Characters without a cell stay with what comes before them. A text without
/// a cell has no page.
///
/// ```
/// use longhand_snapcompact::paginate::paginate;
/// use longhand_snapcompact::shape::{FontName, Grid};
/// use longhand_snapcompact::Fonts;
///
/// let glyphs = Fonts::default().glyphs(FontName::Fixed8x13);
/// let grid = Grid { cols: 3, rows: 2, columns: 1 };
/// assert_eq!(paginate("abcdefgh", grid, &glyphs), ["abcdef", "gh"]);
/// ```
pub fn paginate<'a>(text: &'a str, grid: Grid, glyphs: &Glyphs) -> Vec<&'a str> {
    let (cols, capacity) = (grid.cols, grid.capacity());
    let mut pages = Vec::new();
    let (mut start, mut cursor, mut at) = (0, 0, 0);
    loop {
        let run = plain_run(&text.as_bytes()[at..], capacity.saturating_sub(cursor));
        (at, cursor) = (at + run, cursor + run);
        let Some(c) = text[at..].chars().next() else { break };
        let units = glyphs.units(c);
        if units > 0 {
            let mut spot = cells::place(cursor, cols, units);
            if cursor > 0 && spot.next > capacity {
                pages.push(&text[start..at]);
                start = at;
                spot = cells::place(0, cols, units);
            }
            cursor = spot.next;
        }
        at += c.len_utf8();
    }
    if cursor > 0 {
        pages.push(&text[start..]);
    }
    pages
}

/// How many characters from here on take one cell each and one byte each, at most `most`. Nearly all text is of this kind.
fn plain_run(bytes: &[u8], most: usize) -> usize {
    let (on, off) = (DIM_ON as u8, DIM_OFF as u8);
    let bytes = &bytes[..bytes.len().min(most)];
    bytes.iter().position(|b| !b.is_ascii() || *b == on || *b == off).unwrap_or(bytes.len())
}
