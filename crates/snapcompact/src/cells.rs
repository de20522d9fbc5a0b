//! Where the next character of a grid goes.

/// Where a character goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Its first cell, counted line by line.
    pub cell: usize,
    /// Cells that it takes.
    pub units: usize,
    /// The first cell after it.
    pub next: usize,
}

/// The place of a character of `units` cells, at least one, when `cursor` cells are taken in lines of `cols`. A wide character
/// does not begin in the last cell of a line: that one stays blank.
pub fn place(cursor: usize, cols: usize, units: usize) -> Spot {
    let is_split = units == 2 && cols >= 2 && cursor % cols == cols - 1;
    let cell = if is_split { cursor + 1 } else { cursor };
    Spot { cell, units, next: cell + units }
}
