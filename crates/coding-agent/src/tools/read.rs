//! The tool `read`: lines of a file, a picture, a directory, or output that was kept.
//!
//! Works in bounded memory for files of any length. Every read is noted in the [`ReadLog`](crate::tools::ReadLog).

mod lines;
mod picture;
mod selector;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::{ArtifactId, Json};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::lines::{Line, Measure};
use self::selector::{Part, Selected};
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::ls;
use crate::tools::outputs::SCHEME;
use crate::tools::shown::{bytes, thousands, with_notices};
use crate::tools::workspace::Workspace;
use crate::tools::{ToolContext, Vision};

/// Most bytes of text that one call shows.
const MAX_SHOWN_BYTES: usize = 50 * 1024;

/// Most bytes of a picture's file.
const MAX_PICTURE_BYTES: u64 = 20 * 1024 * 1024;

/// Characters shown of a line that is too wide to be shown whole.
const WINDOW_CHARACTERS: u64 = 4000;

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
            Source::Artifact(id) => match self.context.outputs.open(*id) {
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
        let mut page = match self.wanted(&name, &selected.part, measure)? {
            Wanted::Ranges(ranges) => {
                let page = self.page(self.open(source)?, &ranges, selected, measure);
                page.map_err(cannot_read)?
            }
            Wanted::Characters { line, skip, take } => {
                let page = window_page(self.open(source)?, &name, line, skip, take);
                page.map_err(cannot_read)??
            }
        };
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

    /// Which lines to show.
    fn wanted(&self, name: &str, part: &Part, measure: Measure) -> Result<Wanted, Failure> {
        let total = measure.lines;
        let first = match part {
            Part::Start | Part::Last(_) => 1,
            Part::From(line) | Part::Characters { line, .. } => *line,
            Part::Lines(ranges) => ranges.first().map_or(1, |(from, _)| *from),
        };
        if first > total.max(1) {
            return Err(Failure(format!(
                "{name} has {} lines; line {} is beyond its end",
                thousands(total),
                thousands(first)
            )));
        }
        let limit = self.context.options.read_lines;
        Ok(match part {
            Part::Start => Wanted::Ranges(vec![(1, limit)]),
            Part::From(line) => {
                Wanted::Ranges(vec![(*line, line.saturating_add(limit).saturating_sub(1))])
            }
            Part::Last(count) => {
                Wanted::Ranges(vec![(total.saturating_sub(count - 1).max(1), total)])
            }
            Part::Lines(ranges) => Wanted::Ranges(ranges.clone()),
            Part::Characters { line, skip, take } => {
                Wanted::Characters { line: *line, skip: *skip, take: *take }
            }
        })
    }

    fn page(
        &self,
        source: Box<dyn io::Read>,
        ranges: &[(u64, u64)],
        selected: &Selected<'_>,
        measure: Measure,
    ) -> io::Result<Page> {
        let asked = ranges;
        let with_context: Vec<_> = asked
            .iter()
            .map(|(from, to)| {
                (from.saturating_sub(LEADING_LINES).max(1), to.saturating_add(TRAILING_LINES))
            })
            .collect();
        let is_range = matches!(selected.part, Part::Lines(_));
        let ranges = if is_range && !selected.is_raw {
            selector::merged(&with_context)
        } else {
            asked.to_vec()
        };
        let mut page = Lines::new(self.context.options.shown.line_bytes, selected.is_raw);
        lines::each_line(source, &ranges, page.line_bytes, |line| page.add(&line))?;
        Ok(page.finish(asked, measure))
    }
}

enum Wanted {
    Ranges(Vec<(u64, u64)>),
    Characters { line: u64, skip: u64, take: u64 },
}

/// What a call shows.
struct Page {
    text: String,
    notices: Vec<String>,
    range: Option<String>,
    is_truncated: bool,
}

/// Lines on their way into a page.
struct Lines {
    line_bytes: usize,
    is_raw: bool,
    text: String,
    shown: Vec<(u64, u64)>,
    first_cut: Option<u64>,
    has_invalid: bool,
    is_full: bool,
}

impl Lines {
    fn new(line_bytes: usize, is_raw: bool) -> Self {
        // 0 stands for lines of any length; what a page can hold is the end of it.
        let line_bytes = if line_bytes == 0 { MAX_SHOWN_BYTES / 2 } else { line_bytes };
        Self {
            line_bytes,
            is_raw,
            text: String::new(),
            shown: Vec::new(),
            first_cut: None,
            has_invalid: false,
            is_full: false,
        }
    }

