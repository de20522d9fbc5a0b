//! The tool `glob`: files by the pattern of their path, the most recently changed first.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::digits;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::shown::{finish, with_notices};
use crate::tools::walk::{self, Ended, Filter};

/// How long a search may take.
const TIME: Duration = Duration::from_secs(5);

/// Most files named when the call asks for no fewer.
const MAX_FILES: usize = 200;

pub(crate) struct Glob {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    path: String,
    hidden: Option<bool>,
    gitignore: Option<bool>,
    limit: Option<usize>,
}

/// A pattern with the folder that it starts from.
struct Start {
    folder: PathBuf,
    pattern: String,
}

impl Glob {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "glob",
            context.prompts.text(Prompt::ToolGlob),
            &["path"],
            json!({
                "path": {"type": "string", "minLength": 1},
                "hidden": {"type": "boolean", "default": true},
                "gitignore": {"type": "boolean", "default": true},
                "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 200},
            }),
        );
        Self { context, spec }
    }

    /// The patterns of a call, each with its folder. A pattern that names a folder or a file stands for what is in it, or for itself.
    fn starts(&self, path: &str) -> Vec<Start> {
        let workspace = &self.context.workspace;
        let patterns = path.split(';').map(str::trim).filter(|pattern| !pattern.is_empty());
        patterns
            .map(|pattern| {
                let whole = workspace.resolve(pattern);
                if whole.is_dir() {
                    return Start { folder: whole, pattern: "**".into() };
                }
                let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
                let (base, rest) = match pattern[..special].rfind('/') {
                    Some(slash) => (&pattern[..=slash], &pattern[slash + 1..]),
                    None => ("", pattern),
                };
                Start { folder: workspace.resolve(base), pattern: rest.into() }
            })
            .collect()
    }
}

impl FileTool for Glob {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Read;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        let workspace = &self.context.workspace;
        let starts = self.starts(&arguments.path);
        let tiers = starts.iter().map(|start| {
            // A pattern can climb out of its folder in the middle: `a*/../../x`.
            if start.pattern.split('/').any(|part| part == "..") {
                Tier::Exec
            } else {
                workspace.tier(Self::TIER, &start.folder)
            }
        });
        tiers.max().unwrap_or(Self::TIER)
    }

    fn run(&self, arguments: Arguments, cancel: &CancellationToken) -> Result<ToolOutput, Failure> {
        let filter = Filter {
            has_hidden: arguments.hidden.unwrap_or(true),
            heeds_ignore: arguments.gitignore.unwrap_or(true),
        };
        let deadline = Instant::now() + TIME;
        let mut found = Vec::new();
        let mut ended = Ended::Complete;
        for start in self.starts(&arguments.path) {
            let globs = walk::globs([start.pattern.as_str()])?;
            if !start.folder.is_dir() {
                continue;
            }
            let walked = walk::each_file(&start.folder, filter, deadline, cancel, |file| {
                if file.strip_prefix(&start.folder).is_ok_and(|below| globs.is_match(below)) {
                    found.push((changed(&file), file));
                }
                true
            })?;
            if walked == Ended::OutOfTime {
                ended = walked;
            }
        }
        // Newest first; files of one time in the order of their paths.
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.dedup_by(|a, b| a.1 == b.1);
        Ok(self.answer(&found, arguments.limit.unwrap_or(MAX_FILES), ended))
    }
}

impl Glob {
    fn answer(&self, found: &[(SystemTime, PathBuf)], limit: usize, ended: Ended) -> ToolOutput {
        let shown = &found[..found.len().min(limit)];
        let names: Vec<_> =
            shown.iter().map(|(_, file)| self.context.workspace.display(file)).collect();
        let mut notices = Vec::new();
        if shown.len() < found.len() {
            notices.push(format!(
                "Showing the {} newest of {} files",
                shown.len(),
                digits::grouped(found.len() as u64)
            ));
        }
        if ended == Ended::OutOfTime {
            notices.push(format!(
                "The search ran out of its {} seconds before it had seen everything. Name a folder deeper down",
                TIME.as_secs()
            ));
        }
        let text = match (names.is_empty(), ended) {
            (true, Ended::Complete) => "No files found matching pattern".to_owned(),
            (true, Ended::OutOfTime) => "No files found so far".to_owned(),
            (false, _) => names.join("\n"),
        };
        let is_truncated = shown.len() < found.len() || ended == Ended::OutOfTime;
        let details = json!({"count": found.len(), "truncated": is_truncated});
        let text = with_notices(text, &notices);
        let options = &self.context.options.shown;
        ToolOutput {
            is_useless: found.is_empty() && ended == Ended::Complete,
            ..finish("glob", &text, details, options, &*self.context.artifacts)
        }
    }
}

/// When a file was last changed. One that is gone again counts as the oldest.
fn changed(file: &Path) -> SystemTime {
    let metadata = file.symlink_metadata();
    metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}
