//! Text wrapped at words, for shapes with columns of text.
//!
//! Runs of white space become one space or a line end. Nothing else is added or lost.

use crate::glyphs::Glyphs;
use crate::shape::Grid;

/// Lines of words, each at most `width` cells. A word that is wider is cut; ink switches take no cell. A character that is wider
/// than a line gets a line of its own. Linear in the text.
pub fn wrap(text: &str, width: usize, glyphs: &Glyphs) -> Vec<String> {
    let mut lines = Lines { done: Vec::new(), line: String::new(), cells: 0 };
    for word in text.split_whitespace() {
        let mut word = word;
        let mut cells = cells_of(word, glyphs);
        while cells > width {
            lines.flush();
            let (end, taken) = fitting(word, width, glyphs);
            lines.done.push(word[..end].to_owned());
            word = &word[end..];
            cells -= taken;
        }
        if !word.is_empty() {
            lines.add(word, cells, width);
        }
    }
    lines.flush();
    lines.done
}

/// The pages of a text in columns: lines as wide as a column, joined by `\n`, as many as the columns of a page have rows.
pub fn doc_pages(text: &str, grid: Grid, glyphs: &Glyphs) -> Vec<String> {
    let lines = wrap(text, grid.cols, glyphs);
    lines.chunks(grid.columns * grid.rows).map(|page| page.join("\n")).collect()
}

/// Finished lines, and the one that words are added to.
struct Lines {
    done: Vec<String>,
    line: String,
    cells: usize,
}

impl Lines {
    fn add(&mut self, word: &str, cells: usize, width: usize) {
        if !self.line.is_empty() && self.cells + 1 + cells > width {
            self.flush();
        }
        if !self.line.is_empty() {
            self.line.push(' ');
            self.cells += 1;
        }
        self.line.push_str(word);
        self.cells += cells;
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.done.push(std::mem::take(&mut self.line));
        }
        self.cells = 0;
    }
}

fn cells_of(text: &str, glyphs: &Glyphs) -> usize {
    text.chars().map(|c| glyphs.units(c)).sum()
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
