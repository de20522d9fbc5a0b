//! The tools a model may call: files, search, commands and the task list.
//!
//! Each tool is one file. They share the [`ToolContext`]; none of them knows of sessions, approval or the terminal. Wrong arguments and
//! failures are answers to the model, never panics.

mod arguments;
mod bash;
mod edit;
mod failure;
mod file_tool;
mod glob;
mod grep;
mod line_style;
mod ls;
mod read;
mod read_log;
mod replace_file;
mod shown;
mod todo;
mod walk;
mod workspace;
mod write;

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::Tool;
use longhand_prompts::Prompts;
use longhand_session::artifact_store::{ArtifactStore, NoArtifacts};
use tokio::sync::watch;

pub use self::bash::Shell;
use self::file_tool::OnWorker;
pub use self::read_log::ReadLog;
pub use self::shown::ShownLimits;
pub use self::todo::TodoList;
pub use self::workspace::Workspace;

/// Whether the model in use can see pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vision {
    /// Pictures are attached.
    Sees,
    /// Pictures are described by a line of text.
    Blind,
}

/// What the tools of a session share.
#[non_exhaustive]
pub struct ToolContext {
    /// Where paths lead.
    pub workspace: Workspace,
    /// The words that the model reads of each tool.
    pub prompts: Arc<Prompts>,
    /// Where long output goes.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What the model has seen of files.
    pub reads: ReadLog,
    /// The task list. Whoever moves through the session restores it.
    pub todo: Arc<TodoList>,
    /// Follows the model in use.
    pub vision: watch::Receiver<Vision>,
    /// Limits and the shell.
    pub options: ToolOptions,
}

impl ToolContext {
    /// The tools' context in a workspace, with default options, keeping no long output, for a model without eyes.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            prompts: Arc::default(),
            artifacts: Arc::new(NoArtifacts),
            reads: ReadLog::default(),
            todo: Arc::default(),
            // The last value stays readable when the sender is gone.
            vision: watch::channel(Vision::Blind).1,
            options: ToolOptions::default(),
        }
    }

    fn vision(&self) -> Vision {
        *self.vision.borrow()
    }
}

/// Limits of the tools, and the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOptions {
    /// How much of a long output is shown.
    pub shown: ShownLimits,
    /// Lines that a read shows when it names no end.
    pub read_lines: u64,
    /// The longest a command may take, whatever a call asks for; `None` leaves it to the call.
    pub most_seconds: Option<Duration>,
    /// What runs commands.
    pub shell: Shell,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self {
            shown: ShownLimits::default(),
            read_lines: 300,
            most_seconds: None,
            shell: Shell::default(),
        }
    }
}

/// The built-in tools, in the order in which a model is told of them.
pub fn standard(context: ToolContext) -> Vec<Arc<dyn Tool>> {
    let context = &Arc::new(context);
    vec![
        Arc::new(OnWorker::new(read::Read::new(Arc::clone(context)))),
        Arc::new(OnWorker::new(write::Write::new(Arc::clone(context)))),
        Arc::new(OnWorker::new(edit::Edit::new(Arc::clone(context)))),
        Arc::new(bash::Bash::new(Arc::clone(context))),
        Arc::new(OnWorker::new(grep::Grep::new(Arc::clone(context)))),
        Arc::new(OnWorker::new(glob::Glob::new(Arc::clone(context)))),
        Arc::new(OnWorker::new(ls::Ls::new(Arc::clone(context)))),
        Arc::new(OnWorker::new(todo::Todo::new(Arc::clone(context)))),
    ]
}
