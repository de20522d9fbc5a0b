//! The tool `grep`: lines of files that match a regular expression, a page of files at a time.
//!
//! Files are searched in the order of their paths, so that `skip` goes on where the page before ended. Of each file the first 4 MiB are
//! searched; binary files are left out.

mod search;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::digits;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::search::{Found, MAX_FILE_BYTES, Search};
use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::shown::{bytes, finish, with_notices};
use crate::tools::walk::{self, Ended, Filter};
use crate::tools::workspace::Workspace;

/// How long a search may take.
const TIME: Duration = Duration::from_secs(30);

/// Files of one page, matches shown of a file among others and of a file alone, and matches collected in all.
const PAGE_FILES: usize = 20;
const MATCHES_PER_FILE: usize = 20;
const MATCHES_OF_ONE_FILE: usize = 200;
const MAX_MATCHES: u64 = 2000;

pub(crate) struct Grep {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    case: Option<bool>,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    multiline: bool,
    #[serde(default)]
    hidden: bool,
    gitignore: Option<bool>,
    #[serde(default)]
    skip: usize,
}

/// All that a search found.
struct Findings {
    /// Files with matches, in the order of their paths.
    files: Vec<(PathBuf, Found)>,
    matches: u64,
    ended: Ended,
    /// Whether the search ended because enough was found.
    is_full: bool,
}

impl Grep {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "grep",
            context.prompts.text(Prompt::ToolGrep),
            &["pattern"],
            json!({
                "pattern": {"type": "string", "minLength": 1},
                "path": {"type": "string"},
                "glob": {"type": "string"},
                "case": {"type": "boolean", "default": true},
                "context": {"type": "integer", "minimum": 0, "maximum": 10, "default": 0},
                "multiline": {"type": "boolean", "default": false},
                "hidden": {"type": "boolean", "default": false},
                "gitignore": {"type": "boolean", "default": true},
                "skip": {"type": ["integer", "null"], "minimum": 0},
            }),
        );
        Self { context, spec }
    }

    fn place(&self, arguments: &Arguments) -> PathBuf {
        self.context.workspace.resolve(arguments.path.as_deref().unwrap_or("."))
    }
}

impl FileTool for Grep {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Read;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        self.context.workspace.tier(Self::TIER, &self.place(arguments))
    }

    fn run(&self, arguments: Arguments, cancel: &CancellationToken) -> Result<ToolOutput, Failure> {
        let place = self.place(&arguments);
        let is_file = match place.metadata() {
            Ok(metadata) => metadata.is_file(),
            Err(error) => return Err(Failure::file("search", &place, &error)),
        };
        let per_file = if is_file { MATCHES_OF_ONE_FILE } else { MATCHES_PER_FILE };
        let mut search = Search::new(
            &arguments.pattern,
            arguments.case.unwrap_or(true),
            arguments.multiline,
            arguments.context,
            per_file,
        )?;
        let findings = if is_file {
            // The tier of the call was judged by where the path really leads.
            let found = search
                .file(&Workspace::real(&place))
                .map_err(|error| Failure::file("search", &place, &error))?;
            let matches = found.matches;
            let files = if matches > 0 { vec![(place.clone(), found)] } else { vec![] };
            Findings { files, matches, ended: Ended::Complete, is_full: false }
        } else {
            find(&place, &arguments, &mut search, cancel)?
        };
        let partial =
            is_file && place.metadata().is_ok_and(|metadata| metadata.len() > MAX_FILE_BYTES);
        Ok(self.answer(&findings, arguments.skip, partial))
    }
}

/// Searches a folder.
fn find(
    folder: &Path,
    arguments: &Arguments,
    search: &mut Search,
    cancel: &CancellationToken,
) -> Result<Findings, Failure> {
    // A pattern without a slash is about names, wherever the file lies.
    let patterns = arguments.glob.as_deref().map(|glob| {
        if glob.contains('/') {
            glob.trim_start_matches('/').to_owned()
        } else {
            format!("**/{glob}")
        }
    });
    let globs = patterns.as_deref().map(|glob| walk::globs([glob])).transpose()?;
    let filter =
        Filter { has_hidden: arguments.hidden, heeds_ignore: arguments.gitignore.unwrap_or(true) };
    let (mut files, mut matches, mut is_full) = (Vec::new(), 0, false);
    let ended = walk::each_file(folder, filter, Instant::now() + TIME, cancel, |file| {
        let below = file.strip_prefix(folder).unwrap_or(&file);
        if globs.as_ref().is_some_and(|globs| !globs.is_match(below)) {
            return true;
        }
        // A file that cannot be read has no matches.
        if let Ok(found) = search.file(&file)
            && found.matches > 0
        {
            matches += found.matches;
            files.push((file, found));
        }
        is_full = matches >= MAX_MATCHES;
        !is_full
    })?;
    Ok(Findings { files, matches, ended, is_full })
}

impl Grep {
    fn answer(&self, findings: &Findings, skip: usize, is_partial: bool) -> ToolOutput {
        let total_files = findings.files.len();
        let page: Vec<_> = findings.files.iter().skip(skip).take(PAGE_FILES).collect();
        let next = skip + page.len();
        let has_more = !page.is_empty() && next < total_files;
        let mut notices = Vec::new();
        if !page.is_empty() {
            let more = if findings.is_full { "more than " } else { "" };
            notices.push(format!(
                "{more}{} {} in {} {}",
                digits::grouped(findings.matches),
                if findings.matches == 1 { "match" } else { "matches" },
                digits::grouped(total_files as u64),
                if total_files == 1 { "file" } else { "files" },
            ));
        }
        if has_more {
            notices.push(format!("Showing files {}-{next}, skip={next} for more", skip + 1));
        }
        if findings.ended == Ended::OutOfTime {
            notices.push(format!(
                "The search ran out of its {} seconds before it had seen everything. Name a folder deeper down",
                TIME.as_secs()
            ));
        }
        if is_partial {
            notices.push(format!(
                "Only the first {} of this file were searched",
                bytes(MAX_FILE_BYTES)
            ));
        }
        let text = match (page.is_empty(), total_files, findings.ended) {
            (false, _, _) => grouped(&self.context.workspace, &page),
            (true, 0, Ended::Complete) => "No matches found".into(),
            (true, 0, Ended::OutOfTime) => "No matches found so far".into(),
            (true, _, _) => format!("No matches found past file {total_files}"),
        };
        let mut details = json!({"matches": findings.matches, "files": total_files});
        if has_more {
            details["nextSkip"] = Value::from(next);
        }
        let text = with_notices(text, &notices);
        let options = &self.context.options.shown;
        ToolOutput {
            is_useless: page.is_empty() && findings.ended == Ended::Complete,
            ..finish("grep", &text, details, options, &*self.context.artifacts)
        }
    }
}

/// The matches by folder and file.
fn grouped(workspace: &Workspace, page: &[&(PathBuf, Found)]) -> String {
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for (file, found) in page {
        let folder = workspace.display(file.parent().unwrap_or(file));
        let name = file.file_name().unwrap_or_default().display().to_string();
        let rows = folders.entry(folder).or_default();
        let _ = write!(rows, "## {name}\n{}", found.rows);
        let hidden = found.matches - found.shown;
        if hidden > 0 {
            let _ = writeln!(rows, "… {} more in this file", digits::grouped(hidden));
        }
    }
    let groups: Vec<_> = folders
        .iter()
        .map(|(folder, rows)| format!("# {}/\n{rows}", folder.trim_end_matches('/')))
        .collect();
    groups.join("\n").trim_end().to_owned()
}
