//! Reads `.hex` fonts: a line a glyph, `code point:rows`, both in hexadecimal digits.
//!
//! How wide a glyph is follows from how many digits it has for the rows of its font.

use anyhow::{Context, Result, ensure};

use super::source::{SourceFont, SourceGlyph};

/// Adds the glyphs of those characters that are asked for.
pub(super) fn read_into(
    font: &mut SourceFont,
    text: &str,
    is_asked_for: fn(char) -> bool,
) -> Result<()> {
    for (number, line) in text.lines().enumerate() {
        let (code, digits) = line
            .split_once(':')
            .with_context(|| format!("line {}: no `:` after the code point", number + 1))?;
        let code = u32::from_str_radix(code, 16)
            .with_context(|| format!("line {}: `{code}` is no code point", number + 1))?;
        let Some(c) = char::from_u32(code).filter(|c| is_asked_for(*c)) else { continue };
        let glyph = glyph(digits.trim_end(), font.cell_height_px.into())
            .with_context(|| format!("line {}: no glyph", number + 1))?;
        font.glyphs.insert(c, glyph);
    }
    Ok(())
}

fn glyph(digits: &str, height_px: usize) -> Result<SourceGlyph> {
    ensure!(digits.is_ascii(), "not hexadecimal");
    let digits_a_row = digits.len() / height_px;
    ensure!(
        [2, 4].contains(&digits_a_row) && digits.len().is_multiple_of(height_px),
        "{} digits do not make {height_px} rows of 8 or 16 pixels",
        digits.len()
    );
    let unused_bits = 16 - 4 * digits_a_row;
    let rows = (0..height_px)
        .map(|y| {
            let row = &digits[y * digits_a_row..][..digits_a_row];
            Ok(u16::from_str_radix(row, 16)? << unused_bits)
        })
        .collect::<Result<_>>()?;
    Ok(SourceGlyph { width_px: (4 * digits_a_row) as u8, rows })
}
