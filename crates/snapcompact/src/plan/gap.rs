//! What is left out between two pages, and how the text goes on after it.
//!
//! Whole pages are left out, the oldest first. What the user said in them is kept before the first page that stays, which gives
//! way line by line for as many cells as that takes and ends where it ended before: the pages after it stay what they were, also
//! when the kept text is planned again. Where somebody else goes on than spoke before the gap, the marker is said again.

use std::ops::Range;

use super::sections::Sections;
use super::sheet::{Sheet, without_page_ends};
use super::{Part, chars};
use crate::{DIM_OFF, DIM_ON, LINE_END};

/// A part of a text that has more pages than frames.
pub(super) struct Gap<'a> {
    centre: &'a Part<'a>,
    sections: &'a Sections,
    sheet: &'a Sheet,
    frames: usize,
    /// Where the pages are.
    pages: Vec<Range<usize>>,
    /// Where the user speaks, and the cells that it takes.
    of_user: Vec<(Range<usize>, usize)>,
}

impl<'a> Gap<'a> {
    /// `centre` has more pages than `frames`; `sections` are those of the text up to its end.
    pub(super) fn new(
        centre: &'a Part<'a>,
        sections: &'a Sections,
        sheet: &'a Sheet,
        frames: usize,
    ) -> Self {
        let mut start = centre.range.start;
        let pages = sheet.pages(centre.as_str()).into_iter().map(|page| {
            let range = start..start + page.len();
            start = range.end;
            range
        });
        let of_user = sections.of_user(centre.range.clone());
        Self {
            centre,
            sections,
            sheet,
            frames,
            pages: pages.collect(),
            of_user: of_user.map(|said| (said.clone(), sheet.cells(&centre.whole[said]))).collect(),
        }
    }

    /// What is kept, with at most `user_cells` cells of what the user said where the rest is left out, and at most half of the
    /// pages.
    pub(super) fn kept(&self, user_cells: usize) -> String {
        let room = user_cells.min(self.frames * self.sheet.grid.capacity() / 2);
        let start = self.pages[self.pages.len() - self.frames].start;
        let place = if self.fits(start, room) {
            Some(start)
        } else {
            let places = self.places(start);
            places.get(places.partition_point(|place| !self.fits(*place, room))).copied()
        };
        // A text without lines has no place for a marker, and pages of a few cells hold none.
        place
            .map(|place| self.joined(place, room))
            .filter(|kept| self.sheet.pages(kept).len() <= self.frames)
            .filter(|kept| chars(kept) <= chars(self.centre.as_str()))
            .unwrap_or_else(|| self.centre.whole[start..self.centre.range.end].to_owned())
    }

    /// Where the text may go on from a page on, in rising order: at pages and line ends.
    fn places(&self, start: usize) -> Vec<usize> {
        let lines = self.centre.whole[start..self.centre.range.end].match_indices(LINE_END);
        let mut places: Vec<usize> = lines.map(|(at, _)| start + at).collect();
        places.extend(self.pages.iter().map(|page| page.start).filter(|at| *at >= start));
        places.sort_unstable();
        places.dedup();
        places
    }

    fn fits(&self, place: usize, room: usize) -> bool {
        let page = self.page_of(place);
        let after = self.pages.len() - 1 - page;
        self.sheet.pages(&self.front(place, room)).len() + after <= self.frames
    }

    fn page_of(&self, place: usize) -> usize {
        self.pages.partition_point(|page| page.start <= place) - 1
    }

    /// Everything that is kept if the text goes on at a place.
    fn joined(&self, place: usize, room: usize) -> String {
        let mut kept = self.front(place, room);
        let end = self.pages[self.page_of(place)].end;
        let rest = &self.centre.whole[end..self.centre.range.end];
        // A marker with switches inside would not be read as one. The pages after it move, then.
        let is_in_marker = self.sections.at(end).is_some_and(|section| section.opens_around(end));
        if !is_in_marker && !self.sheet.is_full(&kept, rest) {
            self.sheet.end_page(&mut kept, self.sections.is_dim(end));
        }
        kept + rest
    }

