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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SourceFont> {
        let mut font = SourceFont::new(8, 2, 2);
        read_into(&mut font, text, |c| c != 'B')?;
        Ok(font)
    }

    #[test]
    fn glyphs_are_as_wide_as_their_digits_say_and_only_those_asked_for() {
        let font = read("0041:8001\n0042:FFFF\n6F22:80010FF0\n").unwrap();
        let narrow = SourceGlyph { width_px: 8, rows: vec![0x8000, 0x0100] };
        let wide = SourceGlyph { width_px: 16, rows: vec![0x8001, 0x0FF0] };
        assert_eq!(font.glyphs.into_iter().collect::<Vec<_>>(), [('A', narrow), ('漢', wide)]);
    }

    #[test]
    fn a_line_that_is_no_glyph_is_named() {
        for line in ["41", "G:8001", "41:80", "41:800", "41:800100", "41:80é1", "41:80G1"] {
            let error = read(&format!("0041:8001\n{line}\n")).unwrap_err();
            assert!(error.to_string().starts_with("line 2: "), "{line}: {error}");
        }
    }
}
