//! Styled text broken into rows of a width, and rows put on the screen.
//!
//! Breaks fall after blanks and between wide clusters; a word that is longer than a row is broken between clusters. No row is ever wider
//! than asked, save that a wide cluster in a single column becomes a blank.

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::num::NonZeroU16;

use super::width;

/// A row of the screen.
pub(crate) type Row = Line<'static>;

/// A styled piece of a row.
pub(crate) type Piece = Span<'static>;

/// What stands at the left of wrapped rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Indent {
    /// Before the first row.
    pub(crate) first: Vec<Piece>,
    /// Before all others.
    pub(crate) rest: Vec<Piece>,
}

impl Indent {
    /// Blanks before every row.
    pub(crate) fn blanks(columns: usize) -> Self {
        let blank = vec![Span::raw(" ".repeat(columns))];
        Self { first: blank.clone(), rest: blank }
    }

    /// A mark before the first row, and as many blanks before the others.
    pub(crate) fn mark(mark: impl Into<String>, style: Style) -> Self {
        let mark = mark.into();
        let rest = vec![Span::raw(" ".repeat(width::of(&mark)))];
        Self { first: vec![Span::styled(mark, style)], rest }
    }

    /// This indent inside another.
    pub(crate) fn inside(&self, outer: &Self) -> Self {
        let join = |a: &[Piece], b: &[Piece]| a.iter().chain(b).cloned().collect();
        Self { first: join(&outer.first, &self.first), rest: join(&outer.rest, &self.rest) }
    }

    /// The indent of rows after the first.
    pub(crate) fn continued(&self) -> Self {
        Self { first: self.rest.clone(), rest: self.rest.clone() }
    }
}

const NO_INDENT: &Indent = &Indent { first: Vec::new(), rest: Vec::new() };

/// Columns of pieces.
pub(crate) fn columns(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| width::of(&piece.content)).sum()
}

/// Breaks pieces into rows of at most `columns`. A line end in a piece begins a new row. There is at least one row.
pub(crate) fn wrap(pieces: &[Piece], columns: usize, indent: &Indent) -> Vec<Row> {
    let mut wrapper = Wrapper::new(columns, indent);
    for piece in pieces {
        for (i, line) in piece.content.split('\n').enumerate() {
            if i > 0 {
                wrapper.end_row();
            }
            for cluster in width::clusters(line) {
                wrapper.push(cluster, piece.style);
            }
        }
    }
    wrapper.finish()
}

/// As [`wrap`], for text of one style.
pub(crate) fn wrap_text(text: &str, style: Style, columns: usize, indent: &Indent) -> Vec<Row> {
    wrap(&[Span::styled(text.to_owned(), style)], columns, indent)
}

struct Wrapper<'a> {
    room: usize,
    indent: &'a Indent,
    rows: Vec<Row>,
    row: Vec<Piece>,
    row_columns: usize,
    /// The word that is being read: not yet known to fit.
    word: Vec<Piece>,
    word_columns: usize,
}

impl<'a> Wrapper<'a> {
    fn new(columns: usize, indent: &'a Indent) -> Self {
        let columns = columns.max(1);
        let indent_columns = self::columns(&indent.first).max(self::columns(&indent.rest));
        // Text matters more than what stands before it.
        let (indent, room) = match columns.checked_sub(indent_columns) {
            None | Some(0) => (NO_INDENT, columns),
            Some(room) => (indent, room),
        };
        Self {
            room,
            indent,
            rows: Vec::new(),
            row: Vec::new(),
            row_columns: 0,
            word: Vec::new(),
            word_columns: 0,
        }
    }

    fn push(&mut self, cluster: &str, style: Style) {
        let cluster_columns = width::of_cluster(cluster);
        let (cluster, cluster_columns) =
            if cluster_columns > self.room { (" ", 1) } else { (cluster, cluster_columns) };
        if cluster == " " {
            self.end_word();
            // A blank after a full row is where the row breaks; it is not carried over.
            if self.row_columns < self.room {
                append(&mut self.row, cluster, style);
                self.row_columns += 1;
            }
            return;
        }
        if cluster_columns == 2 {
            self.end_word();
        }
        if self.word_columns + cluster_columns > self.room {
            self.end_word();
        }
        append(&mut self.word, cluster, style);
        self.word_columns += cluster_columns;
        if cluster_columns == 2 {
            self.end_word();
        }
    }

