//! A box with a title, drawn row by row.

use ratatui::text::Span;

use super::look::Look;
use super::theme::Role;
use super::width;
use super::wrap::{self, Row};

/// Columns that edges and the blanks beside them take.
const EDGES: usize = 4;

/// A box that grows by rows, over the whole width of the screen.
pub(crate) struct Panel<'a> {
    look: &'a Look<'a>,
    title: String,
    rows: Vec<Row>,
}

impl<'a> Panel<'a> {
    /// An empty box.
    pub(crate) fn new(title: impl Into<String>, look: &'a Look<'a>) -> Self {
        Self { look, title: title.into(), rows: Vec::new() }
    }

    /// Columns between the edges.
    pub(crate) fn inner_columns(&self) -> usize {
        self.look.columns.saturating_sub(EDGES).max(1)
    }

    /// Rows so far, edges not counted.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Row) {
        let [edge, ..] = self.look.theme.symbols.frame;
        let columns = self.inner_columns();
        let mut row = wrap::fit(row.spans, columns);
        let blank = columns - wrap::row_columns(&row);
        row.spans.insert(0, self.look.piece(format!("{edge} "), Role::Border));
        row.spans.push(Span::raw(" ".repeat(blank)));
        row.spans.push(self.look.piece(format!(" {edge}"), Role::Border));
        self.rows.push(row);
    }

    /// Adds rows.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = Row>) {
        for row in rows {
            self.push(row);
        }
    }

    /// Adds a rule from edge to edge.
    pub(crate) fn rule(&mut self) {
        let [left, right] = self.look.theme.symbols.tee;
        let row = self.edge(left, "", right);
        self.rows.push(row);
    }

    /// The box.
    pub(crate) fn finish(mut self) -> Vec<Row> {
        let [_, top_left, top_right, bottom_left, bottom_right] = self.look.theme.symbols.frame;
        let top = self.edge(top_left, &self.title, top_right);
        let bottom = self.edge(bottom_left, "", bottom_right);
        self.rows.insert(0, top);
        self.rows.push(bottom);
        self.rows
    }

    fn edge(&self, left: &str, title: &str, right: &str) -> Row {
        let rule = self.look.theme.symbols.rule;
        let room = self.look.columns.saturating_sub(2);
        let title = match title {
            "" => String::new(),
            title => format!("{rule} {} ", width::fit(title, room.saturating_sub(4))),
        };
        let rest = room.saturating_sub(width::of(&title));
        Row::from(vec![
            self.look.piece(format!("{left}{title}{}{right}", rule.repeat(rest)), Role::Border),
        ])
    }
}
