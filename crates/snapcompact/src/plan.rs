//! Which part of an archive stays text, which becomes frames of which density, and which is left out.
//!
//! The plan follows from the text alone, so that an archive planned again after more was appended has the same pages as far as it
//! can. Both edges stay text. Nothing is left out without being counted. Draws nothing.

mod columns;
mod foveation;
mod gap;
mod sections;
mod sheet;

use std::ops::Range;

use crate::error::Error;
use crate::glyphs::{Fonts, is_overlay};
use crate::shape::Shape;
use sheet::Sheet;

/// How densely a page is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// In the shape that the model reads best.
    High,
    /// In the denser companion shape.
    Low,
}

/// A page that becomes a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPage {
    /// What is printed.
    pub text: String,
    /// In which shape.
    pub tier: Tier,
}

/// What becomes of an archive's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The oldest part, which stays text.
    pub text_head: String,
    /// The newest part, which stays text; empty if the head is everything.
    pub text_tail: String,
    /// The frames between them, oldest first.
    pub pages: Vec<PlannedPage>,
    /// All text that is kept, without a break between edges and pages. The next archive is planned from it: it says where pages
    /// end early, in ink switches that draw nothing.
    pub kept: String,
    /// Characters that are not kept. Markers that are said again after a gap count as kept, so that this and `kept` make up the
    /// text.
    pub truncated_chars: u64,
}

/// Plans an archive of normalised text, with at most `max_frames` frames. Linear in the text.
///
/// As many characters as a frame of the high shape has cells stay text at either end; what fits into both is text only. What is
/// between becomes frames in the high shape. If these are too many, all but the outermost (at most three on each side) are printed
/// in the low shape if that holds more. If they still are too many, the oldest of these go, but what the user said in them is
/// kept, up to a fifth of the archive. Shapes with columns of text have one density: the first page stays, and the oldest after
/// it go in the same way.
///
/// ```
/// use longhand_snapcompact::plan::{Tier, plan};
/// use longhand_snapcompact::{Family, Fonts, Variant};
///
/// # fn main() -> Result<(), longhand_snapcompact::Error> {
/// let high = Variant::Wide11On16.shape(Family::Anthropic);
/// let low = Variant::Wide8On16.shape(Family::Anthropic);
/// let text = "word ".repeat(8_000);
/// let planned = plan(&text, &high, &low, 20, &Fonts::default())?;
/// assert_eq!((planned.text_head.len(), planned.text_tail.len()), (13_916, 13_916));
/// assert!(planned.pages.iter().all(|page| page.tier == Tier::High));
/// assert_eq!((planned.kept, planned.truncated_chars), (text, 0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A shape is not possible.
pub fn plan(
    text: &str,
    high: &Shape,
    low: &Shape,
    max_frames: usize,
    fonts: &Fonts,
) -> Result<Plan, Error> {
    let high = Sheet::new(high, Tier::High, fonts)?;
    let low = Sheet::new(low, Tier::Low, fonts)?;
    let low = if low.grid.capacity() > high.grid.capacity() { &low } else { &high };
    let Some(middle) = middle(text, high.grid.capacity()) else {
        return Ok(Plan {
            text_head: text.to_owned(),
            text_tail: String::new(),
            pages: Vec::new(),
            kept: text.to_owned(),
            truncated_chars: 0,
        });
    };
    let (head, tail) = (&text[..middle.start], &text[middle.end..]);
    let imaged = if max_frames == 0 {
        Imaged { pages: Vec::new(), kept: String::new(), truncated_chars: chars(&text[middle]) }
    } else if high.grid.columns > 1 {
        columns::imaged(head, &text[middle], &high, max_frames)
    } else {
        let part = Part { whole: text, range: middle.clone() };
        let pages = foveation::pages(&part, &high, low, max_frames);
        let kept: String = pages.iter().map(|page| page.text.as_str()).collect();
        Imaged { truncated_chars: chars(&text[middle]) - chars(&kept), pages, kept }
    };
    Ok(Plan {
        text_head: head.to_owned(),
        text_tail: tail.to_owned(),
        pages: imaged.pages,
        kept: [head, &imaged.kept, tail].concat(),
        truncated_chars: imaged.truncated_chars,
    })
}

/// A part of a text. Places in it are counted from the start of the whole.
struct Part<'a> {
    whole: &'a str,
    range: Range<usize>,
}

impl<'a> Part<'a> {
    fn as_str(&self) -> &'a str {
        &self.whole[self.range.clone()]
    }
}

/// What becomes of the text between the edges.
struct Imaged {
    pages: Vec<PlannedPage>,
    kept: String,
    truncated_chars: u64,
}

/// What is between the edges of `edge` characters each, at least one, if they do not hold everything. Marks stay with their
/// letter.
fn middle(text: &str, edge: usize) -> Option<Range<usize>> {
    let start = text.char_indices().nth(edge)?.0;
    let end = text.char_indices().nth_back(edge - 1)?.0;
    if end <= start {
        return None;
    }
    let past_marks = |at: usize| text.len() - text[at..].trim_start_matches(is_overlay).len();
    Some(past_marks(start)..past_marks(end))
}

/// Cells that what the user said may take where the rest is left out: a fifth of those of the archive.
fn user_cells(archive_cells: usize) -> usize {
    archive_cells / 5
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}