    /// Moves the word to the row, or to a new one where it does not fit.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.row_columns + self.word_columns > self.room && self.row_columns > 0 {
            self.break_row();
        }
        self.row_columns += std::mem::take(&mut self.word_columns);
        for piece in std::mem::take(&mut self.word) {
            append(&mut self.row, &piece.content, piece.style);
        }
    }

    fn end_row(&mut self) {
        self.end_word();
        self.break_row();
    }

    fn break_row(&mut self) {
        let indent = if self.rows.is_empty() { &self.indent.first } else { &self.indent.rest };
        let mut row = indent.clone();
        row.append(&mut self.row);
        trim_end(&mut row);
        self.row_columns = 0;
        self.rows.push(Row::from(row));
    }

    fn finish(mut self) -> Vec<Row> {
        self.end_word();
        if !self.row.is_empty() || self.rows.is_empty() {
            self.break_row();
        }
        self.rows
    }
}

/// Adds to the last piece where the style is the same.
fn append(pieces: &mut Vec<Piece>, text: &str, style: Style) {
    match pieces.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => pieces.push(Span::styled(text.to_owned(), style)),
    }
}

/// Takes blanks off the end of a row: they would only cost bytes.
fn trim_end(row: &mut Vec<Piece>) {
    while let Some(last) = row.last_mut() {
        let kept = last.content.trim_end_matches(' ').len();
        if kept > 0 {
            last.content.to_mut().truncate(kept);
            return;
        }
        row.pop();
    }
}

/// A row cut to `columns`, with an ellipsis where something is missing.
pub(crate) fn fit(pieces: Vec<Piece>, columns: usize) -> Row {
    if self::columns(&pieces) <= columns {
        return Row::from(pieces);
    }
    let mut room = columns;
    let mut kept = Vec::new();
    for piece in pieces {
        let piece_columns = width::of(&piece.content);
        if piece_columns < room {
            room -= piece_columns;
            kept.push(piece);
            continue;
        }
        // Something follows or is cut here, so the last column is the ellipsis.
        let start = width::cut(&piece.content, room.saturating_sub(1));
        let text = if room == 0 { String::new() } else { format!("{start}…") };
        kept.push(Span::styled(text, piece.style));
        break;
    }
    Row::from(kept)
}

/// One row with pieces at both ends. The left gives way first.
pub(crate) fn justify(left: Vec<Piece>, right: Vec<Piece>, columns: usize) -> Row {
    let right_columns = self::columns(&right);
    if right.is_empty() || right_columns + 2 > columns {
        return fit(left, columns);
    }
    let mut row = fit(left, columns - right_columns - 2);
    let gap = columns - right_columns - row_columns(&row);
    row.spans.push(Span::raw(" ".repeat(gap)));
    row.spans.extend(right);
    row
}

/// Columns of a row.
pub(crate) fn row_columns(row: &Row) -> usize {
    columns(&row.spans)
}

/// Puts a row on the screen, from column `x` on. What does not fit is left out.
pub(crate) fn draw(buffer: &mut Buffer, x: u16, y: u16, row: &Row) {
    let right = buffer.area.right();
    if y >= buffer.area.bottom() {
        return;
    }
    let mut x = x;
    for piece in &row.spans {
        let style = row.style.patch(piece.style);
        for cluster in width::clusters(&piece.content) {
            let columns = width::of_cluster(cluster) as u16;
            let Some(forced) = NonZeroU16::new(columns) else { continue };
            if x.saturating_add(columns) > right {
                return;
            }
            let cell = &mut buffer[(x, y)];
            cell.set_symbol(cluster).set_style(style);
            if columns > 1 || !cluster.is_ascii() {
                // The diff would otherwise measure by a rule of its own.
                cell.set_diff_option(CellDiffOption::ForcedWidth(forced));
            }
            for hidden in x + 1..x + columns {
                buffer[(hidden, y)].reset();
                buffer[(hidden, y)].set_style(style);
            }
            x += columns;
        }
    }
}
