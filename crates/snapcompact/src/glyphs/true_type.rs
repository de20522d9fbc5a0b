//! A TrueType file of the user, rasterised to the size of the wide font.

use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use sha2::{Digest, Sha256};

use super::{MAX_ROWS, Raster};
use crate::error::Error;

/// Size of the glyphs, in pixels: that of the wide font.
const SIZE_PX: f32 = 16.0;

/// Rows above the baseline, in pixels: those of the wide font.
const ASCENT_PX: i32 = 14;

/// Coverage, of 255, from which a pixel has ink.
const INK_COVERAGE: u8 = 110;

/// A TrueType font, rasterised to glyphs of 16 px height and 8 or 16 px width.
pub struct TrueTypeFont {
    font: fontdue::Font,
    fingerprint: String,
    /// Glyphs that were asked for already.
    known: RwLock<HashMap<char, Option<Raster>>>,
}

impl TrueTypeFont {
    /// Reads a TrueType or OpenType file.
    ///
    /// # Errors
    /// The bytes are none.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let settings = fontdue::FontSettings { scale: SIZE_PX, ..fontdue::FontSettings::default() };
        let font = fontdue::Font::from_bytes(bytes, settings)
            .map_err(|reason| Error::FallbackFont(reason.to_owned()))?;
        let fingerprint =
            Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { font, fingerprint, known: RwLock::default() })
    }

    /// Tells this file from others.
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Every character that the file has.
    pub(super) fn chars(&self) -> impl Iterator<Item = char> + '_ {
        self.font.chars().keys().copied()
    }

    pub(super) fn glyph(&self, c: char) -> Option<Raster> {
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&c) {
            return *known;
        }
        let glyph = self.rasterize(c);
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(c, glyph);
        glyph
    }

    fn rasterize(&self, c: char) -> Option<Raster> {
        if !self.font.has_glyph(c) {
            return None;
        }
        let (metrics, coverage) = self.font.rasterize(c, SIZE_PX);
        let width_px = if metrics.advance_width > SIZE_PX / 2.0 + 1.0 { 16 } else { 8 };
        let left = metrics.xmin + (width_px - metrics.advance_width.ceil() as i32).max(0) / 2;
        let top = ASCENT_PX - metrics.ymin - metrics.height as i32;
        let mut rows = [0_u16; MAX_ROWS];
        for (at, covered) in coverage.iter().enumerate() {
            let x = left + (at % metrics.width) as i32;
            let y = top + (at / metrics.width) as i32;
            if *covered >= INK_COVERAGE && (0..width_px).contains(&x) && (0..16).contains(&y) {
                rows[y as usize] |= 0x8000 >> x;
            }
        }
        Some(Raster { width_px: width_px as u8, height_px: 16, rows })
    }
}

impl fmt::Debug for TrueTypeFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrueTypeFont")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}
