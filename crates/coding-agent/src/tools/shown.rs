//! Cuts long output to what a model should see of it, and says what was cut.
//!
//! A result above the threshold keeps its head and its tail and goes whole into the [`ArtifactStore`]; a line that is too wide
//! keeps its start. Pure but for that store.

use longhand_agent::ToolOutput;
use longhand_session::artifact_store::{ArtifactStore, SCHEME};
use longhand_session::{ArtifactId, Json, digits};
use serde_json::{Value, json};

/// How much of an output is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLimits {
    /// Bytes above which an output is cut and kept whole elsewhere.
    pub spill_bytes: usize,
    /// Bytes of its start that stay.
    pub head_bytes: usize,
    /// Bytes of its end that stay.
    pub tail_bytes: usize,
    /// Lines of each side that stay.
    pub side_lines: usize,
    /// Bytes of one line that stay; 0 leaves lines whole.
    pub line_bytes: usize,
    /// Most bytes of one command's output that are kept elsewhere: one that never stops writing must not fill the disk.
    pub kept_bytes: u64,
}

impl Default for ShownLimits {
    fn default() -> Self {
        Self {
            spill_bytes: 50 * 1024,
            head_bytes: 20 * 1024,
            tail_bytes: 20 * 1024,
            side_lines: 500,
            line_bytes: 768,
            kept_bytes: 256 * 1024 * 1024,
        }
    }
}

/// An output of which at least both ends are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    /// The start, at least [`ShownLimits::spill_bytes`] of it or all.
    pub(crate) head: &'a str,
    /// The end, at least [`ShownLimits::tail_bytes`] of it or all.
    pub(crate) tail: &'a str,
    pub(crate) total_bytes: u64,
    pub(crate) total_lines: u64,
}

impl<'a> Ends<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self {
            head: text,
            tail: text,
            total_bytes: text.len() as u64,
            total_lines: text.lines().count() as u64,
        }
    }

    /// Whether more than the threshold came.
    pub(crate) fn is_long(&self, limits: &ShownLimits) -> bool {
        self.total_bytes > limits.spill_bytes as u64
    }
}

/// What became of the whole of a long output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It can be read back.
    Whole(ArtifactId),
    /// Its start can be read back; the rest was more than is kept.
    Start(ArtifactId),
    /// It could not be kept.
    Lost,
}

impl Kept {
    pub(crate) fn id(self) -> Option<ArtifactId> {
        match self {
            Self::Whole(id) | Self::Start(id) => Some(id),
            Self::Lost => None,
        }
    }

    fn notice(self) -> String {
        match self {
            Self::Whole(id) => format!("Full output: {SCHEME}{}", id.0),
            Self::Start(id) => format!("Start of the full output: {SCHEME}{}", id.0),
            Self::Lost => "Full output was not saved".into(),
        }
    }
}

/// What is shown, with notices that are still to be appended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) notices: Vec<String>,
    /// The member `meta` of a result's details.
    pub(crate) meta: Option<Value>,
}

impl Shown {
    /// The text with its notices.
    pub(crate) fn into_text(self) -> String {
        with_notices(self.text, &self.notices)
    }
}

/// A text with notices at its end: `[a. b]`.
pub(crate) fn with_notices(mut text: String, notices: &[String]) -> String {
    if !notices.is_empty() {
        text.truncate(text.trim_end_matches('\n').len());
        text.push_str("\n\n[");
        text.push_str(&notices.join(". "));
        text.push(']');
    }
    text
}

/// A result of text: cut where it is long, its whole kept in the store.
pub(crate) fn finish(
    tool: &str,
    text: &str,
    mut details: Value,
    limits: &ShownLimits,
    store: &dyn ArtifactStore,
) -> ToolOutput {
    let ends = Ends::of(text);
    let kept = ends.is_long(limits).then(|| store.save(tool, text).map_or(Kept::Lost, Kept::Whole));
    let shown = show(ends, kept, limits);
    if let Some(meta) = &shown.meta {
        details["meta"] = meta.clone();
    }
    ToolOutput { details: Some(Json::from(details)), ..ToolOutput::text(shown.into_text()) }
}

