//! A session file that moves: to another name, to another folder, to another device, with what tools left behind beside it.
//!
//! The session keeps its id and everything in it; its header tells the new working directory and where it lay before. At no moment is
//! it without a name, and nothing is ever overwritten. A move that fails is taken back. A process that has the session open meanwhile
//! does not follow: its next write makes the file anew where it was.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Token;
use super::lock::{Held, Lock, LockError};
use super::{Disk, JsonlStore, SystemDisk, failed_to};
use crate::header::Header;
use crate::place;
use crate::store::{ChangeSet, SessionStore, StoreError};

/// A move of a session file.
#[derive(Debug, Clone)]
pub struct Relocation {
    /// Where it lies.
    pub from: PathBuf,
    /// Where it goes.
    pub to: PathBuf,
    /// Its new working directory.
    pub cwd: String,
    disk: Arc<dyn Disk>,
}

/// A session that was moved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Relocated {
    /// What tools left behind and could not come along, because something else has its name there. It is where it was.
    pub left_behind: Vec<PathBuf>,
}

impl Relocation {
    /// A move from one file to another.
    pub fn new(from: impl Into<PathBuf>, to: impl Into<PathBuf>, cwd: impl Into<String>) -> Self {
        let (from, to, cwd) = (from.into(), to.into(), cwd.into());
        Self { from, to, cwd, disk: Arc::new(SystemDisk) }
    }

    /// Moves through another disk.
    #[must_use]
    pub fn with_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Moves the session.
    ///
    /// # Errors
    /// There is no session, something is in its place, or the move failed. Everything is where it was.
    pub fn run(&self) -> Result<Relocated, StoreError> {
        // Whatever else lies there is refused before anything is moved.
        JsonlStore::resume(&self.from).open()?;
        if self.from == self.to {
            self.write_header()?;
            return Ok(Relocated::default());
        }
        let _lock = self.lock()?;
        if fs::symlink_metadata(&self.to).is_ok() {
            return Err(StoreError::Exists { path: self.to.clone() });
        }
        if let Some(folder) = self.to.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(failed_to("create", folder))?;
        }
        let mut steps = Steps::new(&*self.disk);
        let moved = self.steps(&mut steps);
        if moved.is_err() {
            steps.take_back();
        } else {
            steps.settle();
        }
        moved
    }

    fn steps(&self, steps: &mut Steps<'_>) -> Result<Relocated, StoreError> {
        steps.file(&self.from, &self.to).map_err(failed_to("move", &self.from))?;
        let mut relocated = Relocated::default();
        let folders = (place::artifact_folder(&self.from), place::artifact_folder(&self.to));
        steps
            .folder(&folders.0, &folders.1, &mut relocated.left_behind)
            .map_err(failed_to("move", &folders.0))?;
        self.write_header()?;
        Ok(relocated)
    }

    fn write_header(&self) -> Result<(), StoreError> {
        let mut store = JsonlStore::resume(&self.to).with_disk(Arc::clone(&self.disk));
        let header = self.moved_header(store.open()?.header);
        store.rewrite(&ChangeSet { header: Some(header), ..ChangeSet::default() }).map(drop)
    }

    fn moved_header(&self, mut header: Header) -> Header {
        let old = std::path::absolute(&self.from).unwrap_or_else(|_| self.from.clone());
        let old = old.display().to_string();
        let mut previous = header.previous_session_files.take().unwrap_or_default();
        if self.from != self.to && !previous.contains(&old) {
            previous.push(old);
        }
        header.previous_session_files = Some(previous).filter(|files| !files.is_empty());
        let mut further = header.additional_directories.take().unwrap_or_default();
        further.retain(|other| *other != self.cwd);
        header.additional_directories = Some(further).filter(|others| !others.is_empty());
        header.cwd = Some(self.cwd.clone());
        header
    }

    /// Nobody appends to a file that is about to have another name.
    fn lock(&self) -> Result<Held, StoreError> {
        Lock::of(&self.from).acquire().map_err(|error| match error {
            LockError::Held => StoreError::Locked { path: self.from.clone() },
            LockError::Io(source) => failed_to("lock", &self.from)(source),
        })
    }
}

/// What has been moved so far, so that it can be taken back.
struct Steps<'a> {
    disk: &'a dyn Disk,
    done: Vec<Step>,
}

enum Step {
    /// Has another name now.
    Renamed { from: PathBuf, to: PathBuf },
    /// Is there twice, on two devices.
    Copied { from: PathBuf, to: PathBuf },
    /// Was not there.
    Made(PathBuf),
    /// Has nothing in it any more, unless something was left behind.
    Emptied(PathBuf),
}

