//! A session file in the making, beside the one that it will replace.
//!
//! Bytes go through one buffer, so that a session of any size is written in constant memory. A draft that is dropped leaves no file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, Token};
use super::scan::Place;

const BUFFER_BYTES: usize = 256 << 10;

/// Sessions hold what people talk about: nobody else reads them.
const PRIVATE: u32 = 0o600;

/// A file that has not its name yet.
#[derive(Debug)]
pub(crate) struct Draft {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    /// Bytes that went through, written or not.
    bytes: u64,
    has_its_name: bool,
}

impl Draft {
    /// Starts a file at `path`, with the permissions of the one that it will replace.
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        path: PathBuf,
        replaced: Option<&File>,
    ) -> io::Result<Self> {
        let mode = match replaced {
            Some(file) => file.metadata()?.permissions().mode() & 0o777,
            None => PRIVATE,
        };
        let file =
            OpenOptions::new().read(true).append(true).create_new(true).mode(mode).open(&path)?;
        Ok(Self {
            disk: Arc::clone(disk),
            path,
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            bytes: 0,
            has_its_name: false,
        })
    }

    /// Writes a line and its end, and tells where it lies.
    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<Place> {
        let place = Place { offset: self.bytes, bytes: line.len() as u64 };
        self.push(line)?;
        self.push(b"\n")?;
        Ok(place)
    }

    /// Writes text as it is.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = BUFFER_BYTES - self.buffer.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.buffer.extend_from_slice(now);
            self.bytes += now.len() as u64;
            bytes = later;
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Copies a part of another file.
    pub(crate) fn copy(&mut self, source: &File, part: Place) -> io::Result<()> {
        let mut offset = part.offset;
        while offset < part.end() {
            let start = self.buffer.len();
            let room = (BUFFER_BYTES - start) as u64;
            let now = room.min(part.end() - offset);
            self.buffer.resize(start + now as usize, 0);
            source.read_exact_at(&mut self.buffer[start..], offset)?;
            self.bytes += now;
            offset += now;
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() == BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        write_all(&*self.disk, &self.file, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Brings everything to the device, and tells what the file looks like.
    pub(crate) fn finish(&mut self) -> io::Result<Token> {
        self.flush()?;
        self.disk.sync(&self.file)?;
        Token::whole(&self.file)
    }

    /// Gives the file its name, and hands it over.
    pub(crate) fn publish(mut self, name: &Path) -> io::Result<File> {
        let file = self.file.try_clone()?;
        self.disk.rename(&self.path, name)?;
        self.has_its_name = true;
        Ok(file)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.has_its_name {
            // What is left behind is found by its name; there is nobody to tell here.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes all bytes at the end of a file.
pub(crate) fn write_all(disk: &dyn Disk, file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match disk.write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
