//! Who speaks where in archive text, and in which ink.

use std::ops::Range;

use memchr::memchr3_iter;

use crate::serialize::{SCOPES, Scope};
use crate::{DIM_OFF, DIM_ON, LINE_END};

/// What one speaker said, up to the next section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// Where the line end before the marker is; a section at the start of a text has none.
    pub(super) start: usize,
    /// Where the marker is.
    marker: usize,
    pub(super) scope: Scope,
}

impl Section {
    /// Where what is said begins.
    pub(super) fn said(self) -> usize {
        self.marker + self.scope.marker().len()
    }

    /// Whether a place is after the line end and before what is said.
    pub(super) fn opens_around(self, place: usize) -> bool {
        self.start < place && place < self.said()
    }
}

/// The sections of a text. A marker counts only after a line end and not in pale ink, in which output of tools is quoted.
pub(super) struct Sections {
    begun: Vec<Section>,
    /// Where the ink is switched, and whether it is pale from there on.
    inks: Vec<(usize, bool)>,
    end: usize,
}

impl Sections {
    /// Linear in the text.
    pub(super) fn of(text: &str) -> Self {
        let (mut begun, mut inks) = (Vec::new(), Vec::new());
        let mut is_dim = false;
        // The first byte of a marker is one of letters of Latin-1, too; of the two switches it is all.
        for at in memchr3_iter(DIM_ON as u8, DIM_OFF as u8, b'\xC2', text.as_bytes()) {
            let rest = &text[at..];
            if rest.starts_with([DIM_ON, DIM_OFF]) {
                is_dim = rest.starts_with(DIM_ON);
                inks.push((at + 1, is_dim));
            } else if !is_dim {
                begun.extend(section_at(text, at));
            }
        }
        Self { begun, inks, end: text.len() }
    }

    /// The section that a place is in, if one has begun.
    pub(super) fn at(&self, place: usize) -> Option<Section> {
        let count = self.begun.partition_point(|section| section.start <= place);
        Some(self.begun[count.checked_sub(1)?])
    }

    /// Who has spoken last before a place, if a whole marker is before it.
    pub(super) fn scope_before(&self, place: usize) -> Option<Scope> {
        let count = self.begun.partition_point(|section| section.said() <= place);
        Some(self.begun[count.checked_sub(1)?].scope)
    }

    /// Whether a place is in pale ink.
    pub(super) fn is_dim(&self, place: usize) -> bool {
        let count = self.inks.partition_point(|(at, _)| *at <= place);
        count > 0 && self.inks[count - 1].1
    }

    /// What the user said within a range, oldest first.
    pub(super) fn of_user(&self, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let ends = self.begun.iter().skip(1).map(|section| section.start).chain([self.end]);
        let all = self.begun.iter().zip(ends);
        all.filter(|(section, _)| section.scope == Scope::User)
            .map(move |(section, end)| section.start.max(within.start)..end.min(within.end))
            .filter(|range| !range.is_empty())
    }
}

/// The section whose marker is at a place. Switches may stand between it and its line end.
fn section_at(text: &str, marker: usize) -> Option<Section> {
    let scope = SCOPES.into_iter().find(|scope| text[marker..].starts_with(scope.marker()))?;
    let before = text[..marker].trim_end_matches([DIM_ON, DIM_OFF]);
    let line = before.strip_suffix(LINE_END);
    (before.is_empty() || line.is_some()).then(|| Section {
        start: line.map_or(0, str::len),
        marker,
        scope,
    })
}
