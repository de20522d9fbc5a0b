//! Sessions made from others: forks, branches that go their own way, sessions that move to another folder.
//!
//! A session that is open is written first, and copied as it is then; it goes on untouched.

use std::path::{Path, PathBuf};

use longhand_agent::command::UserInput;
use longhand_agent::edit::EditError;
use longhand_session::derived::{Birth, DeriveError, Derived, Fork, ForkLeaf, extract};
use longhand_session::jsonl::Relocation;
use longhand_session::lookup::LookupError;
use longhand_session::place::{self, SessionPlace};
use longhand_session::store::ChangeSet;
use longhand_session::tree::{Landing, landing};
use longhand_session::{EntryId, Header, SessionStore, StoreError, Tree};

use super::{CodingAgent, Opened};
use crate::stores;

/// A new session that came from another one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCopy {
    /// Where it lies.
    pub place: SessionPlace,
    /// What returns to the editor; `None` where nothing does.
    pub editor: Option<UserInput>,
    /// How many calls were cut off, and have a result now that says so.
    pub closed_calls: usize,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopySessionError {
    /// There is no such session.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// It could not be copied.
    #[error(transparent)]
    Derive(#[from] DeriveError),
    /// It is kept nowhere.
    #[error("the session is kept in memory only")]
    InMemory,
    /// Nobody has said anything in it.
    #[error("there is nothing in the session yet")]
    Empty,
    /// The user said nothing before what the copy would end at.
    #[error("there is nothing before that message")]
    NothingBefore,
    /// It could not be written before.
    #[error("the session could not be written")]
    Unwritten(#[from] EditError),
}

impl From<StoreError> for CopySessionError {
    fn from(error: StoreError) -> Self {
        Self::Derive(error.into())
    }
}

/// Why a session was not moved. It is where it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveSessionError {
    /// The folder does not exist, or is none.
    #[error("cannot work in `{}`", path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// It could not be moved.
    #[error("cannot move the session")]
    Store(#[from] StoreError),
}

impl CodingAgent {
    /// Copies the session that a user means, all branches of it, into a new one of this directory.
    ///
    /// # Errors
    /// There is no such session, or it cannot be copied. There is no new session.
    pub fn fork(&self, wanted: &str) -> Result<SessionCopy, CopySessionError> {
        let origin = self.sessions().find(wanted, self.directory())?;
        self.fork_of(&origin, ForkLeaf::OfStore, self.directory())
    }

    /// Copies a session that is open, as it is now, into a new one: all branches of it, or the branch up to an entry. At what the
    /// user said the copy ends before it, and its words come back.
    ///
    /// # Errors
    /// The session is kept nowhere, or it cannot be written or copied. There is no new session.
    pub async fn fork_opened(
        &self,
        opened: &Opened,
        up_to: Option<&EntryId>,
    ) -> Result<SessionCopy, CopySessionError> {
        let origin = opened.place.as_ref().ok_or(CopySessionError::InMemory)?;
        let leaf = opened.session.settle().await?;
        if !stores::exists(origin) {
            return Err(CopySessionError::Empty);
        }
        if let Some(entry) = up_to {
            return self.branch_of(origin, entry, &opened.directory);
        }
        let leaf = leaf.map_or(ForkLeaf::BeforeFirst, ForkLeaf::At);
        self.fork_of(origin, leaf, &opened.directory)
    }

    /// Moves a session that nobody has open to another working directory.
    ///
    /// # Errors
    /// The folder cannot be entered, or the session cannot be moved. It is where it was.
    pub fn move_session(
        &self,
        session: &SessionPlace,
        directory: &Path,
    ) -> Result<SessionPlace, MoveSessionError> {
        if !can_be_entered(directory) {
            return Err(MoveSessionError::Directory { path: directory.to_owned() });
        }
        let directory = place::canonical(directory);
        let cwd = directory.display().to_string();
        match session {
            SessionPlace::File(from) => {
                let folder = self.sessions().folder(&directory);
                let to = folder.join(from.file_name().unwrap_or_default());
                let moved = Relocation::new(from, &to, cwd).run()?;
                for path in moved.left_behind {
                    tracing::warn!("stayed where it was: `{}`", path.display());
                }
                Ok(SessionPlace::File(to))
            }
            SessionPlace::Database { .. } => {
                let mut store = self.store_sources().resume(session);
                let header = Header { cwd: Some(cwd), ..store.open()?.header };
                store.rewrite(&ChangeSet { header: Some(header), ..ChangeSet::default() })?;
                Ok(session.clone())
            }
        }
    }

    pub(super) fn fork_of(
        &self,
        origin: &SessionPlace,
        leaf: ForkLeaf,
        directory: &Path,
    ) -> Result<SessionCopy, CopySessionError> {
        let mut source = self.store_sources().resume(origin);
        let fork = Fork { leaf, ..Fork::default() };
        self.copied(directory, None, |birth, make| fork.of(&mut *source, birth, make))
    }

    fn branch_of(
        &self,
        origin: &SessionPlace,
        entry: &EntryId,
        directory: &Path,
    ) -> Result<SessionCopy, CopySessionError> {
        let mut source = self.store_sources().resume(origin);
        let tree = Tree::new(source.open()?.rows);
        let entry = source.read(std::slice::from_ref(entry))?.pop();
        let landing = entry.map(|entry| landing(&tree, &entry)).unwrap_or_default();
        let Landing { leaf: Some(leaf), returned } = landing else {
            return Err(CopySessionError::NothingBefore);
        };
        let editor = returned.map(|said| UserInput { text: said.text, images: said.images });
        self.copied(directory, editor, |birth, make| extract(&mut *source, &leaf, birth, make))
    }

    fn copied(
        &self,
        directory: &Path,
        editor: Option<UserInput>,
        derive: impl FnOnce(Birth<'_>, Make<'_>) -> Result<Derived, DeriveError>,
    ) -> Result<SessionCopy, CopySessionError> {
        let cwd = place::canonical(directory).display().to_string();
        let birth =
            Birth { ids: &*self.setup.ids, clock: &*self.setup.clock, cwd: Some(cwd.as_str()) };
        let kind = self.settings().sessions.store;
        let make = |header: &Header| {
            let place = self.sessions().new_place(kind, directory, header);
            self.store_sources().create(&place, header.clone())
        };
        let derived = derive(birth, Box::new(make))?;
        Ok(SessionCopy {
            place: derived.store.place().ok_or(CopySessionError::InMemory)?,
            editor,
            closed_calls: derived.closed_calls.len(),
        })
    }
}

/// Makes the store of a new session.
type Make<'a> = Box<dyn FnOnce(&Header) -> Box<dyn SessionStore> + 'a>;

/// Whether a process may work in a folder: looking through it needs the right to enter it.
pub(super) fn can_be_entered(folder: &Path) -> bool {
    folder.join(".").is_dir()
}
