//! A disk that fails now and then: it writes half, is full, does not rename, does not sync.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fastrand::Rng;
use longhand_session::jsonl::{Disk, SystemDisk};

/// The machine's disk with failures by chance.
#[derive(Debug)]
pub(crate) struct FaultyDisk {
    rng: Mutex<Rng>,
    /// How many operations of a thousand fail.
    per_thousand: u32,
}

impl FaultyDisk {
    pub(crate) fn new(seed: u64, per_thousand: u32) -> Self {
        Self { rng: Mutex::new(Rng::with_seed(seed)), per_thousand }
    }

    /// A number where this operation fails.
    fn fault(&self) -> Option<usize> {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        (rng.u32(..1_000) < self.per_thousand).then(|| rng.usize(..))
    }

    fn or_fail(&self, code: i32) -> io::Result<()> {
        match self.fault() {
            Some(_) => Err(io::Error::from_raw_os_error(code)),
            None => Ok(()),
        }
    }
}

/// No space left on device, and input/output error, on every system that has these numbers.
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

impl Disk for FaultyDisk {
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        match self.fault() {
            Some(chance) if chance % 2 == 0 && bytes.len() > 1 => {
                SystemDisk.write(file, &bytes[..=chance / 2 % (bytes.len() - 1)])
            }
            Some(_) => Err(io::Error::from_raw_os_error(ENOSPC)),
            None => SystemDisk.write(file, bytes),
        }
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.or_fail(EIO)?;
        SystemDisk.write_at(file, bytes, offset)
    }

    fn truncate(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.or_fail(EIO)?;
        SystemDisk.truncate(file, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.or_fail(EIO)?;
        SystemDisk.sync(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.or_fail(EIO)?;
        SystemDisk.rename(from, to)
    }

    fn keep(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.or_fail(ENOSPC)?;
        SystemDisk.keep(file, name)
    }
}
