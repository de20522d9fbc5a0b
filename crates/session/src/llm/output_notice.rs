//! What the model is told of output that was cut: which lines it sees, and where the rest lies.
//!
//! The facts come from the `meta` of a stored execution. Members that are missing or of another type say nothing.

use std::fmt::Write;

use serde_json::Value;

use crate::digits::grouped;
use crate::json::Json;

/// The notice with the blank line before it; empty when nothing was cut.
pub(super) fn render(meta: Option<&Json>) -> String {
    let Some(meta) = meta.map(Json::value) else { return String::new() };
    let truncation = &meta["truncation"];
    let limits = &meta["limits"];
    let parts: Vec<String> = [
        shown(truncation),
        artifact_error(meta),
        limit(&limits["matchLimit"], "matches"),
        limit(&limits["resultLimit"], "results"),
        limit(&limits["headLimit"], "results"),
        cut_lines(&limits["columnTruncated"], truncation),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut notice = String::new();
    if !parts.is_empty() {
        let _ = write!(notice, "\n\n[{}]", parts.join(". "));
    }
    if let Some(diagnostics) = diagnostics(&meta["diagnostics"]) {
        let _ = write!(notice, "\n\n{diagnostics}");
    }
    notice
}

fn shown(truncation: &Value) -> Option<String> {
    let total = count(truncation, "totalLines")?;
    let lines = grouped(total);
    let is_partial = is_partial_line(truncation);
    let mut text = match truncation["direction"].as_str() {
        Some("middle") => middle(truncation, &lines),
        _ if is_partial => partial_line(truncation, &lines),
        _ => edge(truncation, &lines),
    };
    if let Some(offset) = count(truncation, "nextOffset").filter(|_| !is_partial) {
        let _ = write!(text, ". Use :{offset} to continue");
    }
    if let Some(artifact) = artifact(truncation) {
        let _ = write!(text, ". {artifact}");
    }
    Some(text)
}

fn middle(truncation: &Value, lines: &str) -> String {
    let elided_bytes = count(truncation, "elidedBytes").unwrap_or(0);
    let ranges = (range(&truncation["headRange"]), range(&truncation["tailRange"]));
    if let (Some(head), Some(tail)) = ranges {
        let elided = count(truncation, "elidedLines").unwrap_or(0);
        let noun = if elided == 1 { "line" } else { "lines" };
        let (elided, bytes) = (grouped(elided), size(elided_bytes));
        format!(
            "Showing lines {head} and {tail} of {lines}; {elided} middle {noun} ({bytes}) elided"
        )
    } else if elided_bytes > 0 {
        let noun = if lines == "1" { "line" } else { "lines" };
        format!("Showing head and tail bytes of {lines} {noun}; {} elided", size(elided_bytes))
    } else {
        let output = grouped(count(truncation, "outputLines").unwrap_or(0));
        format!("Showing {output} of {lines} lines; middle elided")
    }
}

fn partial_line(truncation: &Value, lines: &str) -> String {
    let number = count(&truncation["shownRange"], "end").map_or_else(|| lines.to_owned(), grouped);
    let shown = size(count(truncation, "outputBytes").unwrap_or(0));
    let all = size(count(truncation, "totalBytes").unwrap_or(0));
    format!("Showing line {number} (partial, {shown} of {all}) of {lines}")
}

fn edge(truncation: &Value, lines: &str) -> String {
    let mut text = if let Some(range) = range(&truncation["shownRange"]) {
        format!("Showing lines {range} of {lines}")
    } else {
        let output = grouped(count(truncation, "outputLines").unwrap_or(0));
        format!("Showing {output} of {lines} lines")
    };
    if truncation["truncatedBy"] == "bytes" {
        let limit = count(truncation, "maxBytes").or_else(|| count(truncation, "outputBytes"));
        let _ = write!(text, " ({} limit)", size(limit.unwrap_or(0)));
    }
    text
}

/// `partialLine` is a flag in some files and an object in others.
fn is_partial_line(truncation: &Value) -> bool {
    !matches!(truncation["partialLine"], Value::Null | Value::Bool(false))
}

fn artifact_error(meta: &Value) -> Option<String> {
    let error = meta["artifactError"].as_str().or(meta["truncation"]["artifactError"].as_str())?;
    Some(format!("Full output was not saved completely (artifact {error} failed)"))
}

fn limit(limit: &Value, noun: &str) -> Option<String> {
    let reached = grouped(count(limit, "reached")?);
    let more = count(limit, "suggestion")?;
    Some(format!("{reached} {noun} limit reached. Use limit={more} for more"))
}

fn cut_lines(limit: &Value, truncation: &Value) -> Option<String> {
    let most = grouped(count(limit, "maxColumn")?);
    let unit = limit["unit"].as_str().unwrap_or("chars");
    let mut text = format!("Some lines truncated to {most} {unit}");
    // Said once: the truncation names the artifact where there is one.
    if truncation.is_null()
        && let Some(artifact) = artifact(limit)
    {
        let _ = write!(text, ". {artifact}");
    }
    Some(text)
}

fn artifact(facts: &Value) -> Option<String> {
    let id = facts["artifactId"].as_str()?;
    Some(format!("Read artifact://{id} for full output"))
}

fn diagnostics(diagnostics: &Value) -> Option<String> {
    let summary = diagnostics["summary"].as_str()?;
    let messages = diagnostics["messages"].as_array()?.iter().filter_map(Value::as_str);
    let messages = messages.collect::<Vec<_>>().join("\n");
    Some(format!("LSP Diagnostics ({summary}):\n{messages}"))
}

fn range(range: &Value) -> Option<String> {
    let (start, end) = (count(range, "start")?, count(range, "end")?);
    (start >= 1 && end >= start).then(|| format!("{start}-{end}"))
}

fn count(facts: &Value, key: &str) -> Option<u64> {
    facts[key].as_u64()
}

/// Bytes in binary units.
fn size(bytes: u64) -> String {
    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;
    const GB: u64 = 1 << 30;
    let in_units = |unit: u64, name: &str| format!("{:.1}{name}", bytes as f64 / unit as f64);
    match bytes {
        0..KB => format!("{bytes}B"),
        KB..MB => in_units(KB, "KB"),
        MB..GB => in_units(MB, "MB"),
        GB.. => in_units(GB, "GB"),
    }
}
