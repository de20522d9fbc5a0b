//! What is asked for when a session is opened: plain data.

use std::path::PathBuf;

use longhand_agent::Asking;
use longhand_agent::compaction::Thinking;
use longhand_session::breadcrumbs::TerminalId;
use longhand_session::place::SessionPlace;

/// Which session is opened, and how.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// Which session.
    pub session: SessionChoice,
    /// The terminal that somebody sits at. What is opened there is what [`SessionChoice::Continue`] goes on with there next. `None`
    /// where nobody watches: such a run leaves no trace, and follows none.
    pub terminal: Option<TerminalId>,
    /// Model of the conversation; `None` goes on with that of the session, or of the settings.
    pub model: Option<String>,
    /// How hard to think; [`Thinking::Inherit`] goes on as the session did.
    pub thinking: Thinking,
    /// Whether somebody can be asked about calls.
    pub asking: Asking,
    /// Which tools the model has.
    pub tools: ToolSelection,
    /// Further folders of the workspace.
    pub further_roots: Vec<PathBuf>,
    /// Whether standing instructions are read.
    pub context_files: ContextFilesUse,
    /// Text or file that takes the place of the first part of the system prompt.
    pub system_prompt: Option<String>,
    /// Text or file at the end of the system prompt.
    pub system_prompt_addition: Option<String>,
}

impl Default for OpenRequest {
    fn default() -> Self {
        Self {
            session: SessionChoice::New,
            terminal: None,
            model: None,
            thinking: Thinking::Inherit,
            asking: Asking::Nobody,
            tools: ToolSelection::All,
            further_roots: Vec::new(),
            context_files: ContextFilesUse::Read,
            system_prompt: None,
            system_prompt_addition: None,
        }
    }
}

/// Which session is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one; its file appears with the first message.
    New,
    /// A new one that is written at once.
    NewNow,
    /// A new one that is kept nowhere.
    InMemory,
    /// The last one of the terminal if it is of this directory, else the newest of the directory, or a new one where there is none.
    Continue,
    /// The one that a user means: a path, the start of an id, or a title.
    Resume(String),
    /// A copy of the one that a user means, made now.
    Fork(String),
    /// The one that lies there.
    At(SessionPlace),
}

/// Which tools the model has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSelection {
    /// All that are built in.
    All,
    /// Those with these names.
    Only(Vec<String>),
    /// None.
    None,
}

/// Whether standing instructions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFilesUse {
    /// They are.
    Read,
    /// The model is told nothing of the project.
    Skip,
}
