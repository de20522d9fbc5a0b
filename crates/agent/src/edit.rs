//! Changes that the user makes to a session besides talking: moves in its tree, names, a fresh start.
//!
//! Plain data. All of it goes through the owner; what it does stands at the methods of [`crate::SessionHandle`].

use std::sync::Arc;

use longhand_session::tree::UnknownEntry;
use longhand_session::{Entry, EntryId, Json, StoreError};

use crate::command::UserInput;

/// A move to another entry of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Navigation {
    /// The entry to go to. At what the user said the leaf goes before it, and its words return to the editor.
    pub target: EntryId,
    /// What the model is told of the branch that is left; `None` tells it nothing.
    pub summary: Option<LeftBranch>,
}

impl Navigation {
    /// A move that leaves the branch without a word.
    pub fn to(target: EntryId) -> Self {
        Self { target, summary: None }
    }
}

/// What is told of a branch that is left.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeftBranch {
    /// The summary. An empty one is none.
    pub summary: String,
    /// Facts about it, such as `readFiles` and `modifiedFiles`: an object.
    pub details: Option<Json>,
    /// Whether an extension supplied it.
    pub from_extension: bool,
}

/// Where a move ended.
#[derive(Debug, Clone, Default)]
pub struct Navigated {
    /// The leaf; `None` before the first entry.
    pub leaf: Option<EntryId>,
    /// What returns to the editor; `None` where nothing does.
    pub editor: Option<UserInput>,
    /// The summary of the branch that was left.
    pub summary: Option<Arc<Entry>>,
}

/// Why such a change was not made. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// A turn or a pass has the session; it can be stopped first.
    #[error("the agent is busy")]
    Busy,
    /// There is no such entry.
    #[error(transparent)]
    Unknown(#[from] UnknownEntry),
    /// The entry follows another one, or there is nothing before it that it could follow.
    #[error("there is no gap before entry `{0}`")]
    NoGap(EntryId),
    /// Nothing of the title is left without control characters and spaces.
    #[error("the title is empty")]
    EmptyTitle,
    /// An automatic title never takes the place of the user's.
    #[error("the user gave the session its title")]
    TitleOfTheUser,
    /// The session has ended.
    #[error("the session is closed")]
    Closed,
    /// The store refused.
    #[error("the change could not be written")]
    Store(#[from] Arc<StoreError>),
}
