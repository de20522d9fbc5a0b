//! History printed as dense bitmap frames that vision models read, and read back.
//!
//! Text is normalised to characters that the fonts have, laid out in cells, and drawn into indexed PNG pictures. No network, no
//! model, no files: the same text and shape give the same bytes, on any number of threads.

pub mod billing;
pub mod cells;
pub mod error;
pub mod glyphs;
pub mod pages;
pub mod paginate;
pub mod shape;
pub mod wrap;

pub use billing::Family;
pub use error::Error;
pub use glyphs::{Fonts, Glyphs};
pub use shape::{Shape, ShapeChoice, Variant};

/// Stands for a line end in archive text. Drawn as a full black cell.
pub const LINE_END: char = '\u{2588}';

/// From here on, archive text is drawn in pale ink. Takes no cell.
pub const DIM_ON: char = '\u{e}';

/// From here on, archive text is drawn in its own ink again. Takes no cell.
pub const DIM_OFF: char = '\u{f}';
