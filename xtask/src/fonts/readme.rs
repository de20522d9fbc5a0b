//! The tables of the fonts' README that follow from the fonts: sizes, coverage, easily confused characters, equal glyphs.
//!
//! Each stands between two marks of its own; the words around them are nobody's but the author's.

use std::iter;

use anyhow::Result;
use longhand_fonts::{BitmapFont, BuiltIn};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::scripts::{SCRIPTS, Script};
use crate::marked;

/// A font, and how long its packed form is.
pub(super) struct FontFile {
    pub(super) built_in: BuiltIn,
    pub(super) font: BitmapFont,
    pub(super) file_bytes: usize,
}

/// Characters that readers take for each other. Those of one group are compared.
const CONFUSED: &[&str] = &["0OQD", "1lI|", "5S", "8B", "2Z", "rnm"];

/// Columns of a line of equal glyphs.
const LINE_COLUMNS: usize = 100;

/// Stands between two classes of equal glyphs.
const SPACING: &str = "   ";

/// The README with its tables made anew.
pub(super) fn with_tables(readme: &str, fonts: &[FontFile]) -> Result<String> {
    let tables = [
        ("sizes", sizes(fonts)),
        ("coverage", coverage(fonts)),
        ("confused", confused(fonts)),
        ("equal glyphs", equal_glyphs(fonts)),
    ];
    tables
        .iter()
        .try_fold(readme.to_owned(), |text, (name, table)| marked::replaced(&text, name, table))
}

fn title(built_in: BuiltIn) -> &'static str {
    match built_in {
        BuiltIn::Fixed5x8 => "fixed 5x8",
        BuiltIn::Fixed6x12 => "fixed 6x12",
        BuiltIn::Fixed8x13 => "fixed 8x13",
        BuiltIn::Unscii8 => "unscii-8",
        BuiltIn::Wide => "Longhand Wide",
    }
}

/// A table: how its first columns are headed, a column for each font, and its rows.
fn table(
    headings: &[&str],
    fonts: &[FontFile],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let titles = fonts.iter().map(|file| title(file.built_in));
    let head: Vec<String> = headings.iter().copied().chain(titles).map(str::to_owned).collect();
    let rule = iter::once("---").chain(iter::repeat_n("---:", head.len() - 1));
    let rule = rule.map(str::to_owned).collect();
    [head, rule].into_iter().chain(rows).map(|cells| line(&cells)).collect()
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn sizes(fonts: &[FontFile]) -> String {
    let headings = [
        "Font",
        "Cell, px",
        "Rows above the baseline",
        "Glyphs",
        "Packed, bytes",
        "Unpacked, bytes",
    ];
    let rows = fonts.iter().map(|FontFile { built_in, font, file_bytes }| {
        let glyphs = font.chars().count();
        vec![
            title(*built_in).to_owned(),
            format!("{}x{}", font.cell_width_px(), font.cell_height_px()),
            font.ascent_px().to_string(),
            glyphs.to_string(),
            file_bytes.to_string(),
            (glyphs * font.cell_height_px() * size_of::<u16>()).to_string(),
        ]
    });
    table(&headings, &[], rows)
}

fn coverage(fonts: &[FontFile]) -> String {
    let rows = SCRIPTS.iter().map(|script| {
        let seen: Vec<char> = script.chars().filter(|c| super::is_printed(*c)).collect();
        let covered = fonts.iter().map(|file| {
            let covered = seen.iter().filter(|c| file.font.covers(**c)).count();
            if covered == 0 { String::new() } else { covered.to_string() }
        });
        [script.name.to_owned(), seen.len().to_string()].into_iter().chain(covered).collect()
    });
    table(&["Script", "Characters"], fonts, rows)
}

impl Script {
    fn chars(&self) -> impl Iterator<Item = char> {
        self.blocks.iter().flat_map(|(first, last)| *first..=*last).filter_map(char::from_u32)
    }
}

/// How many pixels differ between characters that readers take for each other.
fn confused(fonts: &[FontFile]) -> String {
    let rows = confused_pairs().map(|(one, other)| {
        let distances = fonts.iter().map(|file| {
            distance_px(&file.font, one, other).map_or_else(String::new, |px| px.to_string())
        });
        let pair = format!("`{}` and `{}`", escaped(one), escaped(other));
        iter::once(pair).chain(distances).collect()
    });
    table(&["Characters"], fonts, rows)
}

fn confused_pairs() -> impl Iterator<Item = (char, char)> {
    CONFUSED.iter().flat_map(|group| {
        let pairs = move |(at, one): (usize, char)| {
            group[at + one.len_utf8()..].chars().map(move |other| (one, other))
        };
        group.char_indices().flat_map(pairs)
    })
}

fn escaped(c: char) -> String {
    if c == '|' { "\\|".to_owned() } else { c.to_string() }
}

/// Pixels that differ between two glyphs of one size.
fn distance_px(font: &BitmapFont, one: char, other: char) -> Option<u32> {
    let (one, other) = font.glyph(one).zip(font.glyph(other))?;
    Some(one.rows.iter().zip(other.rows).map(|(one, other)| (one ^ other).count_ones()).sum())
}

/// Every class of characters with equal glyphs: the first of them as it looks, and the code points of all.
fn equal_glyphs(fonts: &[FontFile]) -> String {
    let folded = fonts.iter().map(|file| {
        let classes = file.font.glyph_classes();
        let members: usize = classes.iter().map(Vec::len).sum();
        let (title, count) = (title(file.built_in), classes.len());
        let lines = filled_lines(classes.iter().map(|class| class_text(class)));
        format!(
            "<details>\n<summary>{title}: {members} characters in {count} classes</summary>\n\n\
             ```text\n{lines}\n```\n\n</details>\n"
        )
    });
    folded.collect::<Vec<_>>().join("\n")
}

/// Texts side by side, as many as a line holds.
fn filled_lines(texts: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if columns(line) + columns(SPACING) + columns(&text) <= LINE_COLUMNS => {
                line.push_str(SPACING);
                line.push_str(&text);
            }
            _ => lines.push(text),
        }
    }
    lines.join("\n")
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

