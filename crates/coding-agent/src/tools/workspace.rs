//! Where a session works: its working directory, its roots, and what a path in a call means.
//!
//! Whether a path lies inside the roots is judged by where it really leads, symbolic links followed, also for files that do not
//! exist yet. Reads the file system to follow links; changes nothing.

use std::io;
use std::path::{Component, Path, PathBuf};

use longhand_agent::tool::Tier;

use crate::places::PROJECT_FOLDER;

/// Most links followed for one path, as in Linux.
const MAX_LINKS: usize = 40;

/// Folders whose files say what runs: hooks and settings of git, settings of this agent.
const GUARDED: [&str; 2] = [".git", PROJECT_FOLDER];

/// The folders a session works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Workspace {
    /// A workspace at `cwd`, which is its first root. `home` is what `~` stands for.
    ///
    /// # Errors
    /// `cwd` or one of the further roots does not exist.
    pub fn new(
        cwd: &Path,
        further_roots: impl IntoIterator<Item = PathBuf>,
        home: Option<PathBuf>,
    ) -> io::Result<Self> {
        let cwd = cwd.canonicalize()?;
        let mut roots = vec![cwd.clone()];
        for root in further_roots {
            roots.push(root.canonicalize()?);
        }
        Ok(Self { cwd, roots, home })
    }

    /// The working directory, without links.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The working directory and the further roots, without links.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// What a path in a call means: `~` and `file://` are understood, the rest is relative to the working directory.
    /// `.` and `..` are resolved by name.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let path = match path.strip_prefix("file://") {
            Some(url) => percent_decoded(url),
            None => path.to_owned(),
        };
        let joined = match (&self.home, path.strip_prefix('~')) {
            (Some(home), Some("")) => home.clone(),
            (Some(home), Some(rest)) if rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => self.cwd.join(path),
        };
        normalized(&joined)
    }

    /// Where a path really leads, links followed. Of a path that does not exist, as far as it does.
    pub fn real(path: &Path) -> PathBuf {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            if let Ok(real) = path.canonicalize() {
                return real;
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { break };
            let place = Self::real(parent).join(name);
            match place.read_link() {
                // A link into the void: what is written through it lands at its target.
                Ok(target) => path = normalized(&place.with_file_name("").join(target)),
                Err(_) => return place,
            }
        }
        path
    }

    /// The tier of a call that is of tier `inside` for paths that lead to a place below one of the roots. To write what runs
    /// commands later is to run them.
    pub fn tier(&self, inside: Tier, path: &Path) -> Tier {
        let real = Self::real(path);
        match self.roots.iter().find_map(|root| real.strip_prefix(root).ok()) {
            Some(below) if inside < Tier::Write || !is_guarded(below) => inside,
            Some(_) | None => Tier::Exec,
        }
    }

    /// A path as the model reads it: relative to the working directory where it lies below it.
    pub fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Whether a path lies in a folder that says what runs. Some file systems take `.GIT` for `.git`.
fn is_guarded(path: &Path) -> bool {
    path.components()
        .any(|part| GUARDED.iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name)))
}

/// The path without `.` and `..`, by name.
fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(component),
        }
    }
    out
}

/// The text with `%41` read as `A`. What is no such escape stays.
fn percent_decoded(url: &str) -> String {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
