//! Pictures and tables of `docs/snapcompact.md` that follow from the shapes: one small frame each, its cells and its bill.
//!
//! The same on every machine. Each part of the page stands between two marks of its own; the words around them are the author's.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use longhand_snapcompact::{Family, Renderer, Variant};

use crate::marked;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a file is not what would be written
    #[arg(long)]
    check: bool,
}

/// Edge of a picture. Small, so that a page of them loads at once; wide enough for 24 square cells.
const FRAME_PX: usize = 392;

/// What the pictures say: prose, a call with a pale result, code, wide characters, lines of a table.
const SAMPLE: &str = "\u{b6}user:The parser stops at line 42. Why is that? Fix it, and then run the tests.\n\
    \n\u{b6}call:read(path=\"src/parser.rs\")//find the stop\n\u{e}<out>\n\
    41 | while let Some(token) = next() {\n42 |     if token.kind == Kind::End { break; }\n</out>\u{f}\n\
    \n\u{b6}ai:It breaks at the first `;`. 0O 1lI| 5S 8B rn/m 0x1F3c9e07\n\
    漢字とかな 한국어 Привет\n┌─────┬────┐\n│ 128 │ ok │\n└─────┴────┘\n";

const PAGE: &str = "docs/snapcompact.md";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, bytes) in files(&root)? {
        if arguments.check {
            let found = fs::read(&path).unwrap_or_default();
            ensure!(found == bytes, "{} has drifted: run `cargo xtask gallery`", path.display());
        } else {
            fs::create_dir_all(path.parent().unwrap_or(&root))?;
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// Each file as it should be.
fn files(root: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for variant in Variant::ALL {
        files.push((root.join("docs").join(picture(*variant)), frame(*variant)?));
    }
    let path = root.join(PAGE);
    let page =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let page = marked::replaced(&page, "shapes", &shapes())?;
    let page = marked::replaced(&page, "gallery", &gallery())?;
    files.push((path, page.into_bytes()));
    Ok(files)
}

fn picture(variant: Variant) -> String {
    format!("snapcompact/{variant}.png")
}

/// The first frame of the sample.
fn frame(variant: Variant) -> Result<Vec<u8>> {
    let shape = variant.sized(Family::Anthropic, FRAME_PX);
    let frames = Renderer::default().render(SAMPLE, &shape, 1)?;
    let frame = frames.first().context("the sample prints nothing")?;
    Ok(frame.png.to_vec())
}

fn gallery() -> String {
    let pictures = Variant::ALL.iter().map(|variant| {
        format!("**`{variant}`**\n\n![a small frame of {variant}]({})\n", picture(*variant))
    });
    pictures.collect::<Vec<_>>().join("\n")
}

/// Cells and bill of a full frame of each shape.
fn shapes() -> String {
    let mut table = String::from(
        "| shape | font | cell, px | frame, px | cells | characters | Anthropic | OpenAI | Google |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let named = Variant::ALL.iter().map(|variant| (*variant, variant.frame_size()));
    let larger = [
        (Variant::Wide11On16, 1932),
        (Variant::Wide8On16, 1932),
        (Variant::Wide8On22, 2048),
        (Variant::Wide8On16, 2048),
    ];
    for (variant, size) in named.chain(larger) {
        row(&mut table, variant, size);
    }
    table.pop();
    table
}

fn row(table: &mut String, variant: Variant, size: usize) {
    let shape = variant.sized(Family::Anthropic, size);
    let Ok(grid) = shape.grid() else { return };
    let columns = if grid.columns > 1 { format!("{} × ", grid.columns) } else { String::new() };
    let bills = [Family::Anthropic, Family::Openai, Family::Google].map(|family| {
        let tokens = family.frame_tokens(size, size);
        format!("{tokens} ({:.1})", grid.capacity() as f64 / tokens as f64)
    });
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "| `{variant}` | {} | {}×{} | {size} | {columns}{}×{} | {} | {} |",
        shape.font,
        shape.cell_width,
        shape.cell_height * shape.line_repeat,
        grid.cols,
        grid.rows,
        grid.capacity(),
        bills.join(" | "),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_its_pictures_are_what_the_shapes_give() {
        run(&Arguments { check: true }).expect("files as they would be written");
    }
}
