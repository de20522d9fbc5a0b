//! Bitmap fonts as data, for printing history into frames.
//!
//! Fonts are compiled in, packed, and unpacked when they are first used. Nothing is drawn here, and no outline font is read.
//! Where each comes from, under which licence, and what it covers: `README.md` of this crate.
//!
//! ```
//! use longhand_fonts::BuiltIn;
//!
//! let font = BuiltIn::Fixed8x13.font();
//! let letter = font.glyph('A').expect("every font has ASCII");
//! assert_eq!((letter.width_px, letter.rows.len()), (8, 13));
//! assert!(!font.covers('漢') && BuiltIn::Wide.font().covers('漢'));
//! ```

mod font;
mod pack;

use std::sync::LazyLock;

pub use font::{BitmapFont, Glyph};
pub use pack::UnpackError;

/// Changes whenever a raster of any font changes, so that pictures made with other rasters are not taken for the same.
pub const PACK_VERSION: u32 = 1;

/// A font that is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// misc-fixed 5x8.
    Fixed5x8,
    /// misc-fixed 6x12.
    Fixed6x12,
    /// misc-fixed 8x13.
    Fixed8x13,
    /// unscii-8, Latin-1.
    Unscii8,
    /// Longhand Wide: 16 px high, 8 or 16 px wide, for what the others lack.
    Wide,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Fixed5x8, Self::Fixed6x12, Self::Fixed8x13, Self::Unscii8, Self::Wide];

    /// Unpacks the font at the first call.
    pub fn font(self) -> &'static BitmapFont {
        macro_rules! packed {
            ($file:literal) => {{
                static FONT: LazyLock<BitmapFont> = LazyLock::new(|| {
                    BitmapFont::unpack(include_bytes!(concat!("../data/", $file)))
                        .expect("what is compiled in is whole: a test unpacks it")
                });
                &FONT
            }};
        }
        match self {
            Self::Fixed5x8 => packed!("fixed-5x8.font"),
            Self::Fixed6x12 => packed!("fixed-6x12.font"),
            Self::Fixed8x13 => packed!("fixed-8x13.font"),
            Self::Unscii8 => packed!("unscii-8.font"),
            Self::Wide => packed!("wide.font"),
        }
    }
}
