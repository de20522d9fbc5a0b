//! Frames read back: each cell is looked up among the glyphs that could have been drawn there.
//!
//! Exact for every shape whose letters are not resampled, up to what leaves no trace in a picture: characters that share a
//! raster (the lowest code point is read), pale ink, a blank before a wide character at the end of a line, blanks at the end of a
//! page. Works on the picture alone.

mod glyph_index;
mod marks;
mod pixels;
mod recognize;

use crate::error::Error;
use crate::glyphs::Fonts;
use crate::shape::{GUTTER_CELLS, Grid, Shape};
use glyph_index::GlyphIndex;
pub use recognize::{recognize, shape_of};

use pixels::{CellBits, Inked, MOST_PX};

/// Stands for a cell that shows no known glyph.
pub const UNREAD: char = '\u{fffd}';

/// What a frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedPage {
    /// The text, as it was normalised; wrapped lines are joined again.
    pub text: String,
    /// Cells that show no known glyph. Each is [`UNREAD`] in the text.
    pub unread_cells: usize,
    /// Blank cells at the end of a page that is full: the text goes on after them. Not in `text`.
    trailing_blanks: usize,
    /// The first character takes two cells.
    starts_wide: bool,
    /// The last line of wrapped text was filled by a single word, which may go on.
    is_cut_in_word: bool,
    is_wrapped: bool,
}

/// Reads one frame, drawn with the compiled-in fonts.
///
/// # Errors
/// The file is no PNG of this shape, or the shape's letters are resampled.
pub fn decode(png: &[u8], shape: &Shape) -> Result<DecodedPage, Error> {
    Decoder::new(shape, &Fonts::default())?.decode(png)
}

/// Reads frames of one shape. Holds an index of all glyphs, so that several frames cost it once.
pub struct Decoder {
    shape: Shape,
    grid: Grid,
    index: GlyphIndex,
}

impl Decoder {
    /// Reads frames of `shape` that were drawn with `fonts`. Indexes all glyphs: some tens of milliseconds.
    ///
    /// # Errors
    /// The shape is not possible, or its letters are resampled.
    pub fn new(shape: &Shape, fonts: &Fonts) -> Result<Self, Error> {
        if shape.is_stretched() {
            return Err(Error::Resampled(shape.font));
        }
        let grid = shape.grid()?;
        if 2 * shape.cell_width > MOST_PX {
            let width = shape.cell_width;
            return Err(Error::Unreadable(format!("cells of {width} px are too wide to read")));
        }
        let index = GlyphIndex::new(shape, fonts);
        Ok(Self { shape: shape.clone(), grid, index })
    }

    /// The shape that is read.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What is read where a text says `c`: the same character, unless another one with a lower code point looks the same.
    /// `None` for characters that are not printed.
    pub fn reading_of(&self, c: char) -> Option<String> {
        self.index.reading_of(c)
    }

    /// Reads one frame.
    ///
    /// # Errors
    /// The file is no PNG of the decoder's shape.
    pub fn decode(&self, png: &[u8]) -> Result<DecodedPage, Error> {
        let picture = Inked::read(png)?;
        let line_px = self.shape.cell_height * self.shape.line_repeat;
        if picture.width_px != self.shape.frame_size || !picture.height_px.is_multiple_of(line_px) {
            return Err(Error::Unreadable(format!(
                "{}x{} px is no frame of {} px with lines of {line_px} px",
                picture.width_px, picture.height_px, self.shape.frame_size,
            )));
        }
        let rows = (picture.height_px / line_px).min(self.grid.rows);
        let lines: Vec<Line> = (0..self.grid.columns)
            .flat_map(|column| (0..rows).map(move |row| (column, row)))
            .map(|(column, row)| self.line(&picture, column, row))
            .collect();
        Ok(if self.grid.columns == 1 {
            self.joined_cells(&lines)
        } else {
            Self::joined_lines(&lines)
        })
    }

    /// Reads the pages of one text, in order.
    ///
    /// # Errors
    /// One of the files is no PNG of the decoder's shape.
    pub fn decode_all<'p>(
        &self,
        pngs: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<String, Error> {
        let pages: Result<Vec<DecodedPage>, Error> =
            pngs.into_iter().map(|png| self.decode(png)).collect();
        Ok(join(&pages?))
    }

    fn line(&self, picture: &Inked, column: usize, row: usize) -> Line {
        let (width, height) = (self.shape.cell_width, self.shape.cell_height);
        let left = column * (self.grid.cols + GUTTER_CELLS) * width;
        let top = row * height * self.shape.line_repeat;
        let cell =
            |col: usize, units: usize| picture.bits(left + col * width, top, units * width, height);
        Line::read(&self.index, self.grid.cols, cell)
    }

