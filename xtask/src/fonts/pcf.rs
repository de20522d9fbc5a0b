//! Reads fonts of the X server in their compiled form (`.pcf.gz`): the glyphs of a font whose code points are Unicode.
//!
//! A file is a table of contents and tables; each begins with its format, which tells byte order and padding. Only what the fonts
//! of `xfonts-base` use is read: metrics of a byte each, one ink box a glyph, code points of the Basic Multilingual Plane.

use std::io::Read;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;

use super::source::{SourceFont, SourceGlyph};

/// Table types.
const METRICS: u32 = 1 << 2;
const BITMAPS: u32 = 1 << 3;
const ENCODINGS: u32 = 1 << 5;
const BDF_ACCELERATORS: u32 = 1 << 8;

/// Bits of a table's format.
const COMPRESSED_METRICS: u32 = 0x100;
const PAD_MASK: u32 = 0b11;
const BIG_ENDIAN: u32 = 1 << 2;
const HIGHEST_BIT_LEFT: u32 = 1 << 3;

/// A code point without a glyph.
const NO_GLYPH: u16 = 0xFFFF;

/// Reads a compressed font file.
pub(super) fn read(gz: &[u8]) -> Result<SourceFont> {
    let mut bytes = Vec::new();
    GzDecoder::new(gz).read_to_end(&mut bytes).context("not compressed with gzip")?;
    let file = File::parse(&bytes)?;
    let (ascent_px, descent_px) = file.ascent_and_descent()?;
    let metrics = file.metrics()?;
    let bitmaps = file.bitmaps(&metrics)?;
    let width_px = metrics.first().context("no glyphs")?.advance;
    let mut font = SourceFont::new(
        u8::try_from(width_px)?,
        u8::try_from(ascent_px + descent_px)?,
        u8::try_from(ascent_px)?,
    );
    for (c, glyph) in file.encodings()? {
        let (metrics, bitmap) =
            metrics.get(glyph).zip(bitmaps.get(glyph)).context("a code point without a glyph")?;
        let rows = metrics.placed(bitmap, ascent_px, ascent_px + descent_px)?;
        font.glyphs.insert(c, SourceGlyph { width_px: u8::try_from(metrics.advance)?, rows });
    }
    Ok(font)
}

/// Where a glyph's ink is, in pixels from its origin on the baseline.
struct Metrics {
    left: i32,
    right: i32,
    advance: i32,
    ascent: i32,
    descent: i32,
}

impl Metrics {
    /// The ink in a cell of the font's own size.
    fn placed(&self, ink: &[u16], font_ascent_px: i32, height_px: i32) -> Result<Vec<u16>> {
        let top = usize::try_from(font_ascent_px - self.ascent)?;
        let left = u32::try_from(self.left)?;
        let mut rows = vec![0; usize::try_from(height_px)?];
        let target = rows.get_mut(top..top + ink.len()).context("ink above or below the cell")?;
        for (row, ink) in target.iter_mut().zip(ink) {
            *row = ink >> left;
        }
        Ok(rows)
    }
}

struct File<'a> {
    bytes: &'a [u8],
    /// Type and place of each table.
    tables: Vec<(u32, usize)>,
}

