//! The tool `ls`: what is in a directory, a few levels deep.
//!
//! The first level is shown whole, deeper ones in part; links are named and not followed. Nothing is hidden: ignore files do not count.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::{Json, digits};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::shown::with_notices;
use crate::tools::workspace::Workspace;

/// Levels shown when the call names none.
pub(crate) const DEFAULT_DEPTH: usize = 2;

/// Most entries shown of a directory below the first level, and of all together.
const MAX_CHILDREN: usize = 12;
const MAX_ROWS: usize = 500;

pub(crate) struct Ls {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    path: Option<String>,
    depth: Option<usize>,
}

impl Ls {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "ls",
            context.prompts.text(Prompt::ToolLs),
            &[],
            json!({
                "path": {"type": "string"},
                "depth": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
            }),
        );
        Self { context, spec }
    }
}

impl FileTool for Ls {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Read;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        let workspace = &self.context.workspace;
        workspace.tier(Self::TIER, &workspace.resolve(arguments.path.as_deref().unwrap_or(".")))
    }

    fn run(
        &self,
        arguments: Arguments,
        _cancel: &CancellationToken,
    ) -> Result<ToolOutput, Failure> {
        let path = self.context.workspace.resolve(arguments.path.as_deref().unwrap_or("."));
        list(&self.context.workspace, &path, arguments.depth.unwrap_or(DEFAULT_DEPTH))
    }
}

/// Answers with what is in a directory.
pub(crate) fn list(
    workspace: &Workspace,
    path: &Path,
    depth: usize,
) -> Result<ToolOutput, Failure> {
    let mut listing = Listing::default();
    listing.add(path, 0, depth).map_err(|error| Failure::file("list", path, &error))?;
    let name = workspace.display(path);
    let details =
        json!({"path": name, "count": listing.shown, "truncated": listing.shown < listing.seen});
    let is_empty = listing.seen == 0;
    let text =
        if is_empty { format!("{name}/ is empty") } else { format!("{name}/\n{}", listing.rows) };
    let notices: Vec<_> = (listing.shown == MAX_ROWS && listing.shown < listing.seen)
        .then(|| format!("Stopped at {MAX_ROWS} entries. List a directory below to see more"))
        .into_iter()
        .collect();
    Ok(ToolOutput {
        details: Some(Json::from(details)),
        is_useless: is_empty,
        ..ToolOutput::text(with_notices(text.trim_end().to_owned(), &notices))
    })
}

#[derive(Default)]
struct Listing {
    rows: String,
    shown: usize,
    seen: usize,
}

impl Listing {
    /// Adds a directory's entries, and theirs down to `depth`. Those below that cannot be read are shown without entries.
    fn add(&mut self, folder: &Path, level: usize, depth: usize) -> io::Result<()> {
        let mut entries: Vec<_> = fs::read_dir(folder)?.filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        let room = if level == 0 { usize::MAX } else { MAX_CHILDREN };
        self.seen += entries.len();
        for (n, entry) in entries.iter().enumerate() {
            if self.shown == MAX_ROWS {
                break;
            }
            let indent = "  ".repeat(level + 1);
            if n == room {
                let rest = digits::grouped((entries.len() - n) as u64);
                let _ = writeln!(self.rows, "{indent}… {rest} more");
                break;
            }
            let kind = entry.file_type()?;
            let target = kind.is_symlink().then(|| fs::read_link(entry.path()).ok()).flatten();
            let mark = match &target {
                Some(target) => format!(" -> {}", target.display()),
                None if kind.is_dir() => "/".to_owned(),
                None => String::new(),
            };
            let _ = writeln!(self.rows, "{indent}{}{mark}", entry.file_name().display());
            self.shown += 1;
            if kind.is_dir() && level + 1 < depth {
                // A directory that may not be read is still there to be named.
                let _ = self.add(&entry.path(), level + 1, depth);
            }
        }
        Ok(())
    }
}
