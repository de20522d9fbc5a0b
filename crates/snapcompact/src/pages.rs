//! The pages of a text in a shape: cells filled one after the other, or wrapped lines in columns.
//!
//! Takes normalised text. Draws nothing and dims nothing.

use std::borrow::Cow;

use crate::cells;
use crate::error::Error;
use crate::glyphs::Glyphs;
use crate::paginate::paginate;
use crate::shape::{Grid, Shape};
use crate::wrap::doc_pages;

/// The pages of a text. Linear in the text.
///
/// # Errors
/// The shape is not possible.
pub fn pages<'a>(
    normalized: &'a str,
    shape: &Shape,
    glyphs: &Glyphs,
) -> Result<Vec<Cow<'a, str>>, Error> {
    let grid = shape.grid()?;
    Ok(if grid.columns == 1 {
        paginate(normalized, grid, glyphs).into_iter().map(Cow::Borrowed).collect()
    } else {
        doc_pages(normalized, grid, glyphs).into_iter().map(Cow::Owned).collect()
    })
}

/// How many frames a text becomes. Nothing is drawn.
///
/// # Errors
/// The shape is not possible.
pub fn frame_count(normalized: &str, shape: &Shape, glyphs: &Glyphs) -> Result<usize, Error> {
    Ok(pages(normalized, shape, glyphs)?.len())
}

/// Characters of a page that are drawn: those with a cell of their own, as far as the page has room.
pub fn drawn_chars(page: &str, grid: Grid, glyphs: &Glyphs) -> usize {
    let units = |c| glyphs.units(c);
    if grid.columns > 1 {
        let drawn = page.chars().filter(|c| *c != '\n' && units(*c) > 0);
        return drawn.count().min(grid.capacity());
    }
    let mut cursor = 0;
    let ends = page.chars().map(units).filter(|units| *units > 0).map(|units| {
        cursor = cells::place(cursor, grid.cols, units).next;
        cursor
    });
    ends.take_while(|end| *end <= grid.capacity()).count()
}
