//! Sessions brought from files into the database, or back: copied, compared with their originals, and what tools left behind with
//! them. The original goes to the trash only where that is asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhand_session::artifact_store;
use longhand_session::conversion::{self, Copied, CopyError};
use longhand_session::place::SessionPlace;
use longhand_session::{Header, SessionId, StoreError};

use crate::agent::CodingAgent;
use crate::settings::StoreKind;
use crate::stores;

/// What becomes of an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Original {
    /// It stays as it is.
    Stays,
    /// It goes to the trash, once the copy is known to be the same.
    GoesToTrash,
}

/// A session that was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// Its id.
    pub id: SessionId,
    /// Where it was.
    pub from: SessionPlace,
    /// Where it is.
    pub to: SessionPlace,
    /// What was copied.
    pub copied: Copied,
    /// The file in the trash that holds the original; `None` where it stayed.
    pub trash: Option<PathBuf>,
}

/// Why a session was not converted. The original is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It is kept that way already.
    #[error("`{0}` is kept that way already")]
    AlreadyThere(SessionPlace),
    /// The session cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// What tools left behind cannot be copied. The copy of the session is there.
    #[error("cannot copy `{}`", path.display())]
    Artifacts {
        /// The folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The original cannot be moved to the trash. The copy is there.
    #[error("the session was copied, but its original `{original}` stays")]
    Trash {
        /// Where it lies.
        original: SessionPlace,
        /// Why it stays.
        #[source]
        source: io::Error,
    },
}

impl CodingAgent {
    /// Brings a session into the other kind of store.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn convert(
        &self,
        from: &SessionPlace,
        to: StoreKind,
        original: Original,
    ) -> Result<Converted, ConvertError> {
        if kind_of(from) == to {
            return Err(ConvertError::AlreadyThere(from.clone()));
        }
        let sources = self.store_sources();
        let (mut id, mut target) = (SessionId::default(), from.clone());
        let make = |header: &Header| {
            let cwd = header.cwd.as_deref().map(Path::new);
            id = header.id.clone();
            target = self.sessions().new_place(to, cwd.unwrap_or(self.directory()), header);
            sources.create(&target, header.clone())
        };
        let (_, copied) = conversion::copy(&mut *sources.resume(from), make)?;
        let folder = from.artifact_folder();
        artifact_store::copy_folder(&folder, &target.artifact_folder())
            .map_err(|source| ConvertError::Artifacts { path: folder, source })?;
        if let Err(error) = keep_time(from, &target) {
            // The copy is sound; in lists it stands where it was made.
            tracing::warn!("`{target}` does not keep the time of its original: {error}");
        }
        let trash = match original {
            Original::Stays => None,
            Original::GoesToTrash => {
                let failed = |source| ConvertError::Trash { original: from.clone(), source };
                Some(self.sessions().delete(from).map_err(failed)?)
            }
        };
        Ok(Converted { id, from: from.clone(), to: target, copied, trash })
    }
}

/// What a session is kept in.
pub fn kind_of(place: &SessionPlace) -> StoreKind {
    match place {
        SessionPlace::File(_) => StoreKind::Jsonl,
        SessionPlace::Database { .. } => StoreKind::Sqlite,
    }
}

/// What a copy is younger than its original: of the two, it is the one to go on with.
const YOUNGER: Duration = Duration::from_millis(1);

/// A copy was last written when its original was, so that lists keep their order.
fn keep_time(original: &SessionPlace, copy: &SessionPlace) -> Result<(), StoreError> {
    match stores::facts(original)?.and_then(|facts| facts.modified) {
        Some(time) => stores::set_modified(copy, time + YOUNGER),
        None => Ok(()),
    }
}
