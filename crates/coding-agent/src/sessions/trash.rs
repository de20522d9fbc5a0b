//! Where deleted sessions stay for a while: one folder each, named for when it came.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longhand_session::conversion;
use longhand_session::place::{self, SessionPlace};
use longhand_session::sqlite::SqliteLibrary;
use longhand_session::{Header, JsonlStore, SessionId, SessionStore, SqliteStore};

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

    /// Moves a session out of its database into a file here, with its artifacts, and gives the file.
    pub(super) fn take_from_database(
        &self,
        database: &Path,
        id: &SessionId,
        now: SystemTime,
    ) -> io::Result<PathBuf> {
        let mut library = SqliteLibrary::open(database)
            .map_err(io::Error::other)?
            .ok_or(io::ErrorKind::NotFound)?;
        let mut original = SqliteStore::resume(database, id.clone());
        let name = place::file_name(&original.open().map_err(io::Error::other)?.header);
        let file = self.bin(&name, now)?.join(name);
        let make = |header: &Header| -> Box<dyn SessionStore> {
            Box::new(JsonlStore::create(&file, header.clone()))
        };
        conversion::copy(&mut original, make).map_err(io::Error::other)?;
        library.delete(id).map_err(io::Error::other)?;
        let place = SessionPlace::Database { path: database.to_owned(), id: id.clone() };
        let artifacts = place.artifact_folder();
        if artifacts.is_dir() {
            move_to(&artifacts, &place::artifact_folder(&file))?;
        }
        Ok(file)
    }

    /// A folder for one session.
    fn bin(&self, name: &str, now: SystemTime) -> io::Result<PathBuf> {
        let millis = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let bin = self.folder.join(format!("{millis}-{name}"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&bin)?;
        Ok(bin)
    }

    /// Moves a session's file and artifacts here, and gives the file. Its locks and backups go.
    pub(super) fn take(&self, file: &Path, now: SystemTime) -> io::Result<PathBuf> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bin = self.bin(&name, now)?;
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
        Ok(bin.join(name))
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
