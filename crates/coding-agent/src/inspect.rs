//! What a session holds, and what fills its context: the numbers behind `longhand inspect`.
//!
//! Numbers of tokens are local counts unless they are named measured. Only the active branch is counted; what a compaction hides
//! is listed, and told apart. Reads the whole branch.

mod entries;
mod tallies;

use longhand_compaction::{Options, threshold};
use longhand_session::model::Model;
use longhand_session::store::StoreError;
use longhand_session::tokens::{self, EncryptedReasoning};
use longhand_session::{EntryId, TokenCounter};
use serde::Serialize;

pub use entries::{CompactionRow, EntryRow};
pub use tallies::{FileRow, RoleRow, ToolRow};

use crate::session_file::SessionFile;

/// What a session holds, and what fills its context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The session.
    pub session: SessionFacts,
    /// The window that the context has to fit.
    pub window: Window,
    /// Size of the context.
    pub usage: ContextSize,
    /// What the context is made of, by role, largest first.
    pub by_role: Vec<RoleRow>,
    /// What the context is made of, by tool, largest first.
    pub by_tool: Vec<ToolRow>,
    /// Files in the context, largest first.
    pub by_file: Vec<FileRow>,
    /// Entries of the active branch, in order.
    pub entries: Vec<EntryRow>,
    /// Compactions of the active branch, in order.
    pub compactions: Vec<CompactionRow>,
    /// What each compaction method would do.
    pub methods: Vec<MethodRow>,
}

/// Facts about a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionFacts {
    /// Id.
    pub id: String,
    /// Where it lies; empty in memory.
    pub file: String,
    /// Working directory.
    pub cwd: String,
    /// Title.
    pub title: String,
    /// Version of the file's format.
    pub version: u64,
    /// When it began.
    pub created: String,
    /// When it was last changed.
    pub modified: String,
    /// Length of the file.
    pub bytes: u64,
    /// Entries, on all branches.
    pub entries: usize,
    /// Entries by type, on all branches.
    pub types: std::collections::BTreeMap<String, usize>,
    /// Lines that were skipped or only partly read.
    pub damaged_lines: usize,
    /// Ends of branches.
    pub branches: usize,
    /// The newest entry of the active branch.
    pub leaf: String,
}

/// The window that a context has to fit, in tokens. Absent where no model is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Window {
    /// The model, as `provider/id`.
    pub model: Option<String>,
    /// Prompt and reply together.
    pub context_window: Option<u64>,
    /// Above this the session compacts by itself.
    pub threshold: Option<u64>,
    /// Kept free for the reply.
    pub reserve: Option<u64>,
}

impl Window {
    /// The window of a model under the options; empty where the model's window is unknown.
    pub fn of(model: &Model, options: &Options) -> Self {
        let window = model.context_window.filter(|tokens| *tokens > 0);
        Self {
            model: Some(model.reference().to_string()),
            context_window: window,
            threshold: window.map(|tokens| threshold::resolve(tokens, options)),
            reserve: window.map(|tokens| threshold::budget_reserve(tokens, options)),
        }
    }
}

/// Size of a context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextSize {
    /// The best number there is.
    pub tokens: u64,
    /// `measured` or `estimated`.
    pub source: &'static str,
    /// As a provider measured it with the newest reply; system prompt and tools included.
    pub measured: Option<u64>,
    /// Local count of the messages.
    pub estimated: u64,
    /// Measured by estimated.
    pub ratio: Option<f64>,
}

/// What a compaction method would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodRow {
    /// Name of the method.
    pub method: String,
    /// Whether it could run.
    pub available: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Tokens of the context after it.
    pub tokens_after: Option<u64>,
    /// Tokens that it would free.
    pub freed: Option<u64>,
    /// `none`, `model` or `vision`.
    pub needs: &'static str,
    /// Whether the numbers are exact, or bounds.
    pub exact: bool,
    /// Pictures that it would put into the context.
    pub frames: usize,
}

/// Looks at a session. `methods` is filled by whoever can plan them.
///
/// # Errors
/// The session cannot be read, or `at` is not in it.
pub fn inspect(
    file: &SessionFile,
    at: Option<&EntryId>,
    window: Window,
    counter: &dyn TokenCounter,
) -> Result<Inspection, StoreError> {
    let path = file.path(at)?;
    let branch = file.read(&path)?;
    let context = file.context(&path)?;
    let kept = file.working_path(&path)?;
    let entries = entries::rows(&branch, &context, kept, counter);
    let tallies = tallies::Tallies::of(&branch, &entries, counter);
    Ok(Inspection {
        session: facts(file, path.last().map(|row| &row.id))?,
        window,
        usage: size(&context.messages, &branch, counter),
        by_role: tallies.by_role(),
        by_tool: tallies.by_tool(),
        by_file: tallies.by_file(),
        compactions: entries::compactions(&branch, counter),
        entries,
        methods: Vec::new(),
    })
}

fn facts(file: &SessionFile, leaf: Option<&EntryId>) -> Result<SessionFacts, StoreError> {
    let mut types = std::collections::BTreeMap::new();
    for entry in file.read(&file.rows)? {
        *types.entry(entry.kind.type_name().to_owned()).or_insert(0) += 1;
    }
    let is_end = |id: &EntryId| file.tree.children(Some(id)).next().is_none();
    let header = &file.header;
    Ok(SessionFacts {
        id: header.id.to_string(),
        file: file.place.as_ref().map(ToString::to_string).unwrap_or_default(),
        cwd: header.cwd.clone().unwrap_or_default(),
        title: header.title.clone().unwrap_or_default(),
        version: header.version.unwrap_or(1),
        created: header.timestamp.as_str().to_owned(),
        modified: file.modified.as_ref().map(|time| time.as_str().to_owned()).unwrap_or_default(),
        bytes: file.bytes,
        entries: file.rows.len(),
        types,
        damaged_lines: file.damage.lines.len(),
        branches: file.rows.iter().filter(|row| is_end(&row.id)).count(),
        leaf: leaf.map(ToString::to_string).unwrap_or_default(),
    })
}

fn size(
    messages: &[std::sync::Arc<longhand_session::Message>],
    branch: &[std::sync::Arc<longhand_session::Entry>],
    counter: &dyn TokenCounter,
) -> ContextSize {
    let estimated = tokens::count_messages(counter, messages, EncryptedReasoning::Counted);
    let after_compaction =
        branch.iter().rposition(|entry| entry.compaction().is_some()).map_or(0, |at| at + 1);
    let measured = tokens::last_assistant_usage(&branch[after_compaction..])
        .filter(|usage| usage.has_context())
        .map(longhand_session::Usage::context);
    ContextSize {
        tokens: measured.unwrap_or(estimated),
        source: if measured.is_some() { "measured" } else { "estimated" },
        measured,
        estimated,
        ratio: measured
            .filter(|_| estimated > 0)
            .map(|measured| measured as f64 / estimated as f64),
    }
}
