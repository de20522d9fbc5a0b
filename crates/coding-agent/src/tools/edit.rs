//! The tool `edit`: replaces pieces of a file, all of them or none.
//!
//! Every byte that no edit touches stays as it is, in files with mixed line endings too. Each piece must be found exactly once, or be
//! replaced everywhere by wish.

mod closest;
mod matching;
mod splice;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use serde::Deserialize;
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use tokio_util::sync::CancellationToken;

use self::matching::Match;
use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::read_log::Fingerprint;
use crate::tools::replace_file::{Executable, replace_file};
use crate::tools::shown::{cut_line, finish};
use crate::tools::workspace::Workspace;

/// Most bytes of a file that is edited.
const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

/// A diff that is not the shortest is good enough after this time.
const DIFF_TIME: Duration = Duration::from_secs(2);

/// Most lines shown of the region that comes closest to a text that was not found.
const MAX_CLOSEST_LINES: usize = 20;

pub(crate) struct Edit {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    path: String,
    edits: Vec<OneEdit>,
}

#[derive(Deserialize)]
struct OneEdit {
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

impl Edit {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "edit",
            context.prompts.text(Prompt::ToolEdit),
            &["path", "edits"],
            json!({
                "path": {"type": "string"},
                "edits": {
                    "type": "array", "minItems": 1, "maxItems": 64,
                    "items": {
                        "type": "object", "required": ["old", "new"], "additionalProperties": false,
                        "properties": {
                            "old": {"type": "string", "minLength": 1},
                            "new": {"type": "string"},
                            "all": {"type": "boolean", "default": false},
                        },
                    },
                },
            }),
        );
        Self { context, spec }
    }

    fn content(&self, path: &Path, real: &Path) -> Result<Vec<u8>, Failure> {
        let name = self.context.workspace.display(path);
        match fs::metadata(real) {
            Ok(metadata) if metadata.is_dir() => Err(Failure(format!("`{name}` is a directory"))),
            Ok(metadata) if !metadata.is_file() => Err(Failure::irregular(&name)),
            Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
                Err(Failure(format!("`{name}` is too large to edit: {} bytes", metadata.len())))
            }
            Ok(_) => fs::read(real).map_err(|error| Failure::file("read", path, &error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Failure(format!("`{name}` does not exist; `write` creates files")))
            }
            Err(error) => Err(Failure::file("read", path, &error)),
        }
    }
}

impl FileTool for Edit {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Write;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        let workspace = &self.context.workspace;
        workspace.tier(Self::TIER, &workspace.resolve(&arguments.path))
    }

    fn run(&self, arguments: Arguments, cancel: &CancellationToken) -> Result<ToolOutput, Failure> {
        let path = self.context.workspace.resolve(&arguments.path);
        let real = Workspace::real(&path);
        let before = self.content(&path, &real)?;
        let planned = plan(&before, &arguments.edits)?;
        let after = apply(&before, &planned.splices);
        if before == after {
            return Err(Failure::new("The edits change nothing."));
        }
        if cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        replace_file(&real, &after, Executable::AsBefore)
            .map_err(|error| Failure::file("write", &path, &error))?;
        self.context.reads.edited(&real, Fingerprint::of(&before), Fingerprint::of(&after));

        let name = self.context.workspace.display(&path);
        let changes = Changes::between(&name, &before, &after);
        let mut text = format!(
            "Edited {name}: +{} -{}, first changed line {}\n",
            changes.added, changes.removed, changes.first_line
        );
        for number in &planned.tolerant {
            let _ = writeln!(
                text,
                "Edit {number} matched only with line endings, blanks at line ends or quotation marks overlooked."
            );
        }
        let _ = write!(text, "\n{}", changes.diff);
        let details = json!({
            "path": name,
            "diff": changes.diff,
            "firstChangedLine": changes.first_line,
            "added": changes.added,
            "removed": changes.removed,
        });
        let options = &self.context.options.shown;
        Ok(finish("edit", text.trim_end(), details, options, &*self.context.artifacts))
    }
}

