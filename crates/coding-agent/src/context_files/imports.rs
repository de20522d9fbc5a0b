//! Imports in a file of instructions: `@path`, outside code. Only names that exist are imports; `@name` may be a person.

use std::path::{Path, PathBuf};

/// How deeply imports may be nested.
pub(super) const MOST_DEEP: usize = 5;

/// Files that a text imports, in order. Relative paths are relative to the importing file.
pub(super) fn paths(text: &str, importer: &Path) -> Vec<PathBuf> {
    let folder = importer.parent().unwrap_or(Path::new(""));
    let names =
        prose(text).flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix('@'));
    names.filter_map(|name| existing(folder, name)).collect()
}

/// The file of a name, or of the name without the punctuation that ends a sentence.
fn existing(folder: &Path, name: &str) -> Option<PathBuf> {
    let bare = name.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
    [name, bare].into_iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The pieces of a text that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    let lines = text.lines().filter(move |line| {
        let line = line.trim_start();
        match fence {
            Some(open) if line.starts_with(open) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
                return fence.is_none();
            }
        }
        false
    });
    // Every second piece between backticks is code.
    lines.flat_map(|line| line.split('`').step_by(2))
}
