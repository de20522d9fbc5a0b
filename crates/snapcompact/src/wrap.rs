//! Text wrapped at words, for shapes with columns of text.
//!
//! Runs of white space become one space or a line end. Nothing else is added or lost.

use std::ops::Range;

use crate::glyphs::Glyphs;
use crate::shape::Grid;

/// Lines of words, each at most `width` cells. A word that is wider is cut; ink switches take no cell. A character that is wider
/// than a line gets a line of its own. Linear in the text.
pub fn wrap(text: &str, width: usize, glyphs: &Glyphs) -> Vec<String> {
    let words = |line: Range<usize>| text[line].split_whitespace().collect::<Vec<_>>();
    lines(text, width, glyphs).into_iter().map(|line| words(line).join(" ")).collect()
}

/// The pages of a text in columns: lines as wide as a column, joined by `\n`, as many as the columns of a page have rows.
pub fn doc_pages(text: &str, grid: Grid, glyphs: &Glyphs) -> Vec<String> {
    let lines = wrap(text, grid.cols, glyphs);
    lines.chunks(grid.columns * grid.rows).map(|page| page.join("\n")).collect()
}

/// Where the lines of [`wrap`] are in the text, without the white space around them.
pub(crate) fn lines(text: &str, width: usize, glyphs: &Glyphs) -> Vec<Range<usize>> {
    let mut lines = Lines { done: Vec::new(), line: 0..0, cells: 0 };
    let mut end = 0;
    while let Some(gap) = text[end..].find(|c: char| !c.is_whitespace()) {
        let mut start = end + gap;
        let rest = &text[start..];
        end = start + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let mut cells: usize = text[start..end].chars().map(|c| glyphs.units(c)).sum();
        while cells > width {
            lines.flush();
            let (length, taken) = fitting(&text[start..end], width, glyphs);
            lines.done.push(start..start + length);
            start += length;
            cells -= taken;
        }
        if start < end {
            lines.add(start..end, cells, width);
        }
    }
    lines.flush();
    lines.done
}

/// Finished lines, and the one that words are added to.
struct Lines {
    done: Vec<Range<usize>>,
    line: Range<usize>,
    cells: usize,
}

impl Lines {
    fn add(&mut self, word: Range<usize>, cells: usize, width: usize) {
        if !self.line.is_empty() && self.cells + 1 + cells > width {
            self.flush();
        }
        if self.line.is_empty() {
            (self.line, self.cells) = (word, cells);
        } else {
            self.line.end = word.end;
            self.cells += 1 + cells;
        }
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.done.push(std::mem::take(&mut self.line));
        }
    }
}

/// Where the longest beginning ends that fits, and its cells. It has at least one character with a cell.
fn fitting(word: &str, width: usize, glyphs: &Glyphs) -> (usize, usize) {
    let mut cells = 0;
    for (at, c) in word.char_indices() {
        let units = glyphs.units(c);
        if cells > 0 && cells + units > width {
            return (at, cells);
        }
        cells += units;
    }
    (word.len(), cells)
}
