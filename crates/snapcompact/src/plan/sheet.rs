//! How the pages of one tier are laid out, and where a page may end before it is full.

use memchr::memmem;

use super::{PlannedPage, Tier};
use crate::error::Error;
use crate::glyphs::{Fonts, Glyphs};
use crate::paginate::paginate;
use crate::shape::{Grid, Shape};
use crate::{DIM_OFF, DIM_ON};

/// Ends a page that is not full, so that the pages after it stay what they were although something before them went. Ink is
/// switched off where it is off: that takes no cell, draws nothing, and no other text has it.
const PAGE_END: &str = "\u{f}\u{f}";

/// The same within pale ink, which goes on.
const PAGE_END_IN_DIM: &str = "\u{f}\u{f}\u{e}";

/// Most characters of either.
pub(super) const PAGE_END_CHARS: u64 = 3;

/// The mark that ends a page early.
pub(super) fn page_end(is_dim: bool) -> &'static str {
    if is_dim { PAGE_END_IN_DIM } else { PAGE_END }
}

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

    /// The pages of a text. Together they are all of it, unless not one character has a cell.
    pub(super) fn pages<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut pages = Vec::new();
        let mut start = 0;
        let early = memmem::find_iter(text.as_bytes(), PAGE_END)
            .map(|at| text.len() - text[at..].trim_start_matches([DIM_ON, DIM_OFF]).len());
        for end in early.chain([text.len()]) {
            let found = paginate(&text[start..end], self.grid, &self.glyphs);
            if !found.is_empty() {
                pages.extend(found);
                start = end;
            }
        }
        if let Some(last) = pages.last_mut() {
            *last = &text[start - last.len()..];
        }
        pages
    }

    /// A page of this tier.
    pub(super) fn planned(&self, page: &str) -> PlannedPage {
        PlannedPage { text: page.to_owned(), tier: self.tier }
    }

    /// Whether what follows a page goes to the next one by itself.
    pub(super) fn is_full(&self, page: &str, next: &str) -> bool {
        let Some(c) = next.chars().next() else { return true };
        self.pages(&format!("{page}{c}")).len() > self.pages(page).len()
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
