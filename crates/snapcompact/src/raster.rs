//! From a page to pixels: bands, letters, line ends.
//!
//! The picture is as wide as the frame and as high as the lines that are used. The same page and shape give the same pixels.

use std::collections::HashMap;

use crate::canvas::Canvas;
use crate::error::Error;
use crate::glyphs::{Fonts, Glyphs};
use crate::palette::{BAND, BLACK};
use crate::shape::{Grid, Shape};
use crate::stamp::{self, Stamp};
use crate::stretch;
use crate::typesetting::{self, Typeset};
use crate::{LINE_END, png_file};

/// The pixels of one page.
#[derive(Debug, Clone)]
pub struct Drawing {
    pixels: Pixels,
}

#[derive(Debug, Clone)]
enum Pixels {
    Indexed(Canvas),
    Resampled(stretch::Picture),
}

impl Drawing {
    /// Width, in pixels.
    pub fn width_px(&self) -> usize {
        match &self.pixels {
            Pixels::Indexed(canvas) => canvas.width_px,
            Pixels::Resampled(picture) => picture.width_px,
        }
    }

    /// Height, in pixels.
    pub fn height_px(&self) -> usize {
        match &self.pixels {
            Pixels::Indexed(canvas) => canvas.height_px,
            Pixels::Resampled(picture) => picture.height_px,
        }
    }

    /// Red, green, blue of each pixel, row by row. Of a resampled picture these are the values before its colours are reduced to
    /// those of the file.
    pub fn rgb(&self) -> Vec<u8> {
        match &self.pixels {
            Pixels::Indexed(canvas) => stretch::rgb_of(canvas),
            Pixels::Resampled(picture) => picture.rgb.clone(),
        }
    }

    /// The picture as PNG: indexed colours, as few bits a pixel as they need.
    ///
    /// # Errors
    /// The encoder failed.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        match &self.pixels {
            Pixels::Indexed(canvas) => png_file::of_canvas(canvas),
            Pixels::Resampled(picture) => png_file::of_rgb(picture),
        }
    }
}

/// Draws one page. The page is printed as it is: normalise and paginate it first.
///
/// # Errors
/// The shape is not possible.
pub fn draw(page: &str, shape: &Shape, fonts: &Fonts) -> Result<Drawing, Error> {
    let grid = shape.grid()?;
    let glyphs = fonts.glyphs(shape.font);
    let typeset = typesetting::typeset(page, grid, shape.ink, &glyphs);
    let pixels = if shape.is_stretched() {
        let natural = shape.font.natural_cell();
        let canvas = print(&typeset, shape, &glyphs, grid.cols * natural.0);
        Pixels::Resampled(stretch::resample(
            &canvas,
            target(&typeset, shape, grid),
            shape.frame_size,
        ))
    } else {
        Pixels::Indexed(print(&typeset, shape, &glyphs, shape.frame_size))
    };
    Ok(Drawing { pixels })
}

/// Size of the resampled part of a picture.
fn target(typeset: &Typeset, shape: &Shape, grid: Grid) -> (usize, usize) {
    (grid.cols * shape.cell_width, typeset.rows * shape.line_repeat * shape.cell_height)
}

fn print(typeset: &Typeset, shape: &Shape, glyphs: &Glyphs, width_px: usize) -> Canvas {
    let cell = stamp::drawn_cell(shape);
    let line_px = cell.1 * shape.line_repeat;
    let mut canvas = Canvas::new(width_px, typeset.rows * line_px);
    for row in 0..typeset.rows {
        canvas.fill(0, row * line_px + cell.1, width_px, line_px - cell.1, BAND);
    }
    let mut stamps = Stamps::new(glyphs, cell);
    for placed in &typeset.placed {
        for copy in 0..shape.line_repeat {
            let (x, y) = (placed.col * cell.0, placed.row * line_px + copy * cell.1);
            if placed.c == LINE_END {
                canvas.fill(x, y, placed.units * cell.0, cell.1, BLACK);
            } else if let Some(stamp) = stamps.of(placed.c, placed.units) {
                canvas.blit(&stamp, x, y, placed.ink);
            }
        }
    }
    canvas
}

/// Stamps that were made for this page. Those of ASCII are made at once: every page has most of them.
struct Stamps<'a> {
    glyphs: &'a Glyphs,
    cell: (usize, usize),
    ascii: [Option<Stamp>; 128],
    others: HashMap<(char, usize), Option<Stamp>>,
}

impl<'a> Stamps<'a> {
    fn new(glyphs: &'a Glyphs, cell: (usize, usize)) -> Self {
        let ascii = std::array::from_fn(|code| stamp::stamp(code as u8 as char, 1, glyphs, cell));
        Self { glyphs, cell, ascii, others: HashMap::new() }
    }

    fn of(&mut self, c: char, units: usize) -> Option<Stamp> {
        match self.ascii.get(c as usize) {
            Some(stamp) => *stamp,
            None => *self
                .others
                .entry((c, units))
                .or_insert_with(|| stamp::stamp(c, units, self.glyphs, self.cell)),
        }
    }
}
