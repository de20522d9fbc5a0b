//! Puts new content in the place of a file, whole or not at all.
//!
//! The bytes go to a scratch file beside it that is renamed over it, so that a reader never sees half of them. Mode and, where the
//! system allows it, owner stay. Expects a path without links: a link is written through by resolving it first.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// Whether the file may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Executable {
    AsBefore,
    Yes,
}

/// Writes `content` to the file, which need not exist; its folder must.
pub(crate) fn replace_file(real: &Path, content: &[u8], executable: Executable) -> io::Result<()> {
    let before = match fs::metadata(real) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = real.parent().unwrap_or(Path::new("/"));
    let mut scratch = tempfile::Builder::new();
    // The process's mask applies to the mode of a new file, as it would without the scratch file.
    let new_mode = match executable {
        Executable::AsBefore => 0o666,
        Executable::Yes => 0o777,
    };
    let mut scratch = scratch
        .prefix(".longhand-")
        .permissions(Permissions::from_mode(new_mode))
        .tempfile_in(folder)?;
    scratch.write_all(content)?;
    if let Some(before) = before {
        let is_ours = scratch.as_file().metadata()?.uid() == before.uid();
        if !is_ours {
            // Only the superuser may give files away; for others the file becomes the writer's.
            let _ = chown(scratch.path(), Some(before.uid()), Some(before.gid()));
        }
        scratch.as_file().set_permissions(before.permissions())?;
    }
    scratch.persist(real).map_err(|error| error.error)?;
    Ok(())
}
