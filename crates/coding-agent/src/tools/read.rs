//! The tool `read`: lines of a file, a picture, a directory, or output that was kept.
//!
//! Works in bounded memory for files of any length. Every read is noted in the [`ReadLog`](crate::tools::ReadLog).

mod lines;
mod page;
mod picture;
mod selector;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::artifact_store::{self, SCHEME};
use longhand_session::{ArtifactId, Json, digits};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::lines::Measure;
use self::page::{Page, PageOfLines, Wanted, window_page};
use self::selector::{Part, Selected};
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::ls;
use crate::tools::shown::{bytes, with_notices};
use crate::tools::workspace::Workspace;
use crate::tools::{ToolContext, Vision};

/// Most bytes of a picture's file.
const MAX_PICTURE_BYTES: u64 = 20 * 1024 * 1024;

/// Lines that are shown around a range, so that its ends can be understood.
const LEADING_LINES: u64 = 1;
const TRAILING_LINES: u64 = 3;

pub(crate) struct Read {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    path: String,
}

/// Where lines come from.
enum Source {
    File { path: PathBuf, real: PathBuf },
    Artifact(ArtifactId),
}

impl Read {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "read",
            context.prompts.text(Prompt::ToolRead),
            &["path"],
            json!({"path": {"type": "string", "minLength": 1}}),
        );
        Self { context, spec }
    }

    fn selected<'a>(&self, argument: &'a str) -> Result<Selected<'a>, Failure> {
        let workspace = &self.context.workspace;
        let exists = |path: &str| {
            !path.starts_with(SCHEME) && workspace.resolve(path).symlink_metadata().is_ok()
        };
        selector::split(argument, exists).map_err(|malformed| {
            Failure(format!("`:{}` does not select lines: {}", malformed.0, selector::GRAMMAR))
        })
    }

    fn open(&self, source: &Source) -> Result<Box<dyn io::Read>, Failure> {
        match source {
            Source::File { path, real } => {
                let file = File::open(real).map_err(|error| Failure::file("read", path, &error))?;
                Ok(Box::new(file))
            }
            Source::Artifact(id) => match self.context.artifacts.open(*id) {
                Ok(source) => Ok(source),
                Err(error) => Err(Failure(error.to_string())),
            },
        }
    }

    fn name(&self, source: &Source) -> String {
        match source {
            Source::File { path, .. } => self.context.workspace.display(path),
            Source::Artifact(id) => format!("{SCHEME}{}", id.0),
        }
    }

    fn picture(&self, path: &Path, real: &Path) -> Result<Option<ToolOutput>, Failure> {
        let unreadable = |error: io::Error| Failure::file("read", path, &error);
        let mut start = Vec::new();
        let mut file = File::open(real).map_err(unreadable)?;
        file.by_ref().take(64).read_to_end(&mut start).map_err(unreadable)?;
        let Some(format) = picture::format(&start) else { return Ok(None) };
        let name = self.context.workspace.display(path);
        let file_bytes = file.metadata().map_err(unreadable)?.len();
        let media_type = format.to_mime_type();
        let details = json!({"path": name, "totalLines": 0, "truncated": false});
        let note = |text: String| ToolOutput {
            details: Some(Json::from(details.clone())),
            ..ToolOutput::text(text)
        };
        if file_bytes > MAX_PICTURE_BYTES {
            return Err(Failure(format!(
                "{name} ({media_type}, {}) is larger than the {} that can be attached",
                bytes(file_bytes),
                bytes(MAX_PICTURE_BYTES)
            )));
        }
        if self.context.vision() == Vision::Blind {
            let text = format!(
                "{name}: {media_type}, {}. This model cannot see pictures.",
                bytes(file_bytes)
            );
            return Ok(Some(note(text)));
        }
        let content = fs::read(real).map_err(unreadable)?;
        let picture = picture::prepare(&content, format)
            .map_err(|error| Failure(format!("{name} cannot be shown as a picture: {error}")))?;
        let mut output = note(format!("{name}: {}", picture.caption));
        output.content.push(picture.block);
        Ok(Some(output))
    }

    fn text(&self, source: &Source, selected: &Selected<'_>) -> Result<ToolOutput, Failure> {
        let name = self.name(source);
        let cannot_read = |error: io::Error| Failure(format!("cannot read {name}: {error}"));
        let measure = lines::measure(self.open(source)?).map_err(cannot_read)?;
        if let Source::File { real, .. } = source {
            self.context.reads.saw(real, measure.print);
        }
        if measure.is_binary {
            return Ok(binary(&name, measure, &mut *self.open(source)?));
        }
        let mut page = self.page(source, selected, measure.lines)?;
        let again = format!("{name}:{:?}:{}", selected.part, selected.is_raw);
        if self.context.reads.repeats(&again, measure.print) >= 3 {
            page.notices.push("This is the same unchanged content as in the reads before".into());
        }
        let mut details =
            json!({"path": name, "totalLines": measure.lines, "truncated": page.is_truncated});
        if let Some(range) = page.range {
            details["range"] = json!(range);
        }
        Ok(ToolOutput {
            details: Some(Json::from(details)),
            ..ToolOutput::text(with_notices(page.text, &page.notices))
        })
    }

    /// The page that is asked for, of a source of `total` lines.
    fn page(&self, source: &Source, selected: &Selected<'_>, total: u64) -> Result<Page, Failure> {
        let name = self.name(source);
        let cannot_read = |error: io::Error| Failure(format!("cannot read {name}: {error}"));
        let first = selected.part.first_line();
        if first > total.max(1) {
            return Err(Failure(format!(
                "{name} has {} lines; line {} is beyond its end",
                digits::grouped(total),
                digits::grouped(first)
            )));
        }
        let limit = self.context.options.read_lines;
        let (ranges, wanted) = match &selected.part {
            Part::Start => (vec![(1, limit)], Wanted::AllThatFollows),
            Part::From(line) => (
                vec![(*line, line.saturating_add(limit.saturating_sub(1)))],
                Wanted::AllThatFollows,
            ),
            Part::Last(count) => {
                (vec![(total.saturating_sub(count - 1).max(1), total)], Wanted::NoMore)
            }
            Part::Lines(ranges) if selected.is_raw => (ranges.clone(), Wanted::NoMore),
            Part::Lines(ranges) => (with_context(ranges), Wanted::NoMore),
            Part::Characters { line, skip, take } => {
                let page = window_page(self.open(source)?, &name, *line, *skip, *take);
                return page.map_err(cannot_read)?;
            }
        };
        let mut page = PageOfLines::new(self.context.options.shown.line_bytes, selected.is_raw);
        let line_bytes = page.line_bytes;
        lines::each_line(self.open(source)?, &ranges, line_bytes, |line| page.add(&line))
            .map_err(cannot_read)?;
        Ok(page.finish(wanted, total))
    }
}

