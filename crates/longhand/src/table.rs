//! Plain tables for people: at most 100 columns, numbers to the right.

use unicode_width::UnicodeWidthStr;

/// Widest table, in columns.
const MAX_COLUMNS: usize = 100;

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with a heading.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The lines of the table. The last column is cut where the table would be too wide.
    pub(crate) fn lines(&self) -> Vec<String> {
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (name, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.map(|cell| cell.width()).chain([name.width()]).max().unwrap_or(0)
            })
            .collect();
        let heading: Vec<String> =
            self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        std::iter::once(&heading).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            match align {
                Align::Left => line.extend([cell.as_str(), &padding]),
                Align::Right => line.extend([padding.as_str(), cell]),
            }
        }
        cut(line.trim_end(), MAX_COLUMNS)
    }
}

/// Control characters of foreign text must not reach a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        let mut longer = kept.clone();
        longer.push(character);
        if longer.width() >= columns {
            break;
        }
        kept = longer;
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_wide_characters_count_twice() {
        let mut table = Table::new(&[("name", Align::Left), ("tokens", Align::Right)]);
        table.row(["你好吗".to_owned(), "5".to_owned()]);
        table.row(["a\x1b[31m".to_owned(), "1,000".to_owned()]);
        assert_eq!(table.lines(), ["name    tokens", "你好吗       5", "a [31m   1,000"]);
    }

    #[test]
    fn no_line_is_wider_than_a_page() {
        let mut table = Table::new(&[("path", Align::Left)]);
        table.row(["你".repeat(80)]);
        assert!(table.lines().iter().all(|line| line.width() <= MAX_COLUMNS));
    }
}