/// Bytes to put in the place of a range.
struct Splice {
    range: Range<usize>,
    bytes: Vec<u8>,
    /// Number of the edit, from 1.
    edit: usize,
}

struct Plan {
    /// In the order of the file, without overlap.
    splices: Vec<Splice>,
    /// Numbers of the edits that did not match exactly.
    tolerant: Vec<usize>,
}

/// What the edits do to the content, all of them or none.
fn plan(content: &[u8], edits: &[OneEdit]) -> Result<Plan, Failure> {
    let mut plan = Plan { splices: Vec::new(), tolerant: Vec::new() };
    for (number, edit) in (1..).zip(edits) {
        if edit.old == edit.new {
            return Err(Failure(format!("Edit {number}: `old` and `new` are the same.")));
        }
        let (old, new) = (edit.old.as_bytes(), edit.new.as_bytes());
        let (ranges, how) = matching::occurrences(content, old);
        match ranges.len() {
            0 => return Err(not_found(number, content, &edit.old)),
            1 => {}
            _ if edit.all => {}
            count => return Err(ambiguous(number, content, &ranges, count)),
        }
        if how == Match::Tolerant {
            plan.tolerant.push(number);
        }
        plan.splices.extend(ranges.into_iter().map(|range| {
            let bytes = splice::replacement(content, &range, old, new);
            Splice { range, bytes, edit: number }
        }));
    }
    plan.splices.sort_by_key(|splice| splice.range.start);
    for pair in plan.splices.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            return Err(Failure(format!(
                "Edits {} and {} overlap at line {}; make them one edit. No edit was made.",
                pair[0].edit.min(pair[1].edit),
                pair[0].edit.max(pair[1].edit),
                line_at(content, pair[1].range.start)
            )));
        }
    }
    Ok(plan)
}

fn apply(content: &[u8], splices: &[Splice]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut at = 0;
    for splice in splices {
        out.extend_from_slice(&content[at..splice.range.start]);
        out.extend_from_slice(&splice.bytes);
        at = splice.range.end;
    }
    out.extend_from_slice(&content[at..]);
    out
}

/// The line of a byte, from 1.
fn line_at(content: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &content[..at]).count() + 1
}

fn ambiguous(number: usize, content: &[u8], ranges: &[Range<usize>], count: usize) -> Failure {
    const MOST_NAMED: usize = 8;
    let lines: Vec<_> = ranges
        .iter()
        .take(MOST_NAMED)
        .map(|range| line_at(content, range.start).to_string())
        .collect();
    let more = if count > MOST_NAMED { ", …" } else { "" };
    Failure(format!(
        "Edit {number}: `old` occurs {count} times, at lines {}{more}. Add lines around it, or set `all`. No edit was made.",
        lines.join(", ")
    ))
}

fn not_found(number: usize, content: &[u8], old: &str) -> Failure {
    let content = String::from_utf8_lossy(content);
    let mut text = format!("Edit {number}: `old` does not occur in the file. No edit was made.");
    if let Some(region) = closest::region(&content, old) {
        let _ = writeln!(
            text,
            "\nClosest are lines {}-{} ({:.0} % alike):",
            region.first,
            region.last,
            (region.likeness * 100.0).min(99.0)
        );
        let lines = (1..).zip(content.lines()).skip(region.first - 1);
        for (line, body) in lines.take((region.last - region.first + 1).min(MAX_CLOSEST_LINES)) {
            let _ = writeln!(text, "{line}:{}", cut_line(body, 768));
        }
    }
    Failure(text.trim_end().to_owned())
}

/// What an edit changed, for the model and the view.
struct Changes {
    diff: String,
    first_line: usize,
    added: usize,
    removed: usize,
}

impl Changes {
    fn between(name: &str, before: &[u8], after: &[u8]) -> Self {
        let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
        let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*old, &*new);
        let (mut added, mut removed) = (0, 0);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => added += 1,
                ChangeTag::Delete => removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let first_byte = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let text = diff.unified_diff().context_radius(3).header(name, name).to_string();
        Self { diff: text, first_line: line_at(after, first_byte), added, removed }
    }
}