/// The ranges with the lines around them.
fn with_context(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let wider = ranges.iter().map(|(from, to)| {
        (from.saturating_sub(LEADING_LINES).max(1), to.saturating_add(TRAILING_LINES))
    });
    selector::merged(&wider.collect::<Vec<_>>())
}

/// The answer for a file that is no text.
fn binary(name: &str, measure: Measure, source: &mut dyn io::Read) -> ToolOutput {
    let mut start = Vec::new();
    // Without its start it is still a binary file of that size.
    let _ = source.take(16).read_to_end(&mut start);
    let text = format!(
        "{name}: {}, {}. Binary content is not shown.",
        media_type(&start),
        bytes(measure.bytes)
    );
    let details = json!({"path": name, "totalLines": measure.lines, "truncated": true});
    ToolOutput { details: Some(Json::from(details)), ..ToolOutput::text(text) }
}

fn media_type(start: &[u8]) -> &'static str {
    const STARTS: &[(&[u8], &str)] = &[
        (b"%PDF", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b", "application/gzip"),
        (b"\xfd7zXZ", "application/x-xz"),
        (b"\x28\xb5\x2f\xfd", "application/zstd"),
        (b"\x7fELF", "application/x-elf"),
        (b"\0asm", "application/wasm"),
        (b"SQLite format 3", "application/vnd.sqlite3"),
        (b"\xff\xfe", "text/plain in UTF-16"),
        (b"\xfe\xff", "text/plain in UTF-16"),
    ];
    let known = STARTS.iter().find(|(magic, _)| start.starts_with(magic));
    known.map_or("application/octet-stream", |(_, name)| name)
}

/// A file that is not there, with the name beside it that comes closest.
fn not_found(workspace: &Workspace, path: &Path) -> Failure {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let closest = beside
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|other| (strsim::jaro_winkler(&name, &other), other))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = closest.map(|(_, other)| {
        format!("; there is `{}`", workspace.display(&path.with_file_name(other)))
    });
    Failure(format!("`{}` does not exist{}", workspace.display(path), hint.unwrap_or_default()))
}

impl FileTool for Read {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Read;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        match self.selected(&arguments.path) {
            Ok(selected) if !selected.path.starts_with(SCHEME) => {
                let workspace = &self.context.workspace;
                workspace.tier(Self::TIER, &workspace.resolve(selected.path))
            }
            Ok(_) | Err(_) => Self::TIER,
        }
    }

    fn run(
        &self,
        arguments: Arguments,
        _cancel: &CancellationToken,
    ) -> Result<ToolOutput, Failure> {
        let selected = self.selected(&arguments.path)?;
        if let Some(id) = selected.path.strip_prefix(SCHEME) {
            let no_number = || Failure(format!("{SCHEME} ID must be numeric, got: {id}"));
            let id = artifact_store::address(selected.path).ok_or_else(no_number)?;
            return self.text(&Source::Artifact(id), &selected);
        }
        let path = self.context.workspace.resolve(selected.path);
        let real = Workspace::real(&path);
        let metadata = match fs::metadata(&real) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(not_found(&self.context.workspace, &path));
            }
            Err(error) => return Err(Failure::file("read", &path, &error)),
        };
        if metadata.is_dir() {
            return ls::list(&self.context.workspace, &path, ls::DEFAULT_DEPTH);
        }
        if !metadata.is_file() {
            return Err(Failure::irregular(&self.context.workspace.display(&path)));
        }
        if let Some(output) = self.picture(&path, &real)? {
            return Ok(output);
        }
        self.text(&Source::File { path, real }, &selected)
    }
}