fn class_text(class: &[char]) -> String {
    let codes = class.iter().map(|c| format!("{:04X}", u32::from(*c)));
    let looks = class.first().filter(|c| stands_alone(**c)).map(char::to_string);
    looks.into_iter().chain(codes).collect::<Vec<_>>().join(" ")
}

/// Whether a character can be seen by itself, and leaves the order of what follows alone.
fn stands_alone(c: char) -> bool {
    let is_right_to_left =
        matches!(u32::from(c), 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF);
    let is_seen = !matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Mark | GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other
    );
    is_seen && !is_right_to_left
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::fonts::file_name;

    fn compiled_in() -> Vec<FontFile> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fonts/data");
        let file = |built_in: BuiltIn| {
            let file_bytes = fs::metadata(data.join(file_name(built_in))).unwrap().len() as usize;
            FontFile { built_in, font: built_in.font().clone(), file_bytes }
        };
        BuiltIn::ALL.map(file).into()
    }

    #[test]
    fn the_tables_of_the_readme_tell_what_the_compiled_in_fonts_hold() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fonts/README.md");
        let readme = fs::read_to_string(path).unwrap();
        let made_anew = with_tables(&readme, &compiled_in()).unwrap();
        let same = readme.lines().zip(made_anew.lines()).take_while(|(old, new)| old == new);
        assert!(readme == made_anew, "line {} has drifted", same.count() + 1);
    }

    #[test]
    fn every_character_of_every_font_is_in_one_row_of_the_coverage_table() {
        let mut seen = BTreeSet::new();
        for script in SCRIPTS {
            for c in script.chars() {
                assert!(seen.insert(c), "U+{:04X} is in two rows", u32::from(c));
            }
        }
        for built_in in BuiltIn::ALL {
            let left_out = built_in.font().chars().find(|c| !seen.contains(c));
            assert_eq!(left_out, None, "{built_in:?}");
        }
    }
}
