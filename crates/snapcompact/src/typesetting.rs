//! Where each character of a page is drawn, and in which ink. Knows cells, not pixels.

use crate::cells;
use crate::glyphs::Glyphs;
use crate::palette::{self, BLACK, Colour, PALE};
use crate::shape::{GUTTER_CELLS, Grid, Ink};
use crate::{DIM_OFF, DIM_ON, LINE_END};

/// One character in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) c: char,
    /// First cell of its line, counted over the whole width of the frame.
    pub(crate) col: usize,
    /// Line, not counting repetitions.
    pub(crate) row: usize,
    /// Cells that it takes, or that the character takes over which it is drawn.
    pub(crate) units: usize,
    pub(crate) ink: Colour,
}

/// A page in its cells.
pub(crate) struct Typeset {
    pub(crate) placed: Vec<Placed>,
    /// Lines that the page uses, at least one.
    pub(crate) rows: usize,
}

/// Sets a page. What finds no place is left out.
pub(crate) fn typeset(page: &str, grid: Grid, ink: Ink, glyphs: &Glyphs) -> Typeset {
    let mut setting = Setting { grid, pen: Pen::new(ink), glyphs, placed: Vec::new() };
    setting.placed.reserve(page.len().min(grid.capacity()));
    let used = if grid.columns == 1 { setting.grid(page) } else { setting.columns(page) };
    Typeset { placed: setting.placed, rows: used.clamp(1, grid.rows) }
}

/// The colour of the next character.
struct Pen {
    ink: Ink,
    is_dim: bool,
    sentence: usize,
}

impl Pen {
    fn new(ink: Ink) -> Self {
        Self { ink, is_dim: false, sentence: 0 }
    }

    fn colour(&self, c: char) -> Colour {
        match self.ink {
            _ if c == LINE_END => BLACK,
            _ if self.is_dim => PALE,
            Ink::Black => BLACK,
            Ink::Sentences => palette::hue(self.sentence),
        }
    }

    /// A full stop before white space ends a sentence; what ends it still has its hue.
    fn advance(&mut self, c: char, next: Option<char>) {
        if matches!(c, '.' | '!' | '?') && matches!(next, Some(' ' | LINE_END | '\n')) {
            self.sentence += 1;
        }
    }
}

struct Setting<'a> {
    grid: Grid,
    pen: Pen,
    glyphs: &'a Glyphs,
    placed: Vec<Placed>,
}

impl Setting<'_> {
    fn is_switch(&mut self, c: char) -> bool {
        match c {
            DIM_ON => self.pen.is_dim = true,
            DIM_OFF => self.pen.is_dim = false,
            _ => return false,
        }
        true
    }

    /// Cells one after the other, line by line. Returns the lines used.
    fn grid(&mut self, page: &str) -> usize {
        let (cols, capacity) = (self.grid.cols, self.grid.capacity());
        let mut cursor = 0;
        let mut chars = page.chars().peekable();
        while let Some(c) = chars.next() {
            if self.is_switch(c) {
                continue;
            }
            let units = self.glyphs.units(c);
            if units == 0 {
                self.overlay(c);
                continue;
            }
            if cursor >= capacity {
                break;
            }
            let ink = self.pen.colour(c);
            self.pen.advance(c, chars.peek().copied());
            let spot = cells::place(cursor, cols, units);
            if spot.cell >= capacity {
                break;
            }
            let (col, row) = (spot.cell % cols, spot.cell / cols);
            self.placed.push(Placed { c, col, row, units: spot.units, ink });
            cursor = spot.next;
        }
        cursor.div_ceil(cols)
    }

    /// Lines one after the other, column by column. Returns the lines of the longest column.
    fn columns(&mut self, page: &str) -> usize {
        let (cols, rows) = (self.grid.cols, self.grid.rows);
        let (mut line, mut col) = (0, 0);
        let mut chars = page.chars().peekable();
        while let Some(c) = chars.next() {
            if self.is_switch(c) {
                continue;
            }
            if c == '\n' {
                (line, col) = (line + 1, 0);
                continue;
            }
            let units = self.glyphs.units(c);
            if units == 0 {
                self.overlay(c);
                continue;
            }
            if line >= self.grid.columns * rows {
                break;
            }
            let ink = self.pen.colour(c);
            self.pen.advance(c, chars.peek().copied());
            // A wide character does not begin in the last cell.
            let start = if units == 2 && cols >= 2 && col + 1 == cols { col + 1 } else { col };
            col = start + units;
            if start + units > cols {
                continue;
            }
            let origin = line / rows * (cols + GUTTER_CELLS);
            self.placed.push(Placed { c, col: origin + start, row: line % rows, units, ink });
        }
        page.split('\n').count()
    }

    /// A mark goes over the character before it.
    fn overlay(&mut self, c: char) {
        if let Some(base) = self.placed.last().copied() {
            self.placed.push(Placed { c, ..base });
        }
    }
}
