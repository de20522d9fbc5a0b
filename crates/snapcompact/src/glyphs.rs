//! The glyphs of a shape: its own font, then the fallback that the user named, then the wide font.

mod font_file;
mod true_type;

use std::collections::BTreeSet;
use std::sync::Arc;

use longhand_fonts::{BitmapFont, BuiltIn, Glyph};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::error::Error;
use crate::shape::FontName;
use crate::{DIM_OFF, DIM_ON, LINE_END};
pub use true_type::TrueTypeFont;

/// Fonts to print with: those that are compiled in, and a file of the user.
#[derive(Debug, Clone, Default)]
pub struct Fonts {
    fallback: Option<Arc<TrueTypeFont>>,
}

impl Fonts {
    /// The compiled-in fonts, and a TrueType file that is asked for characters that a shape's own font lacks. What is drawn from
    /// it is not part of the promise of identical bytes.
    ///
    /// # Errors
    /// The bytes are no TrueType font.
    pub fn with_fallback(true_type: &[u8]) -> Result<Self, Error> {
        Ok(Self { fallback: Some(Arc::new(TrueTypeFont::parse(true_type)?)) })
    }

    /// The glyphs of a font.
    pub fn glyphs(&self, font: FontName) -> Glyphs {
        let primary = match font {
            FontName::Fixed5x8 => Some(BuiltIn::Fixed5x8.font()),
            FontName::Unscii8 => Some(BuiltIn::Unscii8.font()),
            FontName::Fixed6x12 => Some(BuiltIn::Fixed6x12.font()),
            FontName::Fixed8x13 => Some(BuiltIn::Fixed8x13.font()),
            FontName::Silver => None,
        };
        Glyphs { font, primary, fallback: self.fallback.clone() }
    }

    /// Names the fonts, for keys of pictures.
    pub(crate) fn fingerprint(&self) -> String {
        let fallback = self.fallback.as_ref().map_or("", |font| font.fingerprint());
        format!("{}:{fallback}", longhand_fonts::PACK_VERSION)
    }
}

/// The glyphs of one shape. Layout and drawing ask the same object, so that they never disagree.
#[derive(Debug, Clone)]
pub struct Glyphs {
    font: FontName,
    /// `None` prints everything from the wide font.
    primary: Option<&'static BitmapFont>,
    fallback: Option<Arc<TrueTypeFont>>,
}

/// Most rows of a glyph.
pub const MAX_ROWS: usize = 16;

/// The pixels of one glyph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Raster {
    /// Pixels a row, at most 16.
    pub width_px: u8,
    /// Rows, at most [`MAX_ROWS`].
    pub height_px: u8,
    /// Rows from top to bottom, leftmost pixel in bit 15; blank beyond the height.
    pub rows: [u16; MAX_ROWS],
}

impl From<Glyph<'_>> for Raster {
    fn from(glyph: Glyph<'_>) -> Self {
        let mut rows = [0; MAX_ROWS];
        rows[..glyph.rows.len()].copy_from_slice(glyph.rows);
        Self { width_px: glyph.width_px, height_px: glyph.rows.len() as u8, rows }
    }
}

/// Where a glyph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The shape's own font: printed at the top left of its cell.
    Own(Raster),
    /// A fallback, 16 px high: centred, or scaled down where its cells are smaller.
    Fallback(Raster),
}

impl Glyphs {
    /// The shape's own font.
    pub fn font(&self) -> FontName {
        self.font
    }

    /// Whether a character has a glyph.
    pub fn supports(&self, c: char) -> bool {
        self.find(c).is_some()
    }

    /// Every character that has a glyph, in rising order.
    pub fn chars(&self) -> BTreeSet<char> {
        let compiled_in = self.primary.into_iter().chain([BuiltIn::Wide.font()]);
        let of_user = self.fallback.iter().flat_map(|font| font.chars());
        compiled_in.flat_map(BitmapFont::chars).chain(of_user).collect()
    }

    /// The glyph of a character.
    pub fn find(&self, c: char) -> Option<Found> {
        if let Some(glyph) = self.primary.and_then(|font| font.glyph(c)) {
            return Some(Found::Own(glyph.into()));
        }
        let of_user = self.fallback.as_ref().and_then(|font| font.glyph(c));
        of_user.or_else(|| BuiltIn::Wide.font().glyph(c).map(Raster::from)).map(Found::Fallback)
    }

    /// Cells that a character takes: none for ink switches and for marks that are drawn over the character before, two for wide
    /// characters, else one. In a font of square cells everything takes one.
    pub fn units(&self, c: char) -> usize {
        if c.is_ascii() {
            return usize::from(c != DIM_ON && c != DIM_OFF);
        }
        // A line end is a filled cell and never a glyph, whatever a fallback has for it.
        if u32::from(c) < 0x100 || c == LINE_END {
            return 1;
        }
        if is_overlay(c) {
            return 0;
        }
        if self.font == FontName::Silver {
            return 1;
        }
        let is_wide = is_wide(c)
            || matches!(self.find(c), Some(Found::Fallback(glyph)) if glyph.width_px > 8);
        if is_wide { 2 } else { 1 }
    }

    /// Rows above the baseline of the shape's own font, in pixels.
    pub fn ascent_px(&self) -> usize {
        self.primary.unwrap_or_else(|| BuiltIn::Wide.font()).ascent_px()
    }
}

/// Whether a character is a mark, and drawn over the character before it.
pub fn is_overlay(c: char) -> bool {
    u32::from(c) >= 0x300 && c.general_category_group() == GeneralCategoryGroup::Mark
}

/// Code points that take two cells of a narrow font.
const WIDE: &[(u32, u32)] = &[
    (0x1100, 0x115F),
    (0x2E80, 0x2FDF),
    (0x3000, 0x303E),
    (0x3041, 0x4DBF),
    (0x4E00, 0xA4CF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x2_0000, 0x2_FFFD),
    (0x3_0000, 0x3_FFFD),
];

/// Whether a character takes two cells of a narrow font.
pub fn is_wide(c: char) -> bool {
    let code = u32::from(c);
    let after = WIDE.partition_point(|(first, _)| *first <= code);
    after > 0 && code <= WIDE[after - 1].1
}
