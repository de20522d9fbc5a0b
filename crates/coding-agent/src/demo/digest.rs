//! Summaries by the demo: what was asked and done in the conversation that it was given, under the headings that the prompts
//! ask for. Bounded in size, so that a digest of digests does not grow.

use std::fmt::Write;

use longhand_agent::Request;
use longhand_agent::request::Purpose;
use longhand_session::Message;

use super::transcript::Transcript;

/// Longest line that is taken over, in characters.
const LINE_CHARS: usize = 160;

/// How many goals are carried on, and how many things done.
const GOALS: usize = 6;
const DONE: usize = 16;

/// Said in every digest: whoever reads it should not take it for a model's work.
const ORIGIN: &str =
    "This digest was put together by the demo provider from the text alone; no model wrote it.";

/// The answer to a request that is not a turn.
pub(super) fn digest(request: &Request) -> String {
    let prompt = match request.messages.last().map(|message| &**message) {
        Some(Message::User(message) | Message::Developer(message)) => message.content.text(),
        _ => String::new(),
    };
    let history = &request.messages[..request.messages.len().saturating_sub(1)];
    let transcript = between(&prompt, "<conversation>", "</conversation>")
        .map_or_else(|| Transcript::of_messages(history), Transcript::of_text);
    let previous = between(&prompt, "<previous-summary>", "</previous-summary>").unwrap_or("");
    match request.options.purpose {
        Purpose::CompactionTurnPrefix => turn_prefix(&transcript),
        Purpose::CompactionShortSummary => short(&transcript),
        _ => summary(&transcript, previous),
    }
}

fn summary(transcript: &Transcript, previous: &str) -> String {
    let goals =
        carried(previous, "## Goal", transcript.requests.iter().map(|text| one_line(text)), GOALS);
    let done = carried(
        previous,
        "### Done",
        transcript.calls.iter().map(|call| format!("`{}`", one_line(call))),
        DONE,
    );
    let mut out = String::new();
    section(&mut out, "## Goal", "- ", &goals);
    if !done.is_empty() {
        out.push_str("## Progress\n\n");
        section(&mut out, "### Done", "- [x] ", &done);
    }
    let next = match (transcript.is_open, transcript.requests.last()) {
        (true, Some(request)) => format!("Open, and not dealt with yet: “{}”", one_line(request)),
        _ => "Wait for the next request".into(),
    };
    section(&mut out, "## Next Steps", "1. ", &[next]);
    let mut facts: Vec<String> = transcript
        .replies
        .last()
        .map(|text| format!("Last reply: {}", one_line(text)))
        .into_iter()
        .collect();
    facts.push(ORIGIN.into());
    section(&mut out, "## Critical Context", "- ", &facts);
    out.trim_end().into()
}

fn turn_prefix(transcript: &Transcript) -> String {
    let mut out = String::new();
    let request = transcript
        .requests
        .first()
        .map_or_else(|| "Not in this part.".to_owned(), |text| format!("“{}”", one_line(text)));
    section(&mut out, "## Original Request", "", &[request]);
    let progress =
        carried("", "", transcript.calls.iter().map(|call| format!("`{}`", one_line(call))), DONE);
    section(&mut out, "## Early Progress", "- ", &progress);
    let context = format!("{} tool results came back in this part. {ORIGIN}", transcript.results);
    section(&mut out, "## Context for Suffix", "- ", &[context]);
    out.trim_end().into()
}

fn short(transcript: &Transcript) -> String {
    let newest = transcript
        .requests
        .last()
        .map_or_else(String::new, |text| format!(", the newest of them “{}”", one_line(text)));
    format!(
        "I worked through {} in the demo{newest}. I made {} and told what came back.",
        counted(transcript.requests.len(), "request"),
        counted(transcript.calls.len(), "tool call"),
    )
}

/// Lines of a section of the summary before, then new ones, each once, the newest `most` of them.
fn carried(
    previous: &str,
    heading: &str,
    new: impl Iterator<Item = String>,
    most: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in section_lines(previous, heading).map(str::to_owned).chain(new) {
        lines.retain(|earlier| *earlier != line);
        lines.push(line);
    }
    lines.split_off(lines.len().saturating_sub(most))
}

/// The items below a heading, without their marks.
fn section_lines<'a>(summary: &'a str, heading: &'a str) -> impl Iterator<Item = &'a str> {
    let below = summary.lines().skip_while(move |line| line.trim() != heading).skip(1);
    let items = below.take_while(|line| !line.starts_with('#'));
    items.filter_map(|line| line.strip_prefix("- [x] ").or_else(|| line.strip_prefix("- ")))
}

fn section(out: &mut String, heading: &str, mark: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{heading}");
    for line in lines {
        let _ = writeln!(out, "{mark}{line}");
    }
    out.push('\n');
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    let length = text[start..].find(close)?;
    Some(&text[start..start + length])
}

/// The first line with something in it, cut to a bounded length.
pub(super) fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.into(),
    }
}

/// `1 line`, `2 lines`.
pub(super) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
