//! The part of the transcript that is on the screen.
//!
//! Only items that are looked at are laid out, so a frame costs what the screen shows, not what the session holds. The position is an
//! item and a row of it, so nothing that happens above can move what the user reads; nothing needs the height of the whole.

use std::collections::{HashMap, HashSet};

use crate::tui::look::{Detail, Look};
use crate::tui::markdown;
use crate::tui::theme::Theme;
use crate::tui::view_state::ViewState;
use crate::tui::view_state::item::{Body, Item, Phase};
use crate::tui::wrap::Row;

/// Rows kept laid out off the screen: about 16 MiB of styled text at 100 columns.
const MAX_CACHED_ROWS: usize = 60_000;

/// Where the user looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scroll {
    /// At the end, whatever comes.
    #[default]
    Follow,
    /// This row of this item is on top.
    At {
        /// The item, by its place.
        item: usize,
        /// The row in it.
        row: usize,
    },
}

/// What the user has made of the transcript: position, expansion, the item in focus. Also keeps layouts.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// Where the user looks.
    scroll: Scroll,
    /// How many items there were when the user left the end.
    seen_items: usize,
    /// Whether everything is expanded.
    is_expanded: bool,
    /// Whether reasoning is shown.
    shows_thinking: bool,
    /// Items that are the other way round.
    toggled: HashSet<usize>,
    /// The item in focus.
    focus: Option<usize>,
    cache: Cache,
}

/// Rows of an item that are on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    item: usize,
    from: usize,
    to: usize,
}

/// A screen full of transcript.
pub(crate) struct Window<'a> {
    /// The rows, from the top.
    pub(crate) rows: Vec<&'a Row>,
    /// For each row, whether its item is in focus.
    pub(crate) in_focus: Vec<bool>,
    /// How many items came below since the user left the end.
    pub(crate) new_items: usize,
}

impl Transcript {
    /// Where the user looks.
    #[cfg(test)]
    pub(crate) fn scroll(&self) -> Scroll {
        self.scroll
    }

    /// How many items are laid out now.
    #[cfg(test)]
    pub(crate) fn laid_out(&self) -> usize {
        self.cache.layouts.len()
    }

    /// Shows the end, and whatever comes.
    pub(crate) fn follow(&mut self) {
        self.scroll = Scroll::Follow;
        self.focus = None;
    }

    /// Shows the beginning.
    pub(crate) fn show_start(&mut self, view: &ViewState) {
        self.leave_end(view, Scroll::At { item: 0, row: 0 });
    }

    /// Forgets positions and layouts: the items are others now.
    pub(crate) fn reset(&mut self) {
        self.follow();
        self.toggled.clear();
        self.cache = Cache::default();
    }

    /// Expands everything, or collapses it. Returns whether it is expanded now.
    pub(crate) fn toggle_all(&mut self) -> bool {
        self.toggled.clear();
        self.is_expanded = !self.is_expanded;
        self.is_expanded
    }

    /// Expands or collapses the item in focus. Returns whether there is one.
    pub(crate) fn toggle_focused(&mut self) -> bool {
        let Some(item) = self.focus else { return false };
        if !self.toggled.remove(&item) {
            self.toggled.insert(item);
        }
        true
    }

    /// The item in focus, where all of it is shown.
    pub(crate) fn expanded_focus(&self) -> Option<usize> {
        self.focus.filter(|item| self.is_expanded != self.toggled.contains(item))
    }

    /// Shows or hides reasoning. Returns whether it is shown now.
    pub(crate) fn toggle_thinking(&mut self) -> bool {
        self.shows_thinking = !self.shows_thinking;
        self.shows_thinking
    }

    /// Moves the position up by `rows`, or down where that is negative, on a screen of `height` rows.
    pub(crate) fn scroll_by(
        &mut self,
        rows: isize,
        view: &ViewState,
        look: &Look<'_>,
        height: usize,
    ) {
        let Some(top) = self.slices(view, look, height).first().copied() else { return };
        let (mut item, mut row) = (top.item, top.from);
        let mut left = rows.unsigned_abs();
        if rows > 0 {
            while left > 0 && (item, row) > (0, 0) {
                if row == 0 {
                    item -= 1;
                    row = self.height(view, item, look);
                    continue;
                }
                let step = left.min(row);
                row -= step;
                left -= step;
            }
        } else {
            while left > 0 && item < view.items().len() {
                let below = self.height(view, item, look).saturating_sub(row);
                if left < below {
                    row += left;
                    break;
                }
                left -= below;
                item += 1;
                row = 0;
            }
        }
        self.leave_end(view, Scroll::At { item, row });
        // A screen that would end below the last row shows the end.
        self.slices(view, look, height);
    }

    /// Moves the focus to the item above, or below where `step` is positive, and shows it.
    pub(crate) fn move_focus(
        &mut self,
        step: isize,
        view: &ViewState,
        look: &Look<'_>,
        height: usize,
    ) {
        let slices = self.slices(view, look, height);
        let (Some(first), Some(last)) = (slices.first(), slices.last()) else { return };
        let mut at = match self.focus {
            Some(at) => at.checked_add_signed(step),
            None => Some(last.item),
        };
        while let Some(item) = at.filter(|item| *item < view.items().len()) {
            if self.height(view, item, look) > 0 {
                self.focus = Some(item);
                let is_shown = (first.item..=last.item).contains(&item)
                    && (item != first.item || first.from == 0);
                if !is_shown {
                    self.leave_end(view, Scroll::At { item, row: 0 });
                }
                return;
            }
            at = item.checked_add_signed(step);
        }
        if step > 0 {
            self.follow();
        }
    }