    /// What is kept up to the end of the page at which the text goes on.
    fn front(&self, place: usize, room: usize) -> String {
        let text = self.centre.whole;
        let start = self.centre.range.start;
        let mut front = Front { text, sections: self.sections, out: String::new(), end: start };
        for said in self.kept_of_user(place, room) {
            front.go_on(said.start);
            front.out.push_str(&without_page_ends(&text[front.end..said.end]));
            front.end = said.end;
        }
        front.go_on(place);
        let end = self.pages[self.page_of(place)].end.max(front.end);
        front.out + &text[front.end..end]
    }

    /// What the user said before a place, oldest first. If it has no room, the newest of it that takes three quarters of the
    /// room, so that a while passes until its pages change again; of a section that takes more than one quarter, which is mostly
    /// pasted, the beginning.
    fn kept_of_user(&self, place: usize, room: usize) -> Vec<Range<usize>> {
        let begun = self.of_user.partition_point(|(said, _)| said.start < place);
        let mut all = self.of_user[..begun].to_vec();
        if let Some((said, cells)) = all.last_mut().filter(|(said, _)| said.end > place) {
            said.end = place;
            *cells = self.sheet.cells(&self.centre.whole[said.clone()]);
        }
        let wanted: usize = all.iter().map(|(_, cells)| cells).sum();
        if wanted <= room {
            return all.into_iter().map(|(said, _)| said).collect();
        }
        let mut left = room - room / 4;
        let mut kept = Vec::new();
        for (said, cells) in all.into_iter().rev() {
            let taken = cells.min(room / 4);
            if taken <= left {
                left -= taken;
                kept.push(self.beginning(said, taken));
            }
        }
        kept.reverse();
        kept
    }

    /// The beginning of a range that takes at most `most` cells.
    fn beginning(&self, range: Range<usize>, most: usize) -> Range<usize> {
        let said = &self.centre.whole[range.clone()];
        let mut cells = 0;
        let more = said.char_indices().find(|(_, c)| {
            cells += self.sheet.glyphs.units(*c);
            cells > most
        });
        range.start..more.map_or(range.end, |(at, _)| range.start + at)
    }
}

/// Text that is being put together from parts of another.
struct Front<'a> {
    sections: &'a Sections,
    text: &'a str,
    out: String,
    /// Where the last part ended.
    end: usize,
}

impl Front<'_> {
    /// Leads from the end of the last part to a place after it: in its ink, and with its marker if the speaker changes.
    fn go_on(&mut self, place: usize) {
        let from = std::mem::replace(&mut self.end, place);
        if from == place {
            return;
        }
        let marker = self.marker(from, place);
        let (was_dim, is_dim) = (self.sections.is_dim(from), self.sections.is_dim(self.end));
        if was_dim && (marker.is_some() || !is_dim) {
            self.out.push(DIM_OFF);
        }
        if let Some(marker) = marker {
            self.out.push(LINE_END);
            self.out.push_str(marker);
        }
        if is_dim && (marker.is_some() || !was_dim) {
            self.out.push(DIM_ON);
        }
    }

    /// What to say on a line of its own before the text goes on at a place: nothing if the same speaker goes on. Moves the end of
    /// the last part past what is said already.
    fn marker(&mut self, from: usize, place: usize) -> Option<&'static str> {
        let section = self.sections.at(place)?;
        if place == section.start {
            return None;
        }
        if section.opens_around(place) {
            self.end = section.said();
        } else if self.sections.scope_before(from) == Some(section.scope) {
            return None;
        } else if self.text[place..].starts_with(LINE_END) {
            self.end += LINE_END.len_utf8();
        }
        Some(section.scope.marker())
    }
}
