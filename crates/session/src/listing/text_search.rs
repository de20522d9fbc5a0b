//! Searching what was said in whole session files, line by line and without an index.
//!
//! A line is parsed only if its bytes hold the rarest word; a gigabyte of sessions takes about as long as reading it. Whoever
//! searches often keeps sessions in a database, which has an index.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use memchr::memmem;

use super::spoken;
use crate::entry::{Entry, EntryKind};
use crate::ids::EntryId;

/// Longest line that is looked into.
const MAX_LINE_BYTES: usize = 32 << 20;

/// Characters shown around what was found.
const AROUND_CHARS: usize = 60;

/// A place where all words occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The entry that says it.
    pub entry: EntryId,
    /// Some words around the first find, on one line.
    pub text: String,
}

/// Looks through a session file for messages, titles and summaries that contain all words of a query, in any case. Every find
/// goes to `visit`, which ends the search by breaking.
///
/// # Errors
/// The file cannot be read.
pub fn search_text(
    file: &Path,
    query: &str,
    mut visit: impl FnMut(Passage) -> ControlFlow<()>,
) -> io::Result<()> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let Some(longest) = words.iter().max_by_key(|word| word.len()) else { return Ok(()) };
    let mut reader = BufReader::with_capacity(256 << 10, File::open(file)?);
    let mut line = Vec::new();
    while next_line(&mut reader, &mut line)? {
        if may_contain(&line, longest)
            && let Some(passage) = passage(&line, &words)
            && visit(passage).is_break()
        {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads a line; one that is too long is left empty.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut is_too_long = false;
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(!line.is_empty() || is_too_long);
        }
        let end = memchr::memchr(b'\n', buffer);
        let taken = end.map_or(buffer.len(), |at| at + 1);
        is_too_long |= line.len() + taken > MAX_LINE_BYTES;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(&buffer[..taken]);
        }
        reader.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// A quick look at the bytes. Words beyond ASCII may be written with escapes, or in another case.
fn may_contain(line: &[u8], word: &str) -> bool {
    if !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return true;
    }
    if memmem::find(line, word.as_bytes()).is_some() {
        return true;
    }
    let first = word.as_bytes()[0];
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), line).any(|at| {
        line.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    })
}

fn passage(line: &[u8], words: &[&str]) -> Option<Passage> {
    let entry: Entry = serde_json::from_slice(line).ok()?;
    let text = said(&entry)?;
    let lower = text.to_lowercase();
    let first = words.iter().map(|word| lower.find(word)).collect::<Option<Vec<_>>>()?;
    let at = first.into_iter().min()?;
    Some(Passage { text: around(&text, &lower, at), entry: entry.id })
}

fn said(entry: &Entry) -> Option<String> {
    match &entry.kind {
        EntryKind::Message(stored) => spoken(&stored.message),
        EntryKind::Compaction(compaction) => Some(compaction.summary.clone()),
        EntryKind::BranchSummary(summary) => Some(summary.summary.clone()),
        EntryKind::TitleChange(change) => Some(change.title.clone()),
        _ => None,
    }
}

/// The words around a place of the lower-case text.
fn around(text: &str, lower: &str, at: usize) -> String {
    // Lower case may be longer than the text; counted in characters the places are the same, or nearly so.
    let at = lower[..at].chars().count();
    let from = at.saturating_sub(AROUND_CHARS);
    let part: String = text.chars().skip(from).take(2 * AROUND_CHARS).collect();
    let words: Vec<&str> = part.split_whitespace().collect();
    let lead = if from > 0 { "…" } else { "" };
    let trail = if text.chars().nth(from + 2 * AROUND_CHARS).is_some() { "…" } else { "" };
    format!("{lead}{}{trail}", words.join(" "))
}
