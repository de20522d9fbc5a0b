//! Which session a terminal was last in, so that the next program there goes on with it.
//!
//! One small file a terminal: the working directory, the session's file or its place in a database, then perhaps `fresh` (nothing of
//! the session was kept yet) and `cwdstat DEVICE INODE` (which directory it was, so that one that was renamed is known again).

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::place::{self, SessionPlace};

/// The terminal that a program runs in, as a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalId(String);

/// Environment variables that name a pane or window of a terminal, and what is put before their value.
const VARIABLES: [(&str, &str); 6] = [
    ("ZELLIJ_PANE_ID", "zellij-"),
    ("TMUX_PANE", "tmux-"),
    ("KITTY_WINDOW_ID", "kitty-"),
    ("WEZTERM_PANE", "wezterm-"),
    ("TERM_SESSION_ID", "apple-"),
    ("WT_SESSION", "wt-"),
];

impl TerminalId {
    /// The terminal of a device such as `/dev/pts/3`; else the one that a variable of the environment names.
    pub fn find<'e>(
        device: Option<&Path>,
        variable: impl Fn(&str) -> Option<&'e str>,
    ) -> Option<Self> {
        let of_device = device.map(|device| {
            let device = device.to_string_lossy();
            device.strip_prefix("/dev/").unwrap_or(&device).to_owned()
        });
        let of_variable = || {
            VARIABLES.iter().find_map(|(name, prefix)| {
                let value = variable(name).filter(|value| !value.is_empty())?;
                Some(format!("{prefix}{value}"))
            })
        };
        let name = of_device.or_else(of_variable)?;
        let name: String = name
            .chars()
            .map(
                |c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' },
            )
            .collect();
        Some(Self(name)).filter(|id| !id.0.trim_matches('.').is_empty())
    }
}

/// What a terminal was last at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breadcrumb {
    /// The working directory.
    pub cwd: PathBuf,
    /// Where the session lies.
    pub place: SessionPlace,
    /// Whether nothing of the session was kept when this was written.
    pub is_fresh: bool,
    /// Device and inode of the working directory.
    pub cwd_identity: Option<(u64, u64)>,
}

impl Breadcrumb {
    /// A breadcrumb of a session in a directory. `exists` says whether something of a session is kept.
    pub fn new(cwd: &Path, place: SessionPlace, exists: impl Fn(&SessionPlace) -> bool) -> Self {
        let is_fresh = !exists(&place);
        Self { cwd: cwd.to_owned(), place, is_fresh, cwd_identity: identity(cwd) }
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (cwd, place) = (lines.next()?.into(), SessionPlace::named(lines.next()?));
        let mut crumb = Self { cwd, place, is_fresh: false, cwd_identity: None };
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["fresh"] => crumb.is_fresh = true,
                ["cwdstat", device, inode] => {
                    crumb.cwd_identity = device.parse().ok().zip(inode.parse().ok());
                }
                _ => {}
            }
        }
        Some(crumb)
    }

    fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.cwd.display(), self.place);
        if self.is_fresh {
            text.push_str("fresh\n");
        }
        if let Some((device, inode)) = self.cwd_identity {
            text.push_str(&format!("cwdstat {device} {inode}\n"));
        }
        text
    }
}

/// What a breadcrumb says to a program that goes on in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trail {
    /// Go on with this session.
    Here(SessionPlace),
    /// The session's directory was renamed to the current one: it moves along.
    Moved(SessionPlace),
    /// Begin a new session, not an older one: the last one had not begun.
    Fresh,
    /// It says nothing of this directory.
    Elsewhere,
}

/// Reads what a breadcrumb means in a directory. That its own directory is gone does not make it this one; only being the same one,
/// by device and inode, does. `exists` says whether something of a session is kept.
pub fn follow(
    crumb: &Breadcrumb,
    directory: &Path,
    exists: impl Fn(&SessionPlace) -> bool,
) -> Trail {
    let place = Some(outermost(&crumb.place)).filter(|place| exists(place));
    if same_directory(&crumb.cwd, directory) {
        return match place {
            Some(place) => Trail::Here(place),
            None if crumb.is_fresh => Trail::Fresh,
            None => Trail::Elsewhere,
        };
    }
    let has_moved = !crumb.cwd.exists()
        && crumb.cwd_identity.is_some()
        && crumb.cwd_identity == identity(directory);
    match place {
        Some(place) if has_moved => Trail::Moved(place),
        _ => Trail::Elsewhere,
    }
}

fn same_directory(one: &Path, other: &Path) -> bool {
    one == other || place::canonical(one) == place::canonical(other)
}

/// The session itself, or the one among whose artifacts it lies: a subagent's session is not gone on with.
fn outermost(place: &SessionPlace) -> SessionPlace {
    let Some(file) = place.file() else { return place.clone() };
    let parents = file.ancestors().skip(1).map(|folder| folder.with_extension(place::EXTENSION));
    match parents.filter(|parent| parent.is_file()).last() {
        Some(parent) => SessionPlace::File(parent),
        None => place.clone(),
    }
}

fn identity(directory: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The folder of the breadcrumbs.
#[derive(Debug, Clone)]
pub struct Breadcrumbs {
    folder: PathBuf,
}

impl Breadcrumbs {
    /// Breadcrumbs in a folder, which is made by the first one.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The breadcrumb of a terminal. One that cannot be read is none.
    pub fn read(&self, terminal: &TerminalId) -> Option<Breadcrumb> {
        Breadcrumb::from_text(&fs::read_to_string(self.folder.join(&terminal.0)).ok()?)
    }

    /// Leaves a breadcrumb.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn leave(&self, terminal: &TerminalId, crumb: &Breadcrumb) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let file = self.folder.join(&terminal.0);
        let draft = self.folder.join(format!(".{}.{}.tmp", terminal.0, std::process::id()));
        fs::write(&draft, crumb.to_text())?;
        fs::rename(&draft, &file)
    }
}
