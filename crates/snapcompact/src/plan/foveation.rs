//! Frames of two densities: the outermost in the high shape, those between them in the low one.

use super::gap::Gap;
use super::sections::Sections;
use super::sheet::{PAGE_END_CHARS, Sheet};
use super::{Part, PlannedPage, chars, user_cells};
use crate::DIM_ON;

/// Most frames on each side that stay in the high shape.
const EDGE_FRAMES: usize = 3;

/// The pages of a part of a text: at most `max_frames`, which is at least one. A part without a cell has none.
pub(super) fn pages(
    middle: &Part<'_>,
    high: &Sheet,
    low: &Sheet,
    max_frames: usize,
) -> Vec<PlannedPage> {
    let all = high.pages(middle.as_str());
    if all.len() <= max_frames {
        return all.into_iter().map(|page| high.planned(page)).collect();
    }
    let edge = EDGE_FRAMES.min((max_frames - 1) / 2);
    let (first, last) = (&all[..edge], &all[all.len() - edge..]);
    let bytes = |pages: &[&str]| pages.iter().map(|page| page.len()).sum::<usize>();
    let centre = Part {
        whole: middle.whole,
        range: middle.range.start + bytes(first)..middle.range.end - bytes(last),
    };
    let frames = max_frames - 2 * edge;

    let mut pages: Vec<_> = first.iter().map(|page| high.planned(page)).collect();
    let between = low.pages(centre.as_str());
    if between.len() <= frames {
        pages.extend(between.into_iter().map(|page| low.planned(page)));
    } else {
        let sections = Sections::of(&centre.whole[..centre.range.end]);
        let is_dim = sections.is_dim(centre.range.start);
        let archive_cells = 2 * (edge + 1) * high.grid.capacity() + frames * low.grid.capacity();
        let gap = Gap::new(&centre, &sections, low, frames);
        let kept = gap.kept(user_cells(archive_cells));
        let left_out = chars(centre.as_str()) - chars(&kept);
        let kept = match pages.last_mut() {
            Some(before) if left_out >= PAGE_END_CHARS => close(before, &kept, high, is_dim),
            _ => &kept,
        };
        pages.extend(low.pages(kept).into_iter().map(|page| low.planned(page)));
    }
    pages.extend(last.iter().map(|page| high.planned(page)));
    pages
}

/// Makes a page end before a text that did not follow it at first, also when both are planned again. Returns what is on the
/// pages after it.
fn close<'a>(page: &mut PlannedPage, next: &'a str, sheet: &Sheet, is_dim: bool) -> &'a str {
    let switches = sheet.cell_less(next);
    let next = &next[switches.len()..];
    page.text.push_str(switches);
    if !sheet.is_full(&page.text, next) {
        let is_dim = switches.chars().next_back().map_or(is_dim, |switch| switch == DIM_ON);
        sheet.end_page(&mut page.text, is_dim);
    }
    next
}