/// What is shown of an output; `kept` is what became of its whole where it is long.
pub(crate) fn show(ends: Ends<'_>, kept: Option<Kept>, limits: &ShownLimits) -> Shown {
    let Some(kept) = kept else {
        let (text, has_cut_lines) = cut_lines(ends.head, limits.line_bytes);
        return Shown { text, notices: cut_line_notice(has_cut_lines, limits), meta: None };
    };
    let head = first_lines(ends.head, limits.head_bytes, limits.side_lines);
    let tail = last_lines(ends.tail, limits.tail_bytes, limits.side_lines);
    let head_lines = head.lines().count() as u64;
    let tail_lines = tail.lines().count() as u64;
    let shown_bytes = (head.len() + tail.len()) as u64;
    let (head, head_is_cut) = cut_lines(head, limits.line_bytes);
    let (tail, tail_is_cut) = cut_lines(tail, limits.line_bytes);
    let elided_lines = ends.total_lines.saturating_sub(head_lines + tail_lines);
    let elided_bytes = bytes(ends.total_bytes.saturating_sub(shown_bytes));
    let text = format!(
        "{}\n\n[… {} lines, {elided_bytes} left out …]\n\n{tail}",
        head.trim_end_matches('\n'),
        digits::grouped(elided_lines),
    );
    let mut notices = vec![format!(
        "Showing the first {} and the last {} of {} lines",
        digits::grouped(head_lines),
        digits::grouped(tail_lines),
        digits::grouped(ends.total_lines)
    )];
    notices.extend(cut_line_notice(head_is_cut || tail_is_cut, limits));
    notices.push(kept.notice());
    let mut truncation = json!({
        "totalLines": ends.total_lines,
        "totalBytes": ends.total_bytes,
        "shownBytes": shown_bytes,
    });
    if let Some(id) = kept.id() {
        truncation["artifactId"] = json!(id.0);
    }
    Shown { text, notices, meta: Some(json!({ "truncation": truncation })) }
}

fn cut_line_notice(has_cut_lines: bool, limits: &ShownLimits) -> Vec<String> {
    has_cut_lines
        .then(|| format!("Some lines truncated to {} bytes", limits.line_bytes))
        .into_iter()
        .collect()
}

/// The text with lines cut to `line_bytes`, and whether one was.
fn cut_lines(text: &str, line_bytes: usize) -> (String, bool) {
    if line_bytes == 0 || text.split('\n').all(|line| line.len() <= line_bytes) {
        return (text.to_owned(), false);
    }
    let lines: Vec<_> = text.split('\n').map(|line| cut_line(line, line_bytes)).collect();
    (lines.join("\n"), true)
}

/// A line, cut with `…` at a character boundary where it is longer than `line_bytes`.
pub(crate) fn cut_line(line: &str, line_bytes: usize) -> String {
    if line_bytes == 0 || line.len() <= line_bytes {
        line.to_owned()
    } else {
        format!("{}…", &line[..line.floor_char_boundary(line_bytes)])
    }
}

/// The start of a text: whole lines where one fits, else a piece of the first.
fn first_lines(text: &str, most_bytes: usize, most_lines: usize) -> &str {
    let within = &text[..text.floor_char_boundary(most_bytes)];
    let by_bytes = if within.len() == text.len() {
        text
    } else {
        within.rfind('\n').map_or(within, |end| &within[..=end])
    };
    let end = by_bytes.match_indices('\n').nth(most_lines.saturating_sub(1));
    end.map_or(by_bytes, |(end, _)| &by_bytes[..=end])
}

/// The end of a text: whole lines where one fits, else a piece of the last.
pub(crate) fn last_lines(text: &str, most_bytes: usize, most_lines: usize) -> &str {
    let within = &text[text.ceil_char_boundary(text.len().saturating_sub(most_bytes))..];
    let by_bytes = if within.len() == text.len() {
        text
    } else {
        let body = within.strip_suffix('\n').unwrap_or(within);
        body.find('\n').map_or(within, |end| &within[end + 1..])
    };
    let body = by_bytes.strip_suffix('\n').unwrap_or(by_bytes);
    let start = body.rmatch_indices('\n').nth(most_lines.saturating_sub(1));
    start.map_or(by_bytes, |(start, _)| &by_bytes[start + 1..])
}

/// An amount of bytes, in binary units: `512B`, `1.5KB`.
pub(crate) fn bytes(amount: u64) -> String {
    const STEP: f64 = 1024.0;
    if amount < 1024 {
        return format!("{amount}B");
    }
    let mut value = amount as f64 / STEP;
    let mut unit = "KB";
    for larger in ["MB", "GB"] {
        if value >= STEP {
            value /= STEP;
            unit = larger;
        }
    }
    format!("{value:.1}{unit}")
}
