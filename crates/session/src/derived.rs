//! Sessions made from another one: a fork has everything, an extraction has one branch.
//!
//! The original is only read. The new session appears whole or not at all, with copies of what tools left behind. Wherever it is cut,
//! no call is left without a result.

mod extraction;
mod fork;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use extraction::extract;
pub use fork::{Costs, Fork, ForkLeaf};

use crate::artifact_store;
use crate::block::ToolCall;
use crate::entry::{Entry, EntryKind, MessageEntry};
use crate::header::{Header, VERSION};
use crate::id_source::{IdSource, fresh_entry_id};
use crate::ids::EntryId;
use crate::store::{Damage, Lines, SessionStore, StoreError};
use crate::time::{Clock, Timestamp};
use crate::tree::aborted_result;

/// What a new session is given at its beginning.
#[derive(Clone, Copy)]
pub struct Birth<'a> {
    /// Its id, and those of its new entries.
    pub ids: &'a dyn IdSource,
    /// When it begins.
    pub clock: &'a dyn Clock,
    /// Its working directory; `None` takes that of the original.
    pub cwd: Option<&'a str>,
}

/// A session that was made from another one.
pub struct Derived {
    /// The new session, opened.
    pub store: Box<dyn SessionStore>,
    /// Its header.
    pub header: Header,
    /// Calls that nobody had answered where the original was cut. Each has a result now that says so.
    pub closed_calls: Vec<ToolCall>,
    /// What of the original could not be read.
    pub damage: Damage,
}

/// Why no session was made. Nothing of it is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeriveError {
    /// The original cannot be read, or the new session not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What tools left behind cannot be copied.
    #[error("cannot copy `{}`", path.display())]
    Artifacts {
        /// The folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is something where what tools left behind would go.
    #[error("`{}` exists already; nothing was written", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
}

impl Birth<'_> {
    /// The header of a session that comes from one with this header.
    fn header(&self, origin: &Header, parent: String) -> Header {
        Header {
            version: origin.version.max(Some(VERSION)),
            id: self.ids.session_id(),
            timestamp: self.now(),
            cwd: self.cwd.map(str::to_owned).or_else(|| origin.cwd.clone()),
            parent_session: Some(parent),
            previous_session_files: None,
            provider_prompt_cache_key: None,
            ..origin.clone()
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now_millis())
    }

    /// Results for calls that nobody answered.
    fn results(&self, calls: &[ToolCall]) -> Vec<EntryKind> {
        let millis = self.clock.now_millis();
        let result = |call| {
            let message = Arc::new(aborted_result(call, millis));
            EntryKind::Message(MessageEntry { message, ..MessageEntry::default() })
        };
        calls.iter().map(result).collect()
    }

    /// Entries one after another, the first after `parent`, with ids that are not in `taken`.
    fn chained(
        &self,
        kinds: Vec<EntryKind>,
        mut parent: Option<EntryId>,
        taken: impl Fn(&EntryId) -> bool,
    ) -> Vec<Entry> {
        let mut own: HashSet<EntryId> = HashSet::new();
        let mut entries = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let id = fresh_entry_id(self.ids, |id| taken(id) || own.contains(id));
            own.insert(id.clone());
            let parent_id = parent.replace(id.clone());
            entries.push(Entry { id, parent_id, timestamp: self.now(), kind });
        }
        entries
    }
}

/// Writes a new session, and what comes with it.
fn write(
    source: &dyn SessionStore,
    mut target: Box<dyn SessionStore>,
    lines: Lines<'_>,
) -> Result<Box<dyn SessionStore>, DeriveError> {
    let folder = |store: &dyn SessionStore| store.place().map(|place| place.artifact_folder());
    let folders = folder(source).zip(folder(&*target)).filter(|(from, _)| from.is_dir());
    let written = match &folders {
        Some((from, to)) => copy_artifacts(from, to),
        None => Ok(()),
    };
    let written = written.and_then(|()| {
        target.fill(lines)?;
        Ok(target.sync()?)
    });
    match (written, folders) {
        (Ok(()), _) => Ok(target),
        (Err(DeriveError::Taken { path }), _) => Err(DeriveError::Taken { path }),
        (Err(error), copied) => {
            if let Some((_, to)) = copied
                && let Err(error) = fs::remove_dir_all(&to)
            {
                // It is in nobody's way: no session has its name.
                tracing::warn!("cannot remove `{}`: {error}", to.display());
            }
            Err(error)
        }
    }
}

fn copy_artifacts(from: &Path, to: &Path) -> Result<(), DeriveError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(DeriveError::Taken { path: to.to_owned() });
    }
    artifact_store::copy_folder(from, to)
        .map_err(|source| DeriveError::Artifacts { path: from.to_owned(), source })
}