    /// Adds a line; says whether there is room for more.
    fn add(&mut self, line: &Line) -> bool {
        let number = line.number;
        let cut = if line.is_cut { "…" } else { "" };
        let row = if self.is_raw {
            format!("{}{cut}\n", line.text)
        } else {
            format!("{number}:{}{cut}\n", line.text)
        };
        if self.text.len() + row.len() > MAX_SHOWN_BYTES {
            self.is_full = true;
            return false;
        }
        match self.shown.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) => {
                self.text.push_str(if self.is_raw { "" } else { "…\n" });
                self.shown.push((number, number));
            }
            None => self.shown.push((number, number)),
        }
        self.text.push_str(&row);
        self.has_invalid |= line.was_invalid;
        if line.is_cut {
            self.first_cut.get_or_insert(number);
        }
        true
    }

    fn finish(self, asked: &[(u64, u64)], measure: Measure) -> Page {
        let total = measure.lines;
        let first = self.shown.first().map_or(0, |(from, _)| *from);
        let last = self.shown.last().map_or(0, |(_, to)| *to);
        let is_whole = self.shown.len() <= 1 && first <= 1 && last == total;
        let asked_to = asked.last().map_or(total, |(_, to)| *to);
        let mut notices = Vec::new();
        if !is_whole {
            let shown = ranges_text(&self.shown, thousands);
            notices.push(format!("Showing lines {shown} of {}", thousands(total)));
            if last < total && (self.is_full || last >= asked_to) {
                notices.push(format!("Use :{} to continue", last + 1));
            }
        }
        if let Some(line) = self.first_cut {
            notices.push(format!("Some lines truncated to {} bytes", self.line_bytes));
            notices.push(format!("Use :{line}@0+{WINDOW_CHARACTERS} for line {line}"));
        }
        if self.has_invalid {
            notices.push("Invalid UTF-8 is shown as replacement characters".into());
        }
        let text = if total == 0 { "(empty file)".into() } else { self.text };
        Page {
            text: text.strip_suffix('\n').map(str::to_owned).unwrap_or(text),
            notices,
            range: (last > 0).then(|| ranges_text(&self.shown, |line| line.to_string())),
            is_truncated: self.is_full
                || self.first_cut.is_some()
                || last < asked_to.min(total)
                || (asked_to < total && !is_whole && asked.len() == 1),
        }
    }
}

fn ranges_text(ranges: &[(u64, u64)], number: impl Fn(u64) -> String) -> String {
    let mut out = String::new();
    for (from, to) in ranges {
        let separator = if out.is_empty() { "" } else { "," };
        let _ = write!(out, "{separator}{}-{}", number(*from), number(*to));
    }
    out
}

/// A page of characters of one line.
fn window_page(
    source: impl io::Read,
    name: &str,
    line: u64,
    skip: u64,
    take: u64,
) -> io::Result<Result<Page, Failure>> {
    let take = take.min(MAX_SHOWN_BYTES as u64 / 4);
    let window = lines::window(source, line, skip, take)?;
    let total = window.line_characters;
    if skip >= total.max(1) {
        return Ok(Err(Failure(format!(
            "line {line} of {name} has {} characters; {} is beyond its end",
            thousands(total),
            thousands(skip)
        ))));
    }
    let end = (skip + take).min(total);
    let mut notices =
        vec![format!("Line {line}: characters {}-{} of {}", skip, end.saturating_sub(1), total)];
    if end < total {
        notices.push(format!("Use :{line}@{end}+{take} to continue"));
    }
    Ok(Ok(Page {
        text: window.text,
        notices,
        range: Some(format!("{line}-{line}")),
        is_truncated: end < total || skip > 0,
    }))
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
            let id = id
                .parse()
                .map_err(|_| Failure(format!("{SCHEME} ID must be numeric, got: {id}")))?;
            return self.text(&Source::Artifact(ArtifactId(id)), &selected);
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
            return Err(Failure(format!("`{}` is neither a file nor a directory", path.display())));
        }
        if let Some(output) = self.picture(&path, &real)? {
            return Ok(output);
        }
        self.text(&Source::File { path, real }, &selected)
    }
}
