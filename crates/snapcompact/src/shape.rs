//! Shapes of frames: font, cells, ink, and how large a frame is.

mod variant;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;
pub use variant::{ShapeChoice, Variant};

/// Cells left blank between two columns of text.
pub const GUTTER_CELLS: usize = 3;

/// A font of frames, by the name stored in archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FontName {
    /// misc-fixed 5x8.
    #[serde(rename = "5x8")]
    Fixed5x8,
    /// unscii-8.
    #[serde(rename = "8x8")]
    Unscii8,
    /// misc-fixed 6x12.
    #[serde(rename = "6x12")]
    Fixed6x12,
    /// misc-fixed 8x13.
    #[serde(rename = "8x13")]
    Fixed8x13,
    /// Every character from the wide font, one square cell each.
    #[serde(rename = "silver")]
    Silver,
}

impl FontName {
    /// The name stored in archives.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed5x8 => "5x8",
            Self::Unscii8 => "8x8",
            Self::Fixed6x12 => "6x12",
            Self::Fixed8x13 => "8x13",
            Self::Silver => "silver",
        }
    }

    /// Width and height of the font's own cell, in pixels.
    pub fn natural_cell(self) -> (usize, usize) {
        match self {
            Self::Fixed5x8 => (5, 8),
            Self::Unscii8 => (8, 8),
            Self::Fixed6x12 => (6, 12),
            Self::Fixed8x13 => (8, 13),
            Self::Silver => (16, 16),
        }
    }
}

impl fmt::Display for FontName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What colour letters have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ink {
    /// A hue for each sentence, six in turn.
    #[serde(rename = "sent")]
    Sentences,
    /// Black.
    #[serde(rename = "bw")]
    Black,
}

impl Ink {
    /// The name stored in archives.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sentences => "sent",
            Self::Black => "bw",
        }
    }
}

/// How finely a model is asked to look at a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageDetail {
    /// The provider decides.
    Auto,
    /// Scaled down.
    Low,
    /// Finely.
    High,
    /// As it is.
    Original,
}

impl ImageDetail {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Low => "low",
            Self::High => "high",
            Self::Original => "original",
        }
    }
}

/// How frames look and what one costs. Geometry is in pixels; a full frame is a square.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// The font.
    pub font: FontName,
    /// Width of a cell.
    pub cell_width: usize,
    /// Height of a cell.
    pub cell_height: usize,
    /// Whether letters are resampled to the cell; unset: where the cell is not the font's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<bool>,
    /// Colour of letters.
    #[serde(rename = "variant")]
    pub ink: Ink,
    /// Whether function words are drawn pale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopword_dim: bool,
    /// Columns of text: 1 for a grid of cells, 2 for wrapped lines.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub columns: usize,
    /// How often each line is drawn.
    pub line_repeat: usize,
    /// Edge of a full frame.
    pub frame_size: usize,
    /// Tokens that a full frame is billed at.
    pub frame_token_estimate: u64,
    /// How finely the model should look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_detail: Option<ImageDetail>,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(columns: &usize) -> bool {
    *columns == 1
}

/// How many cells a frame has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Cells a line, of one column of text.
    pub cols: usize,
    /// Lines, not counting repetitions.
    pub rows: usize,
    /// Columns of text.
    pub columns: usize,
}

impl Grid {
    /// Cells of a frame.
    pub fn capacity(self) -> usize {
        self.cols * self.rows * self.columns
    }
}

impl Shape {
    /// A shape that was written to a file, by anyone.
    ///
    /// # Errors
    /// [`Error::InvalidShape`] names the member that is missing or of another type, or a number that is 0. The errors of
    /// [`Shape::grid`] where no frame can have this geometry.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, Error> {
        let shape =
            Self::deserialize(value).map_err(|error| Error::InvalidShape(error.to_string()))?;
        let numbers = [
            ("cellWidth", shape.cell_width as u64),
            ("cellHeight", shape.cell_height as u64),
            ("columns", shape.columns as u64),
            ("lineRepeat", shape.line_repeat as u64),
            ("frameSize", shape.frame_size as u64),
            ("frameTokenEstimate", shape.frame_token_estimate),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, number)| *number == 0) {
            return Err(Error::InvalidShape(format!("`{name}` is 0")));
        }
        shape.grid()?;
        Ok(shape)
    }

    /// How many cells a full frame has.
    ///
    /// # Errors
    /// Not one fits, or the shape is not possible.
    pub fn grid(&self) -> Result<Grid, Error> {
        if self.frame_size == 0 || self.frame_size > crate::error::MAX_FRAME_PX {
            return Err(Error::FrameSize(self.frame_size));
        }
        let no_cell = Error::NoCell {
            cell_width: self.cell_width,
            cell_height: self.cell_height,
            line_repeat: self.line_repeat,
            frame_px: self.frame_size,
        };
        if self.cell_width == 0 || self.cell_height == 0 || self.line_repeat == 0 {
            return Err(no_cell);
        }
        let grid_cols = self.frame_size / self.cell_width;
        let rows = self.frame_size / self.cell_height / self.line_repeat;
        let cols = match self.columns {
            1 => grid_cols,
            2 => grid_cols.saturating_sub(GUTTER_CELLS) / 2,
            columns => return Err(Error::Columns(columns)),
        };
        if cols == 0 || rows == 0 {
            return Err(no_cell);
        }
        Ok(Grid { cols, rows, columns: self.columns })
    }

    /// Whether letters are resampled to the cell.
    pub fn is_stretched(&self) -> bool {
        self.font != FontName::Silver
            && self.stretch != Some(false)
            && (self.cell_width, self.cell_height) != self.font.natural_cell()
    }
}