    /// The rows on a screen of `height` rows.
    pub(crate) fn window(
        &mut self,
        view: &ViewState,
        look: &Look<'_>,
        height: usize,
    ) -> Window<'_> {
        let slices = self.slices(view, look, height);
        self.cache.evict(&slices);
        let mut rows = Vec::with_capacity(height);
        let mut in_focus = Vec::with_capacity(height);
        for slice in &slices {
            let laid_out = self.cache.rows(slice.item);
            rows.extend(laid_out.get(slice.from..slice.to).into_iter().flatten());
            in_focus.resize(rows.len(), self.focus == Some(slice.item));
        }
        let new_items = match self.scroll {
            Scroll::Follow => 0,
            Scroll::At { .. } => view.items().len().saturating_sub(self.seen_items),
        };
        Window { rows, in_focus, new_items }
    }

    fn leave_end(&mut self, view: &ViewState, to: Scroll) {
        if self.scroll == Scroll::Follow {
            self.seen_items = view.items().len();
        }
        self.scroll = to;
    }

    /// What is on the screen. Goes back to following where the end is.
    fn slices(&mut self, view: &ViewState, look: &Look<'_>, height: usize) -> Vec<Slice> {
        if let Scroll::At { item, row } = self.scroll {
            let slices = self.slices_from(item, row, view, look, height);
            let shown: usize = slices.iter().map(|slice| slice.to - slice.from).sum();
            if shown >= height {
                return slices;
            }
            self.scroll = Scroll::Follow;
        }
        self.last_slices(view, look, height)
    }

    fn slices_from(
        &mut self,
        item: usize,
        row: usize,
        view: &ViewState,
        look: &Look<'_>,
        height: usize,
    ) -> Vec<Slice> {
        let mut slices = Vec::new();
        let mut left = height;
        let mut from = row;
        for item in item..view.items().len() {
            let rows = self.height(view, item, look);
            from = from.min(rows);
            let to = rows.min(from + left);
            if to > from {
                slices.push(Slice { item, from, to });
                left -= to - from;
            }
            if left == 0 {
                break;
            }
            from = 0;
        }
        slices
    }

    fn last_slices(&mut self, view: &ViewState, look: &Look<'_>, height: usize) -> Vec<Slice> {
        let mut slices = Vec::new();
        let mut left = height;
        for item in (0..view.items().len()).rev() {
            if left == 0 {
                break;
            }
            let rows = self.height(view, item, look);
            let shown = rows.min(left);
            if shown > 0 {
                slices.push(Slice { item, from: rows - shown, to: rows });
                left -= shown;
            }
        }
        slices.reverse();
        slices
    }

    fn height(&mut self, view: &ViewState, at: usize, look: &Look<'_>) -> usize {
        let Some(item) = view.items().get(at) else { return 0 };
        let mut look = *look;
        let is_expanded = match &item.body {
            Body::Thinking(_) => self.shows_thinking,
            _ => self.is_expanded != self.toggled.contains(&at),
        };
        look.detail = if is_expanded { Detail::Expanded } else { Detail::Collapsed };
        let gap = gap_above(view.items(), at);
        self.cache.height(at, item, gap, &look)
    }
}

/// Whether an empty row parts an item from the one above it.
fn gap_above(items: &[Item], at: usize) -> bool {
    let is_divider = |item: &Item| matches!(item.body, Body::Divider(_));
    match at.checked_sub(1).and_then(|above| items.get(above)) {
        None => false,
        Some(above) => !(is_divider(above) && is_divider(&items[at])),
    }
}

/// Layouts by item, for one width and theme.
#[derive(Debug, Default)]
struct Cache {
    made_for: Option<(usize, Theme)>,
    layouts: HashMap<usize, Layout>,
    rows: usize,
}

/// What a layout was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    revision: u64,
    detail: Detail,
    /// Which picture of the spinner; always 0 for what does not move.
    phase: usize,
}

#[derive(Debug, Default)]
struct Layout {
    key: Option<Key>,
    growing: markdown::Layout,
    rows: Vec<Row>,
}

impl Cache {
    fn height(&mut self, at: usize, item: &Item, gap: bool, look: &Look<'_>) -> usize {
        let made_for = (look.columns, *look.theme);
        if self.made_for != Some(made_for) {
            *self = Self { made_for: Some(made_for), ..Self::default() };
        }
        let key = Key {
            revision: item.revision,
            detail: look.detail,
            phase: if moves(&item.body) { look.phase } else { 0 },
        };
        let layout = self.layouts.entry(at).or_default();
        if layout.key != Some(key) {
            let mut rows = super::item::rows(&item.body, &mut layout.growing, look);
            if gap && !rows.is_empty() {
                rows.insert(0, Row::default());
            }
            self.rows = self.rows - layout.rows.len() + rows.len();
            layout.rows = rows;
            layout.key = Some(key);
        }
        layout.rows.len()
    }

    fn rows(&self, at: usize) -> &[Row] {
        self.layouts.get(&at).map_or(&[], |layout| &layout.rows)
    }

    /// Drops what is off the screen once there is too much of it.
    fn evict(&mut self, shown: &[Slice]) {
        if self.rows <= MAX_CACHED_ROWS {
            return;
        }
        self.layouts.retain(|at, _| shown.iter().any(|slice| slice.item == *at));
        self.rows = self.layouts.values().map(|layout| layout.rows.len()).sum();
    }
}

/// Whether an item has a part that moves by itself.
fn moves(body: &Body) -> bool {
    matches!(body, Body::Calls(calls) if calls.iter().any(|call| call.phase == Phase::Running))
}
