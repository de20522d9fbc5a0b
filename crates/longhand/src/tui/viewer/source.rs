//! Finds the archive that is to be looked at, without reading more of the session than it must.

use std::sync::Arc;

use longhand_agent::SessionHandle;
use longhand_coding_agent::SessionFile;
use longhand_coding_agent::stores::StoreSources;
use longhand_session::archive;
use longhand_session::blob_store::BlobStore;
use longhand_session::place::SessionPlace;
use longhand_session::store::EntryTag;
use longhand_session::time::SystemClock;
use longhand_session::{Entry, SequentialIds};

/// Which archive is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    /// The newest of the branch.
    Newest,
    /// That of the compaction of this id, or the only one whose id begins so.
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

/// The compaction that is wanted. The newest is at hand; another one costs reading the index of the session, and those that are younger.
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
    if let Some(entry) = newest.filter(|entry| is_wanted(entry, which)) {
        return Ok(entry.clone());
    }
    let Some(place) = &shelf.place else {
        return Err("no frames are at hand; a session in memory keeps only its newest".into());
    };
    if newest.is_none() && *which == Which::Newest {
        return Err("this branch was not compacted yet; there are no frames".into());
    }
    let sources = StoreSources {
        ids: Arc::<SequentialIds>::default(),
        clock: Arc::new(SystemClock),
        blobs: Some(shelf.blobs.clone()),
    };
    let unreadable = |error| format!("the session cannot be read: {error}");
    let file = SessionFile::open(sources.resume(place)).map_err(unreadable)?;
    let mut rows = match which {
        Which::Newest => file.path(branch.leaf.as_ref()).map_err(unreadable)?,
        Which::Named(_) | Which::At(_) => file.rows.clone(),
    };
    rows.retain(|row| row.tag == EntryTag::Compaction);
    if let Which::Named(name) = which {
        rows.retain(|row| row.id.as_str().starts_with(name.as_str()));
        if let [first, second, ..] = rows.as_slice() {
            return Err(format!("`{name}` may be {} or {}", first.id, second.id));
        }
    }
    for row in rows.iter().rev() {
        let read = file.read_once(std::slice::from_ref(row)).map_err(unreadable)?;
        let is_it = |entry: &Arc<Entry>| match which {
            // The only one that is left.
            Which::Named(_) => true,
            Which::Newest | Which::At(_) => is_wanted(entry, which),
        };
        if let Some(entry) = read.into_iter().find(is_it) {
            return Ok(entry);
        }
    }
    Err(match which {
        Which::Newest => "no compaction of this branch made frames".into(),
        Which::Named(name) => format!("no compaction is called `{name}`"),
        Which::At(_) => "that compaction is not in the session".into(),
    })
}

fn is_wanted(entry: &Entry, which: &Which) -> bool {
    match which {
        Which::Newest => has_archive(entry),
        Which::Named(name) => entry.id.as_str() == name,
        Which::At(at_millis) => entry.timestamp.millis() == Some(*at_millis),
    }
}

fn has_archive(entry: &Entry) -> bool {
    let kept = entry.compaction().and_then(|compaction| compaction.preserve_data.as_ref());
    kept.is_some_and(|data| data.get(archive::SLOT).is_some())
}
