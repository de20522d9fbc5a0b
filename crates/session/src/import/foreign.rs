//! Foreign sessions as a list shows them.
//!
//! Of each transcript the start and the end are read, whatever its length. One that cannot be read is left out and told in the log; it
//! never hides the others. Nothing is written.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Origin, claude, codex};

/// A session of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSession {
    /// The program.
    pub origin: Origin,
    /// Its id there.
    pub id: String,
    /// The transcript.
    pub path: PathBuf,
    /// Where it worked, as far as anything tells.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// What the user said first, the start of it on one line.
    pub first_prompt: Option<String>,
    /// How often the user said something, where that is known without reading it whole.
    pub prompts: Option<u64>,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// The sessions that a program keeps below `root`, newest first. A folder that does not exist has none.
///
/// For Claude Code `root` is `~/.claude` or `$CLAUDE_CONFIG_DIR`, for Codex `~/.codex` or `$CODEX_HOME`.
pub fn list(origin: Origin, root: &Path) -> Vec<ForeignSession> {
    let mut sessions = match origin {
        Origin::Claude => claude::sessions(root),
        Origin::Codex => codex::sessions(root),
    };
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path)));
    sessions
}

/// Longest text that a list shows, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// The start of a text on one line; `None` where it is blank.
pub(super) fn shown(text: &str) -> Option<String> {
    let start = text.trim_start().chars().take(MAX_SHOWN_CHARS);
    let visible: String = start.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The files and folders in a folder; none where it cannot be listed.
pub(super) fn items(folder: &Path) -> Vec<fs::DirEntry> {
    match fs::read_dir(folder) {
        Ok(items) => items.filter_map(Result::ok).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            tracing::warn!("cannot list `{}`: {error}", folder.display());
            Vec::new()
        }
    }
}

/// The start and the end of a file.
pub(super) struct Windows {
    file: File,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
}

impl Windows {
    /// Opens a file; `None` where that fails, or it is no file.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let opened = || {
            let metadata = fs::metadata(path)?;
            if !metadata.is_file() {
                return Ok(None);
            }
            let (bytes, modified) = (metadata.len(), metadata.modified()?);
            Ok(Some(Self { file: File::open(path)?, bytes, modified }))
        };
        opened().unwrap_or_else(|error: io::Error| {
            tracing::warn!("cannot read `{}`: {error}", path.display());
            None
        })
    }

    /// Its first bytes; the last line may be cut.
    pub(super) fn head(&self, bytes: u64) -> String {
        let text = self.part(0, bytes);
        text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
    }

    /// Its last bytes, without a first line that is cut.
    pub(super) fn tail(&self, bytes: u64) -> String {
        let offset = self.bytes.saturating_sub(bytes);
        let text = self.part(offset, bytes);
        match text.split_once('\n') {
            Some((_, whole)) if offset > 0 => whole.to_owned(),
            _ => text,
        }
    }

    fn part(&self, offset: u64, bytes: u64) -> String {
        let mut part = vec![0; bytes.min(self.bytes) as usize];
        let mut filled = 0;
        while filled < part.len() {
            match self.file.read_at(&mut part[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!("cannot read on: {error}");
                    break;
                }
            }
        }
        part.truncate(filled);
        String::from_utf8_lossy(&part).into_owned()
    }
}

/// Lines of a small file that another program keeps beside its sessions.
pub(super) fn small_file(path: &Path, longest: u64) -> Option<String> {
    let windows = Windows::open(path).filter(|windows| windows.bytes > 0)?;
    if windows.bytes > longest {
        tracing::warn!("`{}` is too long to be looked through", path.display());
        return None;
    }
    Some(windows.head(longest))
}
