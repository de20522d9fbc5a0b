//! Writes to standard output. A closed pipe is a success: whoever reads has read enough.

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::exit::Exit;

/// Writes text.
///
/// # Errors
/// Standard output cannot be written for another reason than a closed pipe.
pub(crate) fn write(text: &str) -> Result<Exit> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(Exit::Success),
    }
}
