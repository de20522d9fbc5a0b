//! Finds the archive that is to be looked at, without reading more of the session than it must.

use std::sync::Arc;

use longhand_agent::SessionHandle;
use longhand_coding_agent::SessionFile;
use longhand_coding_agent::stores::StoreSources;
use longhand_session::blob_store::BlobStore;
use longhand_session::place::SessionPlace;
use longhand_session::store::{EntryTag, IndexRow};
use longhand_session::time::SystemClock;
use longhand_session::{Entry, SequentialIds};

/// Which archive is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    /// That of the newest compaction.
    Newest,
    /// That of the compaction whose id begins so.
    Named(String),
    /// That of a compaction of this moment, in milliseconds since the epoch.
    At(i64),
}

/// Where archives lie.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    /// Where the session lies; `None` in memory.
    pub(crate) place: Option<SessionPlace>,
    /// Where pictures lie.
    pub(crate) blobs: Arc<dyn BlobStore>,
}

/// The compaction that is wanted. The newest is at hand; another one costs reading the index of the session.
///
/// # Errors
/// There is none such, or it cannot be read, in words for the user.
pub(crate) fn find(
    session: &SessionHandle,
    shelf: &Shelf,
    which: &Which,
) -> Result<Arc<Entry>, String> {
    let branch = session.snapshot();
    let newest = branch.latest_compaction();
    match newest {
        Some(entry) if is_wanted(entry, which) => return Ok(entry.clone()),
        None if *which == Which::Newest => {
            return Err("this branch was not compacted yet; there are no frames".into());
        }
        _ => {}
    }
    let Some(place) = &shelf.place else {
        return Err("a session in memory keeps only its newest frames within reach".into());
    };
    let sources = StoreSources {
        ids: Arc::<SequentialIds>::default(),
        clock: Arc::new(SystemClock),
        blobs: Some(shelf.blobs.clone()),
    };
    let unreadable = |error| format!("the session cannot be read: {error}");
    let file = SessionFile::open(sources.resume(place)).map_err(unreadable)?;
    let mut rows: Vec<&IndexRow> =
        file.rows.iter().filter(|row| row.tag == EntryTag::Compaction).collect();
    if let Which::Named(name) = which {
        rows.retain(|row| row.id.as_str().starts_with(name.as_str()));
        if let [first, second, ..] = rows.as_slice() {
            return Err(format!("`{name}` may be {} or {}", first.id, second.id));
        }
    }
    for row in rows.into_iter().rev() {
        let read = file.read_once(std::slice::from_ref(row)).map_err(unreadable)?;
        if let Some(entry) = read.into_iter().find(|entry| is_wanted(entry, which)) {
            return Ok(entry);
        }
    }
    Err(match which {
        Which::Named(name) => format!("no compaction is called `{name}`"),
        Which::Newest | Which::At(_) => "that compaction is not in the session".into(),
    })
}

fn is_wanted(entry: &Entry, which: &Which) -> bool {
    match which {
        Which::Newest => true,
        Which::Named(name) => entry.id.as_str().starts_with(name.as_str()),
        Which::At(at_millis) => entry.timestamp.millis() == Some(*at_millis),
    }
}