    fn joined_cells(&self, lines: &[Line]) -> DecodedPage {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let next = lines.get(at + 1).and_then(|next| next.text.chars().next());
            let is_pad = next.is_some_and(|c| self.index.is_wide(c)) && line.text.ends_with(' ');
            text.push_str(if is_pad { &line.text[..line.text.len() - 1] } else { &line.text });
        }
        let kept = text.trim_end_matches(' ').len();
        let is_full = lines.len() == self.grid.rows;
        let trailing_blanks = if is_full { text.len() - kept } else { 0 };
        text.truncate(kept);
        let starts_wide = text.starts_with(|c| self.index.is_wide(c));
        let unread_cells = lines.iter().map(|line| line.unread_cells).sum();
        DecodedPage {
            text,
            unread_cells,
            trailing_blanks,
            starts_wide,
            is_cut_in_word: false,
            is_wrapped: false,
        }
    }

    fn joined_lines(lines: &[Line]) -> DecodedPage {
        let mut text = String::new();
        let mut is_cut_in_word = true;
        for line in lines {
            let words = line.text.trim_end_matches(' ');
            if words.is_empty() {
                continue;
            }
            if !is_cut_in_word {
                text.push(' ');
            }
            text.push_str(words);
            // A word that is wider than a line fills it. A wide character that did not fit leaves one cell.
            is_cut_in_word = !words.contains(' ') && line.blank_end <= 1;
        }
        let unread_cells = lines.iter().map(|line| line.unread_cells).sum();
        DecodedPage {
            text,
            unread_cells,
            trailing_blanks: 0,
            starts_wide: false,
            is_cut_in_word,
            is_wrapped: true,
        }
    }
}

/// The text of pages that followed each other.
pub fn join(pages: &[DecodedPage]) -> String {
    let mut text = String::new();
    for (at, page) in pages.iter().enumerate() {
        text.push_str(&page.text);
        let Some(next) = pages.get(at + 1) else { break };
        if page.is_wrapped {
            if !page.is_cut_in_word {
                text.push(' ');
            }
            continue;
        }
        let is_pad = page.trailing_blanks == 1 && next.starts_wide;
        text.extend(std::iter::repeat_n(' ', if is_pad { 0 } else { page.trailing_blanks }));
    }
    text
}

/// One line of cells, read.
struct Line {
    text: String,
    unread_cells: usize,
    /// Blank cells at its end.
    blank_end: usize,
}

/// What a reading costs, so that the most sensible one wins: known glyphs before compositions before nothing; two narrow
/// characters before a wide one that looks like both.
const WIDE_COST: usize = 1;
const MARKED_COST: usize = 10;
const UNREAD_COST: usize = 1_000;

/// The best reading of the cells from one on.
#[derive(Clone)]
struct Reading {
    cost: usize,
    text: String,
    units: usize,
    is_unread: bool,
}

impl Line {
    fn read(index: &GlyphIndex, cols: usize, cell: impl Fn(usize, usize) -> CellBits) -> Self {
        let known = Self::parse(index, cols, &cell, false);
        if known.unread_cells == 0 { known } else { Self::parse(index, cols, &cell, true) }
    }

    /// The cheapest way to part the line into characters of one and of two cells.
    fn parse(
        index: &GlyphIndex,
        cols: usize,
        cell: &impl Fn(usize, usize) -> CellBits,
        with_marks: bool,
    ) -> Self {
        let mut best_costs = vec![0; cols + 1];
        let mut readings: Vec<Option<Reading>> = vec![None; cols];
        for col in (0..cols).rev() {
            let mut best: Option<Reading> = None;
            for units in 1..=2.min(cols - col) {
                let bits = cell(col, units);
                let Some((text, cost)) = Self::candidate(index, &bits, units, with_marks) else {
                    continue;
                };
                let total = cost + best_costs[col + units];
                if best.as_ref().is_none_or(|best| total < best.cost) {
                    let is_unread = cost >= UNREAD_COST;
                    best = Some(Reading { cost: total, text, units, is_unread });
                }
            }
            best_costs[col] = best.as_ref().map_or(0, |best| best.cost);
            readings[col] = best;
        }
        Self::collected(&readings)
    }

    fn candidate(
        index: &GlyphIndex,
        bits: &CellBits,
        units: usize,
        with_marks: bool,
    ) -> Option<(String, usize)> {
        let own = if units == 2 { WIDE_COST } else { 0 };
        if let Some(c) = index.find(bits, units) {
            return Some((c.to_string(), own));
        }
        if with_marks && let Some(text) = index.find_marked(bits, units) {
            return Some((text, own + MARKED_COST));
        }
        (units == 1).then(|| (UNREAD.to_string(), UNREAD_COST))
    }

    fn collected(readings: &[Option<Reading>]) -> Self {
        let mut line = Self { text: String::new(), unread_cells: 0, blank_end: 0 };
        let mut col = 0;
        while let Some(Some(reading)) = readings.get(col) {
            line.text.push_str(&reading.text);
            line.unread_cells += usize::from(reading.is_unread);
            line.blank_end = if reading.text == " " { line.blank_end + 1 } else { 0 };
            col += reading.units;
        }
        line
    }
}