impl<'a> Steps<'a> {
    fn new(disk: &'a dyn Disk) -> Self {
        Self { disk, done: Vec::new() }
    }

    /// Moves a file or a folder whose new name is free.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.done.push(Step::Renamed { from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        match self.rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy_file(self.disk, from, to)?;
                self.done.push(Step::Copied { from: from.to_owned(), to: to.to_owned() });
                Ok(())
            }
            renamed => renamed,
        }
    }

    /// Moves a folder, or what is in it where there is a folder of that name already. What has a name that is taken stays.
    fn folder(&mut self, from: &Path, to: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
        if !from.is_dir() {
            return Ok(());
        }
        if fs::symlink_metadata(to).is_err() {
            match self.rename(from, to) {
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    DirBuilder::new().mode(0o700).create(to)?;
                    self.done.push(Step::Made(to.to_owned()));
                }
                renamed => return renamed,
            }
        }
        let mut numbers = numbers_in(to)?;
        for item in fs::read_dir(from)? {
            let item = item?;
            let (path, target) = (item.path(), to.join(item.file_name()));
            let number = number_of(&path);
            let is_taken = fs::symlink_metadata(&target).is_ok()
                || number.is_some_and(|number| numbers.contains(&number));
            if is_taken {
                left.push(path);
            } else if item.file_type()?.is_dir() {
                self.folder(&path, &target, left)?;
            } else {
                self.file(&path, &target)?;
                numbers.extend(number);
            }
        }
        self.done.push(Step::Emptied(from.to_owned()));
        Ok(())
    }

    /// Everything back to where it was, as far as it goes. The last step first.
    fn take_back(self) {
        for step in self.done.into_iter().rev() {
            let (taken_back, path) = match &step {
                Step::Renamed { from, to } => (self.disk.rename(to, from), to),
                Step::Copied { to, .. } => (fs::remove_file(to), to),
                Step::Made(folder) => (fs::remove_dir(folder), folder),
                Step::Emptied(folder) => (Ok(()), folder),
            };
            if let Err(error) = taken_back {
                tracing::error!("cannot move `{}` back: {error}", path.display());
            }
        }
    }

    /// The move holds: originals of copies go, and names reach the device.
    fn settle(self) {
        let mut folders = Vec::new();
        for step in self.done {
            match step {
                Step::Renamed { from, to } => folders.extend([from, to]),
                Step::Copied { from, to } => {
                    if let Err(error) = fs::remove_file(&from) {
                        tracing::warn!(
                            "cannot remove what was moved, `{}`: {error}",
                            from.display()
                        );
                    }
                    folders.push(to);
                }
                // One that is not empty stays.
                Step::Emptied(folder) => drop(fs::remove_dir(folder)),
                Step::Made(_) => {}
            }
        }
        let mut folders: Vec<&Path> = folders.iter().filter_map(|path| path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        for folder in folders.into_iter().filter(|folder| folder.exists()) {
            if let Err(error) = File::open(folder).and_then(|open| self.disk.sync(&open)) {
                tracing::warn!("cannot sync `{}`: {error}", folder.display());
            }
        }
    }
}

/// Copies a file to another device. It gets its name when it is whole and safe, and only if nothing has that name.
fn copy_file(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let draft = to.with_file_name(format!(".{name}.moving"));
    let copied = copy_into(disk, from, &draft).and_then(|()| disk.keep(&draft, to));
    // The draft has its own name besides.
    let removed = fs::remove_file(&draft);
    copied?;
    removed
}

fn copy_into(disk: &dyn Disk, from: &Path, draft: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let before = Token::at(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let mut options = fs::OpenOptions::new();
    let mut target = options.write(true).create(true).truncate(true).mode(mode).open(draft)?;
    let bytes = io::copy(&mut &source, &mut target)?;
    disk.sync(&target)?;
    let is_whole = before.is_some_and(|before| before.identity.bytes == bytes);
    if is_whole && Token::at(from)? == before {
        Ok(())
    } else {
        Err(io::Error::other("it was written meanwhile"))
    }
}

/// The numbers of the artifacts in a folder: none of them is given twice, whatever the rest of the name.
fn numbers_in(folder: &Path) -> io::Result<Vec<u64>> {
    let names = fs::read_dir(folder)?.map(|item| item.map(|item| number_of(&item.path())));
    Ok(names.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.split_once('.')?.0.parse().ok()
}
