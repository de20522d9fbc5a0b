//! How the pages of one tier are laid out, and where a page may end before it is full.

use memchr::memmem;

use super::{PlannedPage, Tier};
use crate::error::Error;
use crate::glyphs::{Fonts, Glyphs};
use crate::paginate::paginate;
use crate::shape::{Grid, Shape};
use crate::wrap::{self, wrap};
use crate::{DIM_OFF, DIM_ON};

/// Ends a page that is not full, so that the pages after it stay what they were although something before them went. Ink is
/// switched off where it is off: that takes no cell, draws nothing, and no other text has it.
const PAGE_END: &str = "\u{f}\u{f}";

/// The same within pale ink, which goes on.
const PAGE_END_IN_DIM: &str = "\u{f}\u{f}\u{e}";

/// Most characters of either.
pub(super) const PAGE_END_CHARS: u64 = 3;

/// A text without the marks of pages that ended early in plain ink.
pub(super) fn without_page_ends(text: &str) -> String {
    text.replace(PAGE_END, "")
}

/// The cells of a page, and the glyphs that fill them.
pub(super) struct Sheet {
    pub(super) tier: Tier,
    pub(super) grid: Grid,
    pub(super) glyphs: Glyphs,
}

impl Sheet {
    pub(super) fn new(shape: &Shape, tier: Tier, fonts: &Fonts) -> Result<Self, Error> {
        Ok(Self { tier, grid: shape.grid()?, glyphs: fonts.glyphs(shape.font) })
    }

    /// The pages of a text. Together they are all of it, unless not one character has a cell. Linear in the text.
    pub(super) fn pages<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut pages = Vec::new();
        let (mut start, mut from) = (0, 0);
        for end in early_ends(text).into_iter().chain([text.len()]) {
            let mut found = self.full_pages(&text[from..end]).into_iter();
            if let Some(first) = found.next() {
                pages.push(&text[start..from + first.len()]);
                pages.extend(found);
                start = end;
            }
            from = end;
        }
        if let Some(last) = pages.last_mut() {
            *last = &text[start - last.len()..];
        }
        pages
    }

    /// Pages that are full, save the last. In columns each begins at a word or within a long one.
    fn full_pages<'a>(&self, text: &'a str) -> Vec<&'a str> {
        if self.grid.columns == 1 {
            return paginate(text, self.grid, &self.glyphs);
        }
        let lines = wrap::lines(text, self.grid.cols, &self.glyphs);
        let pages = lines.chunks(self.grid.columns * self.grid.rows);
        let ends = pages.clone().skip(1).map(|page| page[0].start).chain([text.len()]);
        let mut start = 0;
        pages.zip(ends).map(|(_, end)| &text[std::mem::replace(&mut start, end)..end]).collect()
    }

    /// A page of this tier.
    pub(super) fn planned(&self, page: &str) -> PlannedPage {
        let text = if self.grid.columns == 1 {
            page.to_owned()
        } else {
            wrap(page, self.grid.cols, &self.glyphs).join("\n")
        };
        PlannedPage { text, tier: self.tier }
    }

    /// Whether what follows pages goes to the next one by itself.
    pub(super) fn is_full(&self, pages: &str, next: &str) -> bool {
        let is_grid = self.grid.columns == 1;
        let unit = next.split_inclusive(|c: char| is_grid || c.is_whitespace()).next();
        let Some(unit) = unit else { return true };
        let mut end = 0;
        self.pages(&[pages, unit].concat()).into_iter().any(|page| {
            end += page.len();
            end == pages.len()
        })
    }

    /// Ends the last of some pages although it is not full.
    pub(super) fn end_page(&self, pages: &mut String, is_dim: bool) {
        // In columns the white space after a word is no part of a line.
        let end = if self.grid.columns == 1 { pages.len() } else { pages.trim_end().len() };
        pages.insert_str(end, if is_dim { PAGE_END_IN_DIM } else { PAGE_END });
    }

    /// Cells that a text takes, not counting those that stay blank before wide characters.
    pub(super) fn cells(&self, text: &str) -> usize {
        text.chars().map(|c| self.glyphs.units(c)).sum()
    }

    /// The beginning of a text that takes no cell.
    pub(super) fn cell_less<'a>(&self, text: &'a str) -> &'a str {
        let rest = text.trim_start_matches(|c| self.glyphs.units(c) == 0);
        &text[..text.len() - rest.len()]
    }
}

/// Where pages end although they may not be full.
fn early_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), PAGE_END) {
        if ends.last().is_none_or(|end| *end <= at) {
            ends.push(text.len() - text[at..].trim_start_matches([DIM_ON, DIM_OFF]).len());
        }
    }
    ends
}