impl<'a> File<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self> {
        let contents = bytes.strip_prefix(b"\x01fcp").context("not a PCF file")?;
        let mut head = Table { rest: contents, format: 0 };
        let count = head.u32()?;
        let tables = (0..count)
            .map(|_| {
                let [kind, _format, _size, place] =
                    [head.u32()?, head.u32()?, head.u32()?, head.u32()?];
                Ok((kind, place as usize))
            })
            .collect::<Result<_>>()?;
        Ok(Self { bytes, tables })
    }

    fn table(&self, kind: u32) -> Result<Table<'a>> {
        let (_, place) = self
            .tables
            .iter()
            .find(|(of, _)| *of == kind)
            .with_context(|| format!("no table of type {kind}"))?;
        let rest = self.bytes.get(*place..).context("a table beyond the end")?;
        // The format itself is little-endian always.
        let mut table = Table { rest, format: 0 };
        table.format = table.u32()?;
        Ok(table)
    }

    fn ascent_and_descent(&self) -> Result<(i32, i32)> {
        let mut table = self.table(BDF_ACCELERATORS)?;
        table.skip(8)?;
        Ok((table.i32()?, table.i32()?))
    }

    fn metrics(&self) -> Result<Vec<Metrics>> {
        let mut table = self.table(METRICS)?;
        ensure!(table.format & COMPRESSED_METRICS != 0, "metrics of two bytes each");
        let count = table.u16()?;
        (0..count)
            .map(|_| {
                Ok(Metrics {
                    left: table.biased()?,
                    right: table.biased()?,
                    advance: table.biased()?,
                    ascent: table.biased()?,
                    descent: table.biased()?,
                })
            })
            .collect()
    }

    /// The ink rows of each glyph, leftmost pixel in bit 15.
    fn bitmaps(&self, metrics: &[Metrics]) -> Result<Vec<Vec<u16>>> {
        let mut table = self.table(BITMAPS)?;
        ensure!(table.format & HIGHEST_BIT_LEFT != 0, "bitmaps with the lowest bit left");
        let padding = 1_usize << (table.format & PAD_MASK);
        ensure!(table.u32()? as usize == metrics.len(), "another number of bitmaps than metrics");
        let places =
            metrics.iter().map(|_| Ok(table.u32()? as usize)).collect::<Result<Vec<_>>>()?;
        // Sizes of the whole for each of the four paddings.
        table.skip(16)?;
        let ink = table.rest;
        places.into_iter().zip(metrics).map(|(place, of)| rows(ink, place, padding, of)).collect()
    }

    fn encodings(&self) -> Result<Vec<(char, usize)>> {
        let mut table = self.table(ENCODINGS)?;
        let [first_low, last_low, first_high, last_high] =
            [table.u16()?, table.u16()?, table.u16()?, table.u16()?];
        let _default_char = table.u16()?;
        let mut found = Vec::new();
        for high in first_high..=last_high {
            for low in first_low..=last_low {
                let glyph = table.u16()?;
                let c = char::from_u32(u32::from(high) << 8 | u32::from(low));
                if let Some(c) = c.filter(|_| glyph != NO_GLYPH) {
                    found.push((c, glyph.into()));
                }
            }
        }
        Ok(found)
    }
}

/// The ink of one glyph: rows that are padded to a number of bytes.
fn rows(ink: &[u8], place: usize, padding: usize, metrics: &Metrics) -> Result<Vec<u16>> {
    let width_px = usize::try_from(metrics.right - metrics.left)?;
    let height_px = usize::try_from(metrics.ascent + metrics.descent)?;
    ensure!(width_px <= 16, "a glyph of {width_px} pixels");
    let row_bytes = width_px.div_ceil(8).next_multiple_of(padding);
    let ink = ink.get(place..place + height_px * row_bytes).context("a glyph beyond the end")?;
    if row_bytes == 0 {
        return Ok(vec![0; height_px]);
    }
    Ok(ink
        .chunks_exact(row_bytes)
        .map(|row| u16::from_be_bytes([row[0], row.get(1).copied().unwrap_or(0)]))
        .collect())
}

/// What is left to read of a table.
struct Table<'a> {
    rest: &'a [u8],
    format: u32,
}

impl Table<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk().context("a table ends early")?;
        self.rest = rest;
        Ok(*head)
    }

    fn skip(&mut self, bytes: usize) -> Result<()> {
        self.rest = self.rest.get(bytes..).context("a table ends early")?;
        Ok(())
    }

    fn u16(&mut self) -> Result<u16> {
        let bytes = self.take()?;
        let is_big = self.format & BIG_ENDIAN != 0;
        Ok(if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.take()?;
        let is_big = self.format & BIG_ENDIAN != 0;
        Ok(if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn i32(&mut self) -> Result<i32> {
        Ok(self.u32()?.cast_signed())
    }

    /// A metric of one byte, which is stored with 128 added.
    fn biased(&mut self) -> Result<i32> {
        let [byte] = self.take()?;
        Ok(i32::from(byte) - 0x80)
    }
}
