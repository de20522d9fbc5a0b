//! The lock under which a session file is written: one process at a time, and nobody waits for a dead one.
//!
//! Two files beside the session. `.NAME.lock` holds the process id and the time of its owner, for every program that knows the format.
//! `.NAME.lock.os` is locked by the operating system, which frees it whatever happens to the process; it is never removed, because two
//! processes could then hold locks on two files of one name. Reading needs neither.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

use crate::time::{Clock as _, SystemClock};

/// How long a writer waits for another. Part of the format: other programs give up after it too.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

const POLL: Duration = Duration::from_millis(2);

/// Age at which a lock with a living owner is left over, while the lock of the operating system is ours: an owner that had
/// only made its file would have given up waiting for us by then. The process id belongs to somebody else now.
const LEFT_OVER_MILLIS: i64 = 1_000;

/// Where the lock of a session lies.
#[derive(Debug)]
pub(super) struct Lock {
    owner_file: PathBuf,
    system_file: PathBuf,
    /// Kept open: opening it costs as much as an append.
    of_system: Option<Arc<File>>,
}

/// Why a lock was not had.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another process has it.
    Held,
    /// The lock cannot be made.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The right to write. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    owner_file: PathBuf,
    system_lock: Arc<File>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // A lock that stays names this process, and is removed when that has ended.
        let _ = fs::remove_file(&self.owner_file);
        let _ = self.system_lock.unlock();
    }
}

impl Lock {
    /// The lock of a session file.
    pub(super) fn of(session: &Path) -> Self {
        let name = session.file_name().unwrap_or_default().to_string_lossy();
        Self {
            owner_file: session.with_file_name(format!(".{name}.lock")),
            system_file: session.with_file_name(format!(".{name}.lock.os")),
            of_system: None,
        }
    }

    /// Waits for the right to write, for half a second at most.
    pub(super) fn acquire(&mut self) -> Result<Held, LockError> {
        let deadline = Instant::now() + LONGEST_WAIT;
        let system_lock = self.system_lock()?;
        poll(deadline, || match system_lock.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            // Some network file systems have no locks; the other file has to do.
            Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(true)
            }
            Err(fs::TryLockError::Error(error)) => Err(error),
        })?;
        let owned = poll(deadline, || self.try_own());
        if let Err(error) = owned {
            let _ = system_lock.unlock();
            return Err(error);
        }
        Ok(Held { owner_file: self.owner_file.clone(), system_lock })
    }

    fn system_lock(&mut self) -> io::Result<Arc<File>> {
        if let Some(file) = &self.of_system {
            return Ok(Arc::clone(file));
        }
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false).mode(0o600);
        let file = Arc::new(options.open(&self.system_file)?);
        self.of_system = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Makes the owner's file. `false` while another process has it.
    fn try_own(&self) -> io::Result<bool> {
        let content = format!("{}:{}\n", std::process::id(), SystemClock.now_millis());
        let mut options = OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(&self.owner_file) {
            Ok(mut file) => {
                let written = file
                    .write_all(content.as_bytes())
                    .and_then(|()| fs::read(&self.owner_file))
                    .map(|found| found == content.as_bytes());
                if written.is_err() {
                    let _ = fs::remove_file(&self.owner_file);
                }
                written
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.remove_left_over()?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn remove_left_over(&self) -> io::Result<()> {
        let Some(found) = content(&self.owner_file)? else { return Ok(()) };
        let is_left_over = match owner(&found) {
            Some((pid, since)) => {
                !is_alive(pid) || SystemClock.now_millis().saturating_sub(since) > LEFT_OVER_MILLIS
            }
            None => age(&self.owner_file)?.is_some_and(|age| age > LONGEST_WAIT),
        };
        if is_left_over && content(&self.owner_file)? == Some(found) {
            match fs::remove_file(&self.owner_file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Asks until the answer is yes.
fn poll(deadline: Instant, mut ask: impl FnMut() -> io::Result<bool>) -> Result<(), LockError> {
    while !ask()? {
        if Instant::now() >= deadline {
            return Err(LockError::Held);
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// What a file holds; `None` where it is gone.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// How long ago a file was written; `None` where it is gone, or from the future.
fn age(path: &Path) -> io::Result<Option<Duration>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.modified()?.elapsed().ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Process id and time, in milliseconds since 1970, of the owner of a lock.
fn owner(content: &[u8]) -> Option<(Pid, i64)> {
    let (pid, since) = std::str::from_utf8(content).ok()?.trim_end().split_once(':')?;
    Some((Pid::from_raw(pid.parse().ok()?)?, since.parse().ok()?))
}

/// This process counts as gone: it would not wait for itself, since it has the lock of the operating system.
fn is_alive(pid: Pid) -> bool {
    pid.as_raw_nonzero().get().unsigned_abs() != std::process::id()
        && test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
