//! Tables: a grid where it fits, else one record a row.

use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::Span;

use crate::tui::theme::{Role, Theme};
use crate::tui::wrap::{self, Indent, Piece, Row};

/// A column narrower than this cannot be read.
const MIN_COLUMN: usize = 6;

/// A cell: its text, styled.
type Cell = Vec<Piece>;

/// A table as it is read; its first row is the head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    cells: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, cells: Vec::new() }
    }

    pub(super) fn start_row(&mut self) {
        self.cells.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Cell) {
        if let Some(row) = self.cells.last_mut() {
            row.push(cell);
        }
    }

    /// The table in at most `columns`.
    pub(super) fn rows(&self, columns: usize, theme: &Theme) -> Vec<Row> {
        match self.column_widths(columns) {
            Some(widths) => self.grid(&widths, theme),
            None => self.records(columns, theme),
        }
    }

    /// How wide each column is drawn; `None` where a grid would be too narrow to read.
    ///
    /// Columns that fit their share keep what they need; the others share what is left.
    fn column_widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let room = columns.checked_sub(3 * count + 1)?;
        let needed: Vec<usize> = (0..count)
            .map(|i| {
                let cells = self.cells.iter().filter_map(|row| row.get(i));
                cells.map(|cell| wrap::columns(cell)).max().unwrap_or(0).max(1)
            })
            .collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&i| needed[i]);
        let mut widths = vec![0; count];
        let mut left = room;
        for (done, &i) in order.iter().enumerate() {
            let share = left / (count - done);
            widths[i] = needed[i].min(share);
            left -= widths[i];
            if widths[i] < needed[i].min(MIN_COLUMN) {
                return None;
            }
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], theme: &Theme) -> Vec<Row> {
        let [edge, top_left, top_right, bottom_left, bottom_right] = theme.symbols.frame;
        let [cross_left, cross, cross_right] = theme.symbols.cross;
        let [edge_top, edge_bottom] = theme.symbols.table_edge;
        let border = theme.style(Role::Border);
        let rule = |left: &str, middle: &str, right: &str| {
            let parts: Vec<String> =
                widths.iter().map(|columns| theme.symbols.rule.repeat(columns + 2)).collect();
            Row::from(vec![Span::styled(format!("{left}{}{right}", parts.join(middle)), border)])
        };
        let mut rows = vec![rule(top_left, edge_top, top_right)];
        for (i, cells) in self.cells.iter().enumerate() {
            if i == 1 {
                rows.push(rule(cross_left, cross, cross_right));
            }
            rows.extend(self.grid_row(cells, widths, edge, theme));
        }
        rows.push(rule(bottom_left, edge_bottom, bottom_right));
        rows
    }

    /// One row of cells: as many rows of the screen as its tallest cell.
    fn grid_row(&self, cells: &[Cell], widths: &[usize], edge: &str, theme: &Theme) -> Vec<Row> {
        let border = theme.style(Role::Border);
        let empty = Cell::new();
        let wrapped: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(i, columns)| {
                wrap::wrap(cells.get(i).unwrap_or(&empty), *columns, &Indent::default())
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut row = vec![Span::styled(edge.to_owned(), border)];
                for (i, columns) in widths.iter().enumerate() {
                    let text = wrapped[i].get(line).cloned().unwrap_or_default();
                    let blank = columns - wrap::row_columns(&text).min(*columns);
                    let before = match self.alignments.get(i) {
                        Some(Alignment::Right) => blank,
                        Some(Alignment::Center) => blank / 2,
                        Some(Alignment::Left | Alignment::None) | None => 0,
                    };
                    row.push(Span::raw(" ".repeat(before + 1)));
                    row.extend(text.spans);
                    row.push(Span::raw(" ".repeat(blank - before + 1)));
                    row.push(Span::styled(edge.to_owned(), border));
                }
                Row::from(row)
            })
            .collect()
    }

    /// The narrow form: of each row the cells below one another, each after its head.
    fn records(&self, columns: usize, theme: &Theme) -> Vec<Row> {
        let Some((head, body)) = self.cells.split_first() else { return Vec::new() };
        let mut rows = Vec::new();
        for (i, cells) in body.iter().enumerate() {
            if i > 0 {
                rows.push(Row::default());
            }
            for (name, cell) in head.iter().zip(cells) {
                let mut pieces: Vec<Piece> = name
                    .iter()
                    .map(|piece| {
                        Span::styled(
                            piece.content.clone().into_owned(),
                            piece.style.add_modifier(Modifier::BOLD),
                        )
                    })
                    .collect();
                pieces.push(Span::styled(": ", theme.style(Role::Muted)));
                pieces.extend(cell.iter().cloned());
                let indent = Indent { first: Vec::new(), rest: vec![Span::raw("  ")] };
                rows.extend(wrap::wrap(&pieces, columns, &indent));
            }
        }
        rows
    }
}
