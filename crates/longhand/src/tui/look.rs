//! What a layout depends on besides the thing that is laid out.

use ratatui::style::Style;
use ratatui::text::Span;

use super::theme::{Role, Theme};
use super::wrap::Piece;

/// Columns left free at the left of a transcript, and at its right.
pub(crate) const MARGIN: usize = 1;

/// How much of an item is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Detail {
    /// As much as tells what it is.
    Collapsed,
    /// All of it.
    Expanded,
}

/// What a layout depends on besides the thing that is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    /// Colours and glyphs.
    pub(crate) theme: &'a Theme,
    /// Columns of the screen.
    pub(crate) columns: usize,
    /// How much is shown.
    pub(crate) detail: Detail,
    /// Which picture an animation shows.
    pub(crate) phase: usize,
}

impl Look<'_> {
    /// A style by role.
    pub(crate) fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// A piece of text with a role.
    pub(crate) fn piece(&self, text: impl Into<String>, role: Role) -> Piece {
        Span::styled(text.into(), self.style(role))
    }

    /// Columns between the margins.
    pub(crate) fn inner_columns(&self) -> usize {
        self.columns.saturating_sub(2 * MARGIN).max(1)
    }

    /// Whether all of it is shown.
    pub(crate) fn is_expanded(&self) -> bool {
        self.detail == Detail::Expanded
    }

    /// The spinner's picture.
    pub(crate) fn spinner(&self) -> &'static str {
        let frames = self.theme.symbols.spinner;
        frames[self.phase % frames.len()]
    }
}
