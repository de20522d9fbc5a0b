//! Goes through the files of a folder for the search tools.
//!
//! Ignore files count where asked for, in repositories and outside of them; those of the user's home never do, so that a search gives
//! the same on every machine. `.git` is never entered. Links are not followed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

use crate::tools::failure::Failure;

/// Which files are gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Whether names that begin with a dot count.
    pub(crate) has_hidden: bool,
    /// Whether files that ignore files name are left out.
    pub(crate) heeds_ignore: bool,
}

/// Why a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All was seen, or the visitor had enough.
    Complete,
    OutOfTime,
}

/// Gives each file below `folder` to `visit`, in the order of paths, until it says no or the time is over.
pub(crate) fn each_file(
    folder: &Path,
    filter: Filter,
    deadline: Instant,
    cancel: &CancellationToken,
    mut visit: impl FnMut(PathBuf) -> bool,
) -> Result<Ended, Failure> {
    let walk = WalkBuilder::new(folder)
        .hidden(!filter.has_hidden)
        .ignore(filter.heeds_ignore)
        .git_ignore(filter.heeds_ignore)
        .git_exclude(filter.heeds_ignore)
        .parents(filter.heeds_ignore)
        .git_global(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build();
    // What cannot be read is left out, as it is by every search tool.
    for entry in walk.filter_map(Result::ok) {
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        if Instant::now() >= deadline {
            return Ok(Ended::OutOfTime);
        }
        let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
        if is_file && !visit(entry.into_path()) {
            break;
        }
    }
    Ok(Ended::Complete)
}

/// Patterns for paths below a folder: `*` stays within a folder, `**` crosses folders.
pub(crate) fn globs<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<GlobSet, Failure> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(
            glob.map_err(|error| Failure(format!("`{pattern}` is no pattern: {}", error.kind())))?,
        );
    }
    set.build().map_err(|error| Failure(format!("the patterns are too large: {error}")))
}
