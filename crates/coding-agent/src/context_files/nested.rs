//! Instruction files below the working directory, by path only.

use std::path::{Path, PathBuf};

/// How far down is looked, and how many files and folders are looked at: a start must not wait for a large tree.
const MOST_DEEP: usize = 4;
const MOST_LOOKED_AT: usize = 2_000;

/// How many are named.
const MOST_NAMED: usize = 50;

/// Paths of the files with one of `names`, in the order of their names. Ignored and hidden folders are passed over.
pub(super) fn find(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(directory)
        .max_depth(Some(MOST_DEEP))
        .git_global(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build();
    let files = walk.take(MOST_LOOKED_AT).filter_map(Result::ok).filter(|entry| {
        entry.depth() > 1 && entry.file_name().to_str().is_some_and(|name| names.contains(&name))
    });
    files.map(ignore::DirEntry::into_path).take(MOST_NAMED).collect()
}
