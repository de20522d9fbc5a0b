//! History printed as dense bitmap frames that vision models read, and read back.
//!
//! Text is normalised to characters that the fonts have, laid out in cells, and drawn into indexed PNG pictures. No network, no
//! model, no files: the same text and shape give the same bytes, on any number of threads.

pub mod billing;
pub mod budget;
mod canvas;
pub mod cells;
pub mod compact;
pub mod decode;
pub mod dim;
pub mod error;
pub mod exact_tokens;
pub mod glyphs;
mod guide;
pub mod inline_plan;
pub mod model_class;
pub mod normalize;
pub mod pages;
pub mod paginate;
mod palette;
pub mod plan;
mod png_file;
pub mod raster;
pub mod reasoning;
pub mod render;
pub mod resolve;
pub mod serialize;
pub mod shape;
mod stamp;
mod stretch;
mod typesetting;
pub mod wrap;

pub use billing::Family;
pub use decode::{Decoder, decode};
pub use error::Error;
pub use glyphs::{Fonts, Glyphs};
pub use plan::{Plan, PlannedPage, Tier, plan};
pub use render::{RenderedFrame, Renderer, render};
pub use shape::{Shape, ShapeChoice, Variant};

/// Stands for a line end in archive text. Drawn as a full black cell.
pub const LINE_END: char = '\u{2588}';

/// From here on, archive text is drawn in pale ink. Takes no cell.
pub const DIM_ON: char = '\u{e}';

/// From here on, archive text is drawn in its own ink again. Takes no cell.
pub const DIM_OFF: char = '\u{f}';
