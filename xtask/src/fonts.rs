//! Packs the fonts of `longhand-fonts` from their sources, and writes the tables of its README.
//!
//! The sources are two Debian packages and one file that no package has. They are not part of the repository, the packs are:
//! building needs neither. Nothing is fetched.

mod hex;
mod pack;
mod pcf;
mod readme;
mod scripts;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use longhand_fonts::{BitmapFont, BuiltIn};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use readme::FontFile;
use source::{SourceFont, SourceGlyph};

/// Names of the file of unscii-8, best first: its Latin-1 part, and the file that its author publishes.
const UNSCII_FILES: [&str; 2] = ["unscii-8-latin1.hex", "unscii-8.hex"];

/// The zero of the misc-fixed fonts looks like their O, which ruins ids. These are marked with a dot or a stroke.
const ZERO_5X8: [u8; 8] = [0x00, 0x20, 0x50, 0x70, 0x50, 0x50, 0x20, 0x00];
const ZERO_6X12: [u8; 12] =
    [0x00, 0x00, 0x00, 0x30, 0x48, 0x48, 0x78, 0x48, 0x48, 0x30, 0x00, 0x00];
const ZERO_8X13: [u8; 13] =
    [0x00, 0x00, 0x18, 0x24, 0x42, 0x4A, 0x52, 0x62, 0x42, 0x24, 0x18, 0x00, 0x00];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with 5x8.pcf.gz, 6x12.pcf.gz and 8x13.pcf.gz (Debian package xfonts-base)
    #[arg(long, default_value = "/usr/share/fonts/X11/misc")]
    misc_fixed: PathBuf,
    /// Folder with unifont.hex (Debian package unifont)
    #[arg(long, default_value = "/usr/share/unifont")]
    unifont: PathBuf,
    /// Folder with unscii-8-latin1.hex, or unscii-8.hex as its author publishes it
    #[arg(long)]
    unscii: PathBuf,
    /// Write nothing, fail if what would be written differs from what is there
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fonts");
    let mut fonts = Vec::new();
    let mut files = Vec::new();
    for built_in in BuiltIn::ALL {
        let source = source_of(built_in, arguments)?;
        let packed = pack::pack(&source)?;
        let font = BitmapFont::unpack(&packed)?;
        println!(
            "{}: {} glyphs, {} bytes",
            file_name(built_in),
            font.chars().count(),
            packed.len()
        );
        fonts.push(FontFile { built_in, font, file_bytes: packed.len() });
        files.push((home.join("data").join(file_name(built_in)), packed));
    }
    let path = home.join("README.md");
    let text = fs::read_to_string(&path).with_context(|| cannot_read(&path))?;
    files.push((path, readme::with_tables(&text, &fonts)?.into_bytes()));
    if arguments.check { check(&files) } else { write(&files) }
}

/// Name of the packed file of a font.
fn file_name(built_in: BuiltIn) -> &'static str {
    match built_in {
        BuiltIn::Fixed5x8 => "fixed-5x8.font",
        BuiltIn::Fixed6x12 => "fixed-6x12.font",
        BuiltIn::Fixed8x13 => "fixed-8x13.font",
        BuiltIn::Unscii8 => "unscii-8.font",
        BuiltIn::Wide => "wide.font",
    }
}

fn source_of(built_in: BuiltIn, arguments: &Arguments) -> Result<SourceFont> {
    match built_in {
        BuiltIn::Fixed5x8 => fixed(arguments, "5x8.pcf.gz", &ZERO_5X8),
        BuiltIn::Fixed6x12 => fixed(arguments, "6x12.pcf.gz", &ZERO_6X12),
        BuiltIn::Fixed8x13 => fixed(arguments, "8x13.pcf.gz", &ZERO_8X13),
        BuiltIn::Unscii8 => unscii(&arguments.unscii),
        BuiltIn::Wide => wide(&arguments.unifont),
    }
}

fn fixed(arguments: &Arguments, file: &str, zero: &[u8]) -> Result<SourceFont> {
    let path = arguments.misc_fixed.join(file);
    let bytes = fs::read(&path).with_context(|| missing(&path, "xfonts-base", "--misc-fixed"))?;
    let mut font = pcf::read(&bytes).with_context(|| cannot_read(&path))?;
    font.replace('0', zero)?;
    Ok(font)
}

/// Latin-1 alone: nothing else is printed in cells of 8x8 pixels, and U+0000 has no glyph.
fn unscii(folder: &Path) -> Result<SourceFont> {
    let Some(path) = UNSCII_FILES.iter().map(|name| folder.join(name)).find(|path| path.exists())
    else {
        bail!(
            "{} has neither {} nor {}: no Debian package has this font, name a folder with `--unscii`",
            folder.display(),
            UNSCII_FILES[0],
            UNSCII_FILES[1]
        );
    };
    let text = fs::read_to_string(&path).with_context(|| cannot_read(&path))?;
    let mut font = SourceFont::new(8, 8, 7);
    hex::read_into(&mut font, &text, |c| ('\u{1}'..='\u{FF}').contains(&c))
        .with_context(|| cannot_read(&path))?;
    Ok(font)
}

/// Everything that is a character and can be seen. What is not assigned, of private use, or a control would only print as a box
/// with its number, and so would what Unicode got after the source was made.
fn wide(folder: &Path) -> Result<SourceFont> {
    let path = folder.join("unifont.hex");
    let text = fs::read_to_string(&path).with_context(|| missing(&path, "unifont", "--unifont"))?;
    let mut font = SourceFont::new(8, 16, 14);
    hex::read_into(&mut font, &text, is_printed).with_context(|| cannot_read(&path))?;
    font.glyphs.retain(|_, glyph| !is_number_box(glyph));
    Ok(font)
}

fn is_printed(c: char) -> bool {
    !matches!(
        c.general_category(),
        GeneralCategory::Unassigned
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate
            | GeneralCategory::Control
            | GeneralCategory::Format
    )
}

/// Whether a glyph is the white digits of a code point in two black bars, which stands for a character without a glyph.
fn is_number_box(glyph: &SourceGlyph) -> bool {
    const BAR: u16 = 0b0111_1111_1111_1110;
    const ENDS: u16 = 0b0100_0000_0000_0010;
    let rows = &glyph.rows;
    let has_bars = [1, 7, 8, 14].iter().all(|y| rows[*y] == BAR);
    let has_margin = [0, 15].iter().all(|y| rows[*y] == 0);
    let inside = &rows[1..15];
    has_bars
        && has_margin
        && inside.iter().all(|row| row & !BAR == 0 && row & ENDS == ENDS)
        && inside.iter().any(|row| *row != BAR)
}

fn missing(path: &Path, package: &str, flag: &str) -> String {
    format!(
        "cannot read {}: install the Debian package `{package}`, or name its folder with `{flag}`",
        path.display()
    )
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn write(files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    for (path, bytes) in files {
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn check(files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    for (path, bytes) in files {
        let present = fs::read(path).with_context(|| cannot_read(path))?;
        ensure!(
            present == *bytes,
            "{} differs from what its sources give: run without `--check`, and count \
             `PACK_VERSION` up if a raster changed",
            path.display()
        );
    }
    Ok(())
}
