//! The store of a session, from the place where it lies.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use longhand_session::artifact_store::FolderArtifacts;
use longhand_session::blob_store::BlobStore;
use longhand_session::id_source::IdSource;
use longhand_session::jsonl::JsonlStore;
use longhand_session::persisted::Persistence;
use longhand_session::place::SessionPlace;
use longhand_session::sqlite::{SqliteLibrary, SqliteStore};
use longhand_session::time::Clock;
use longhand_session::{Header, SessionStore, StoreError};

/// Where stores take ids and time from.
#[derive(Clone)]
pub struct StoreSources {
    /// Ids of entries that have none.
    pub ids: Arc<dyn IdSource>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Where pictures are kept for all sessions; without it they stay in their lines.
    pub blobs: Option<Arc<dyn BlobStore>>,
}

impl StoreSources {
    /// The store of a session that exists. Nothing is read before it is opened.
    pub fn resume(&self, place: &SessionPlace) -> Box<dyn SessionStore> {
        let (ids, clock) = (self.ids.clone(), self.clock.clone());
        match place {
            SessionPlace::File(path) => Box::new(
                JsonlStore::resume(path)
                    .with_sources(ids, clock)
                    .with_persistence(self.persistence(place)),
            ),
            SessionPlace::Database { path, id } => Box::new(
                SqliteStore::resume(path, id.clone())
                    .with_sources(ids, clock)
                    .with_persistence(self.persistence(place)),
            ),
        }
    }

    /// The store of a session that does not exist yet. It appears with its first entry. In a database it lies under the id of its
    /// header.
    pub fn create(&self, place: &SessionPlace, header: Header) -> Box<dyn SessionStore> {
        let (ids, clock) = (self.ids.clone(), self.clock.clone());
        match place {
            SessionPlace::File(path) => {
                let store = JsonlStore::create(path, header).with_sources(ids, clock);
                Box::new(store.with_persistence(self.persistence(place)))
            }
            SessionPlace::Database { path, .. } => {
                let store = SqliteStore::create(path, header).with_sources(ids, clock);
                Box::new(store.with_persistence(self.persistence(place)))
            }
        }
    }
}

impl StoreSources {
    /// Where the large parts of entries go.
    fn persistence(&self, place: &SessionPlace) -> Persistence {
        let texts = FolderArtifacts::at(place.artifact_folder());
        Persistence { blobs: self.blobs.clone(), texts: Some(Arc::new(texts)) }
    }
}

/// Whether there is a session at a place.
pub fn exists(place: &SessionPlace) -> bool {
    match place {
        SessionPlace::File(path) => path.exists(),
        SessionPlace::Database { .. } => facts(place).is_ok_and(|facts| facts.is_some()),
    }
}

/// What is known of a stored session without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// Length and age of a session; `None` where there is none.
pub(crate) fn facts(place: &SessionPlace) -> Result<Option<Facts>, StoreError> {
    match place {
        SessionPlace::File(path) => Ok(of_file(path)),
        SessionPlace::Database { path, id } => {
            let Some(library) = SqliteLibrary::open(path)? else { return Ok(None) };
            Ok(library
                .find(id)?
                .map(|row| Facts { bytes: row.bytes, modified: Some(row.modified) }))
        }
    }
}

fn of_file(path: &Path) -> Option<Facts> {
    let metadata = path.metadata().ok()?;
    Some(Facts { bytes: metadata.len(), modified: metadata.modified().ok() })
}

/// Says when a session was last written.
pub(crate) fn set_modified(place: &SessionPlace, time: SystemTime) -> Result<(), StoreError> {
    match place {
        SessionPlace::File(path) => {
            let set = File::options().write(true).open(path).and_then(|f| f.set_modified(time));
            let path = path.clone();
            set.map_err(|source| StoreError::Io { action: "set the time of", path, source })
        }
        SessionPlace::Database { path, id } => match SqliteLibrary::open(path)? {
            Some(mut library) => library.set_modified(id, time),
            None => Err(StoreError::Missing { path: path.clone() }),
        },
    }
}
