//! A TrueType file of the user, rasterised to the size of the wide font.
//!
//! A glyph is never cut: ink that would leave its cell is moved into it, and drawn smaller where it is larger than the cell. A
//! character whose glyph has no ink counts as missing, so that the wide font is asked for it.
//!
//! The file is the user's and may be damaged. What cannot be read is an error; what can be read but not drawn is missing.

use std::collections::HashMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{PoisonError, RwLock};

use fontdue::{FontSettings, Metrics};
use sha2::{Digest, Sha256};

use super::{MAX_ROWS, Raster, font_file};
use crate::error::Error;

/// Size of the glyphs, in pixels to the em: that of the wide font.
const SIZE_PX: f32 = 16.0;

/// Rows of a cell: those of the wide font.
const CELL_ROWS: i32 = MAX_ROWS as i32;

/// Rows above the baseline: those of the wide font.
const ASCENT_PX: i32 = 14;

/// Widest advance, in pixels, that is drawn in a narrow cell. Monospaced letters have 0.6 em, ideographs a whole one.
const NARROW_ADVANCE_PX: f32 = 10.0;

/// Farthest from its origin that a glyph's ink may be, in pixels. Outlines beyond are damaged, and would be drawn on a canvas of
/// gigabytes.
const MOST_PX: f32 = 1024.0;

/// Coverage, of 255, from which a pixel has ink. Where strokes are so thin that no pixel has it, half of the most there is.
const INK_COVERAGE: u8 = 110;

/// A TrueType font, rasterised to glyphs of 16 px height and 8 or 16 px width.
pub struct TrueTypeFont {
    font: fontdue::Font,
    fingerprint: String,
    /// Glyphs that were asked for already. Grows with the characters of the file that a session uses.
    known: RwLock<HashMap<char, Option<Raster>>>,
}

impl TrueTypeFont {
    /// Reads a TrueType or OpenType file, with all of its outlines: one with every ideograph takes half a second and 130 MB.
    ///
    /// # Errors
    /// The bytes are none.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        // Ligatures and other substitutes are never asked for: only characters are.
        let settings =
            FontSettings { scale: SIZE_PX, load_substitutions: false, ..FontSettings::default() };
        let font = font_file::prepared(bytes)
            .and_then(|file| {
                without_panic(|| fontdue::Font::from_bytes(file, settings))
                    .unwrap_or(Err("it is damaged"))
            })
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
        if !self.font.has_glyph(c) {
            return None;
        }
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&c) {
            return *known;
        }
        let glyph = without_panic(|| self.rasterize(c)).flatten();
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(c, glyph);
        glyph
    }

    fn rasterize(&self, c: char) -> Option<Raster> {
        let natural = self.font.metrics(c, SIZE_PX);
        let width_px = if natural.advance_width > NARROW_ADVANCE_PX { 16 } else { 8 };
        let (metrics, coverage) = self.font.rasterize(c, fitting_size_px(&natural, width_px)?);
        let most = *coverage.iter().max()?;
        let ink_from = INK_COVERAGE.min(most / 2 + 1);
        let (left, top) = place(&metrics, width_px)?;
        let mut rows = [0_u16; MAX_ROWS];
        for (row, coverage) in rows[top..].iter_mut().zip(coverage.chunks_exact(metrics.width)) {
            for (x, _) in coverage.iter().enumerate().filter(|(_, covered)| **covered >= ink_from) {
                *row |= 0x8000 >> (left + x);
            }
        }
        let has_ink = rows.iter().any(|row| *row != 0);
        has_ink.then_some(Raster { width_px: width_px as u8, height_px: MAX_ROWS as u8, rows })
    }
}

/// What a reader of foreign bytes gives; none if it panicked. The readers keep nothing between calls that a panic could leave
/// half done.
fn without_panic<T>(read: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(read)).ok()
}

/// The size at which a glyph fits its cell: its own, or a smaller one. None where there is no ink, or no measure of it.
fn fitting_size_px(natural: &Metrics, width_px: i32) -> Option<f32> {
    let (ink_width_px, ink_height_px) = (natural.bounds.width, natural.bounds.height);
    let is_measurable = [ink_width_px, ink_height_px, natural.bounds.xmin, natural.bounds.ymin]
        .iter()
        .all(|px| px.abs() < MOST_PX);
    if !is_measurable || natural.width == 0 || natural.height == 0 {
        return None;
    }
    if natural.width <= width_px as usize && natural.height <= MAX_ROWS {
        return Some(SIZE_PX);
    }
    // One pixel less than the cell, because ink that begins inside a pixel takes a part of one more.
    let across = (width_px - 1) as f32 / ink_width_px;
    let down = (CELL_ROWS - 1) as f32 / ink_height_px;
    Some(SIZE_PX * across.min(down).min(1.0))
}

/// Left edge and top row of the ink. Stands where the font puts it, as long as that is inside the cell; marks, which have no
/// advance, stand in the middle of it.
fn place(metrics: &Metrics, width_px: i32) -> Option<(usize, usize)> {
    let (ink_width_px, ink_height_px) = (metrics.width as i32, metrics.height as i32);
    let (room_across, room_down) = (width_px - ink_width_px, CELL_ROWS - ink_height_px);
    if room_across < 0 || room_down < 0 {
        return None;
    }
    let advance_px = metrics.advance_width.ceil() as i32;
    let left = if advance_px <= 0 {
        room_across / 2
    } else {
        metrics.xmin + (width_px - advance_px).max(0) / 2
    };
    let top = ASCENT_PX - metrics.ymin - ink_height_px;
    Some((left.clamp(0, room_across) as usize, top.clamp(0, room_down) as usize))
}

impl fmt::Debug for TrueTypeFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrueTypeFont")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}
