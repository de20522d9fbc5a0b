//! The editor's text as rows of the screen, and places in them.
//!
//! Rows break after blanks where they can. Columns left of the text are not counted here.

use std::ops::Range;

use super::unit::{Class, Unit};

/// The rows of a text: each a range of units, its line end not included.
pub(super) fn rows(units: &[Unit], columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let mut rows = Vec::new();
    let mut start = 0;
    let mut used = 0;
    // The unit after the last blank of the row, and the columns up to there.
    let mut after_blank = None;
    for (i, unit) in units.iter().enumerate() {
        if *unit == Unit::Break {
            rows.push(start..i);
            (start, used, after_blank) = (i + 1, 0, None);
            continue;
        }
        // A token wider than a row is drawn cut.
        let unit_columns = unit.columns().min(columns);
        // A break after a blank may leave a rest that is still too long with this unit.
        while used + unit_columns > columns && i > start {
            let (end, before) = after_blank.unwrap_or((i, used));
            rows.push(start..end);
            start = end;
            used -= before;
            after_blank = None;
        }
        used += unit_columns;
        if unit.class() == Class::Blank {
            after_blank = Some((i + 1, used));
        }
    }
    rows.push(start..units.len());
    rows
}

/// Where the cursor is drawn: row and column. A cursor at a soft break is at the start of the next row.
pub(super) fn place(units: &[Unit], rows: &[Range<usize>], cursor: usize) -> (usize, usize) {
    let row = rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
    let start = rows.get(row).map_or(0, |row| row.start);
    let column = units.get(start..cursor).unwrap_or_default().iter().map(Unit::columns).sum();
    (row, column)
}

/// The cursor at a column of a row, or before the unit that covers it.
pub(super) fn cursor_at(units: &[Unit], rows: &[Range<usize>], row: usize, column: usize) -> usize {
    let Some(range) = rows.get(row) else { return units.len() };
    let mut used = 0;
    for (i, unit) in units.iter().enumerate().take(range.end).skip(range.start) {
        used += unit.columns();
        if used > column {
            return i;
        }
    }
    // The end of a row that goes on below is the start of that one; stay before it.
    let goes_on = range.end < units.len() && units[range.end] != Unit::Break;
    if goes_on && range.end > range.start { range.end - 1 } else { range.end }
}
