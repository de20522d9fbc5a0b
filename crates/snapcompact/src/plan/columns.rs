//! Frames with columns of text. They have one density: the first page stays, and the oldest after it go.

use super::gap::Gap;
use super::sections::Sections;
use super::sheet::Sheet;
use super::{Imaged, Part, chars, user_cells};

/// What becomes of the text between a head and the other edge: at most `max_frames` pages, which is at least one.
pub(super) fn imaged(head: &str, middle: &str, sheet: &Sheet, max_frames: usize) -> Imaged {
    let flowing = middle.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages = sheet.pages(&flowing);
    if pages.len() <= max_frames {
        let pages = pages.into_iter().map(|page| sheet.planned(page)).collect();
        return Imaged { pages, kept: flowing, truncated_chars: 0 };
    }
    let first = pages[0];
    let rest = if max_frames == 1 {
        String::new()
    } else {
        let whole = [head, &flowing].concat();
        let centre = Part { whole: &whole, range: head.len() + first.len()..whole.len() };
        let sections = Sections::of(&whole);
        let cells = (max_frames + 2) * sheet.grid.capacity();
        Gap::new(&centre, &sections, sheet, max_frames - 1).kept(user_cells(cells))
    };
    let planned: Vec<_> =
        [first].into_iter().chain(sheet.pages(&rest)).map(|page| sheet.planned(page)).collect();
    let kept = [first, &rest].concat().trim_end().to_owned();
    let truncated_chars = match flowing.strip_suffix(&rest) {
        // The white space after a page is on none, and not counted.
        Some(before) => sheet.pages(before)[1..].iter().map(|page| chars(page.trim_end())).sum(),
        None => chars(&flowing) - chars(&kept),
    };
    Imaged { pages: planned, kept, truncated_chars }
}
