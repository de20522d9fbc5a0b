//! Markdown of the model as rows of the screen.
//!
//! Laid out block by block: of a text that grows, finished blocks are laid out once and only the last block again, so a frame costs what
//! the open block costs. Raw text never disappears: what is not understood is shown as it was written. Nothing here highlights code.

mod block;
mod table;

use super::theme::Theme;
use super::wrap::Row;

/// The rows of a text that may grow.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    rows: Vec<Row>,
    /// How much of the text is laid out for good, and in how many rows.
    settled_bytes: usize,
    settled_rows: usize,
}

impl Layout {
    /// Lays out a text of which only the end has changed since the last call. Costs what the last block and the new text cost.
    pub(crate) fn update(&mut self, text: &str, columns: usize, theme: &Theme) {
        let Some(tail) = text.get(self.settled_bytes..) else {
            *self = Self::default();
            return self.update(text, columns, theme);
        };
        self.rows.truncate(self.settled_rows);
        let has_rows_above = !self.rows.is_empty();
        let laid_out = block::lay_out(tail, columns, theme);
        if has_rows_above && !laid_out.rows.is_empty() {
            self.rows.push(Row::default());
        }
        if let Some(open) = laid_out.open_block
            && open.start > 0
        {
            self.settled_bytes += open.start;
            // The gap before the open block is drawn again with it.
            self.settled_rows = self.rows.len() + open.row.saturating_sub(1);
        }
        self.rows.extend(laid_out.rows);
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Lays out a whole text.
pub(crate) fn rows(text: &str, columns: usize, theme: &Theme) -> Vec<Row> {
    block::lay_out(text, columns, theme).rows
}
