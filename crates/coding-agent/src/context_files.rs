//! Standing instructions: files such as `AGENTS.md`, of the user and of the folders from the repository down to the working
//! directory.
//!
//! Only looks and reads, at the start of a session. Instructions further down are named, not read: the model reads them when
//! it works there.

mod imports;
mod nested;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::places::{self, Places};

/// Names of instruction files, the first one with content counts.
const NAMES: &[&str] = &["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// Looked for at the top of the repository, where none of [`NAMES`] is there.
const COPILOT_FILE: &str = ".github/copilot-instructions.md";

/// Longest part of one file that is taken over, in bytes. A rule book of this size fills 25,000 tokens.
const FILE_BYTES: usize = 100 * 1024;

/// Why a file that a project leads to is left out.
const OUTSIDE: &str = "it lies outside the project";

/// Standing instructions as they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextFiles {
    /// The files, from general to specific; what a file imports follows it.
    pub files: Vec<ContextFile>,
    /// Paths of instruction files below the working directory, which were not read.
    pub nested: Vec<PathBuf>,
    /// What was left out, in words for the user.
    pub notices: Vec<String>,
}

/// One file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl ContextFiles {
    /// Reads the files for a working directory. Cost: the files on the way down, and at most a bounded look below.
    pub fn find(places: &Places, environment: &Environment, directory: &Path) -> Self {
        let mut reading = Reading::default();
        reading.file_with_imports(&places.instructions_file(), &places.config);
        let home = places::home(environment);
        let top = top(directory, home.as_deref());
        for folder in folders(top, directory) {
            let mut names: Vec<&str> = NAMES.to_vec();
            if folder == top {
                names.push(COPILOT_FILE);
            }
            // The first one with content: an empty `AGENTS.md` does not hide a `CLAUDE.md`.
            let _ = names.iter().any(|name| reading.project_file(&folder.join(name), top));
        }
        let mut found = reading.found;
        found.nested = nested::find(directory, NAMES);
        found
    }
}

/// The uppermost folder that is looked into: the root of the repository, else the home folder, else the root of all.
fn top<'a>(directory: &'a Path, home: Option<&'a Path>) -> &'a Path {
    places::repository_root(directory)
        .or_else(|| home.filter(|home| directory.starts_with(home)))
        .or_else(|| directory.ancestors().last())
        .unwrap_or(directory)
}

/// The folders from `top` down to `directory`, without hidden ones.
fn folders<'a>(top: &Path, directory: &'a Path) -> Vec<&'a Path> {
    let up = directory.ancestors().take_while(|folder| folder.starts_with(top));
    let mut folders: Vec<_> = up.filter(|folder| *folder == top || !is_hidden(folder)).collect();
    folders.reverse();
    folders
}

fn is_hidden(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

#[derive(Default)]
struct Reading {
    found: ContextFiles,
    /// Canonical paths that were read, so that each file comes once, however it is reached.
    seen: BTreeSet<PathBuf>,
}

impl Reading {
    /// Reads a file of a project, which must not be a link out of it: the project is not the user's own work.
    fn project_file(&mut self, path: &Path, top: &Path) -> bool {
        if path.is_file() && !lies_in(path, top) {
            self.notice(path, OUTSIDE);
            return false;
        }
        self.file_with_imports(path, top)
    }

    /// Reads a file and what it imports; says whether it had content. `boundary` is where imports may lie: a project must
    /// not send files of the user's home to a provider.
    fn file_with_imports(&mut self, path: &Path, boundary: &Path) -> bool {
        let Some(text) = self.read(path) else { return false };
        let imported = imports::paths(&text, path);
        self.found.files.push(ContextFile { path: path.into(), text });
        self.imports(imported, boundary, 1);
        true
    }

    fn imports(&mut self, paths: Vec<PathBuf>, boundary: &Path, depth: usize) {
        for path in paths {
            if depth > imports::MOST_DEEP {
                self.notice(&path, "imports are nested too deeply");
                continue;
            }
            if !lies_in(&path, boundary) {
                self.notice(&path, OUTSIDE);
                continue;
            }
            let Some(text) = self.read(&path) else { continue };
            let imported = imports::paths(&text, &path);
            self.found.files.push(ContextFile { path, text });
            self.imports(imported, boundary, depth + 1);
        }
    }

    /// The text of a file that has content and was not read before.
    fn read(&mut self, path: &Path) -> Option<String> {
        let canonical = path.canonicalize().ok()?;
        if self.seen.contains(&canonical) || !canonical.is_file() {
            return None;
        }
        let bytes = match std::fs::read(&canonical) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.notice(path, &error.to_string());
                return None;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let end = text.floor_char_boundary(FILE_BYTES);
        if end < text.len() {
            let message = format!(
                "only the first {} KiB of `{}` are used",
                FILE_BYTES / 1024,
                path.display()
            );
            self.found.notices.push(message);
        }
        let text = text[..end].trim();
        if text.is_empty() {
            return None;
        }
        self.seen.insert(canonical);
        Some(text.to_owned())
    }

    fn notice(&mut self, path: &Path, reason: &str) {
        self.found
            .notices
            .push(format!("instructions in `{}` are not used: {reason}", path.display()));
    }
}

/// Whether a file is inside a folder once links are followed.
fn lies_in(path: &Path, folder: &Path) -> bool {
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}
