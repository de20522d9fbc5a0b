//! Where deleted sessions stay for a while: one folder each, named for when it came.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longhand_session::place;

/// How long a deleted session can be had back.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// The folder of deleted sessions.
#[derive(Debug, Clone)]
pub(super) struct Trash {
    folder: PathBuf,
}

impl Trash {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Moves a session's file and artifacts here. Its locks and backups go.
    pub(super) fn take(&self, file: &Path, now: SystemTime) -> io::Result<()> {
        let millis = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bin = self.folder.join(format!("{millis}-{name}"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&bin)?;
        move_to(file, &bin.join(&name))?;
        let artifacts = place::artifact_folder(file);
        if artifacts.is_dir() {
            move_to(&artifacts, &bin.join(artifacts.file_name().unwrap_or_default()))?;
        }
        let folder = file.parent().unwrap_or(Path::new("."));
        for item in fs::read_dir(folder)? {
            let path = item?.path();
            let own = path.file_name().unwrap_or_default().to_string_lossy();
            let is_lock = own == format!(".{name}.lock") || own == format!(".{name}.lock.os");
            let is_backup = own.starts_with(&format!("{name}.")) && own.ends_with(".bak");
            if is_lock || is_backup {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Deleted sessions whose time is over.
    pub(super) fn expired(&self, now: SystemTime) -> io::Result<Vec<PathBuf>> {
        let items = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            items => items?,
        };
        let mut expired = Vec::new();
        for item in items {
            let path = item?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let millis = name.split_once('-').and_then(|(millis, _)| millis.parse().ok());
            let Some(millis) = millis else { continue };
            let came = UNIX_EPOCH + Duration::from_millis(millis);
            if now.duration_since(came).is_ok_and(|age| age > KEPT) {
                expired.push(path);
            }
        }
        expired.sort();
        Ok(expired)
    }
}

/// Renames, or copies where the trash is on another device.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            if from.is_dir() { fs::remove_dir_all(from) } else { fs::remove_file(from) }
        }
        moved => moved,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for item in fs::read_dir(from)? {
        let item = item?;
        copy(&item.path(), &to.join(item.file_name()))?;
    }
    Ok(())
}
