//! Frames as files: one that is shown by another program, and one that is kept.
//!
//! What is shown lies in a folder that only the user can read, and goes with it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::reel::{PartKind, Reel};

/// More files of one name than this are not looked through.
const MOST_NAMES: u32 = 1_000;

/// Where files go, and what shows them.
#[derive(Debug, Clone)]
pub(crate) struct Outlet {
    /// Files that go when the program ends are below this folder.
    pub(crate) runtime: PathBuf,
    /// Files that are kept go here.
    pub(crate) kept: PathBuf,
    /// The program that shows pictures, with its first arguments.
    pub(crate) viewer: Vec<String>,
}

/// Files that other programs show. They go with this.
#[derive(Debug, Default)]
pub(crate) struct ShownFiles(Option<TempDir>);

impl ShownFiles {
    /// Writes a file for another program.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(
        &mut self,
        outlet: &Outlet,
        name: &str,
        content: &[u8],
    ) -> io::Result<PathBuf> {
        let folder = match &mut self.0 {
            Some(folder) => folder,
            none => none.insert(
                tempfile::Builder::new()
                    .prefix("longhand-")
                    .permissions(fs::Permissions::from_mode(0o700))
                    .tempdir_in(&outlet.runtime)?,
            ),
        };
        let path = folder.path().join(name);
        // A file that is shown already is replaced: the program that shows it may have it open.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        write_new(&path, content)?;
        Ok(path)
    }
}

/// Starts the program that shows a file. `failed` hears, on a thread of its own, that the program has ended badly.
///
/// # Errors
/// It does not start, in words for the user.
pub(crate) fn show(
    outlet: &Outlet,
    file: &Path,
    failed: impl FnOnce(String) + Send + 'static,
) -> Result<(), String> {
    let [program, arguments @ ..] = outlet.viewer.as_slice() else {
        return Err("no program is named that shows pictures".into());
    };
    let quiet = Stdio::null;
    let mut child = Command::new(program)
        .args(arguments)
        .arg(file)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        // What stops this program must not stop that one.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{program} does not start: {error}; s saves the picture"))?;
    let program = program.clone();
    // It may be open for hours; a worker of the runtime would keep the program from ending.
    std::thread::spawn(move || {
        if let Ok(status) = child.wait()
            && !status.success()
        {
            failed(format!("{program} ended with {status}; s saves the picture"));
        }
    });
    Ok(())
}

/// Writes a file that stays, under a name that is free.
///
/// # Errors
/// It cannot be written.
pub(crate) fn keep(outlet: &Outlet, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "bin"));
    for number in 1..=MOST_NAMES {
        let name = if number == 1 { name.to_owned() } else { format!("{stem}-{number}.{end}") };
        let path = outlet.kept.join(name);
        match write_new(&path, content) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => return written.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// A part of an archive as a file: its name, and what it holds.
///
/// # Errors
/// It cannot be read, in words for the user.
pub(crate) fn of_part(reel: &Reel, part: usize) -> Result<(String, Vec<u8>), String> {
    let kind = &reel.parts.get(part).ok_or("there is nothing to write")?.kind;
    // An id may be anything that a file holds.
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let entry: String = reel.entry.as_str().chars().filter(is_plain).take(16).collect();
    Ok(match kind {
        PartKind::Head => (format!("head-{entry}.txt"), reel.text(kind)?.into_bytes()),
        PartKind::Tail => (format!("tail-{entry}.txt"), reel.text(kind)?.into_bytes()),
        PartKind::Frame { number, .. } => {
            (format!("frame-{entry}-{:02}.png", number + 1), reel.png(*number)?)
        }
    })
}
