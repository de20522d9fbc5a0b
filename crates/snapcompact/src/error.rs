//! Why text cannot be drawn, or a picture not be read.

use crate::shape::FontName;

/// Largest edge of a picture, in pixels.
pub const MAX_FRAME_PX: usize = 16_384;

/// Why text cannot be drawn, or a picture not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The edge of the frame is not possible.
    #[error("a frame of {0} px cannot be drawn: 1 to {MAX_FRAME_PX} px are possible")]
    FrameSize(usize),
    /// The number of text columns is not possible.
    #[error("{0} text columns cannot be drawn: 1 or 2 are possible")]
    Columns(usize),
    /// Not one cell fits into the frame.
    #[error(
        "no cell of {cell_width}x{cell_height} px, {line_repeat} times a line, fits a frame of {frame_px} px"
    )]
    NoCell {
        /// Width of a cell, in pixels.
        cell_width: usize,
        /// Height of a cell, in pixels.
        cell_height: usize,
        /// How often each line is drawn.
        line_repeat: usize,
        /// Edge of the frame, in pixels.
        frame_px: usize,
    },
    /// No shape has this name.
    #[error("there is no frame shape `{0}`")]
    UnknownShape(String),
    /// A shape from a file has a value that is not possible.
    #[error("the frame shape is not valid: {0}")]
    InvalidShape(String),
    /// The file is no TrueType font.
    #[error("the fallback font cannot be read: {0}")]
    FallbackFont(String),
    /// A picture could not be encoded.
    #[error("a frame could not be encoded")]
    Encode(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A picture is no PNG, or none that this crate draws.
    #[error("the picture cannot be read as a frame: {0}")]
    Unreadable(String),
    /// Cells were resampled, so that no cell matches a glyph.
    #[error(
        "frames in `{0}` cells that do not have the font's own size were resampled and cannot be read back"
    )]
    Resampled(FontName),
}
