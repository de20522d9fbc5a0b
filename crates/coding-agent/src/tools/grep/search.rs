//! Searches one file at a time with ripgrep's engine, and keeps the rows to show.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use crate::tools::failure::Failure;

/// Bytes of a file that are searched.
pub(super) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes of a line that are shown: one wide line must not push all others out.
const MAX_LINE_BYTES: usize = 768;

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// `*N:match` and ` N:context`, with `--` where lines were left out between context.
    pub(super) rows: String,
    pub(super) matches: u64,
    /// How many of the matches are among the rows.
    pub(super) shown: u64,
}

pub(super) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    most_shown: usize,
}

impl Search {
    pub(super) fn new(
        pattern: &str,
        is_case_sensitive: bool,
        is_multiline: bool,
        context_lines: usize,
        most_shown: usize,
    ) -> Result<Self, Failure> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(!is_case_sensitive).multi_line(true).crlf(true);
        // With a terminator set a match never spans lines; the order of these calls matters.
        builder.line_terminator(if is_multiline { None } else { Some(b'\n') });
        let matcher =
            builder.build(pattern).map_err(|error| invalid(pattern, &error.to_string()))?;
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .multi_line(is_multiline)
            .before_context(context_lines)
            .after_context(context_lines)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        Ok(Self { matcher, searcher, most_shown })
    }

    /// Searches a file. A link or a pipe has no matches: the one may lead out of the workspace, the other may keep its reader waiting
    /// for ever.
    pub(super) fn file(&mut self, path: &Path) -> io::Result<Found> {
        if !path.symlink_metadata()?.is_file() {
            return Ok(Found::default());
        }
        let file = File::open(path)?;
        let mut rows =
            Rows { found: Found::default(), most_shown: self.most_shown as u64, is_binary: false };
        self.searcher.search_reader(&self.matcher, file.take(MAX_FILE_BYTES), &mut rows)?;
        Ok(if rows.is_binary { Found::default() } else { rows.found })
    }
}

/// A pattern that cannot be searched for, with where it is wrong and what would search for its text.
fn invalid(pattern: &str, cause: &str) -> Failure {
    let mut text = format!("the pattern is invalid: {}", cause.trim());
    if pattern.contains("\\n") || pattern.contains('\n') {
        text.push_str("\nTo match across lines set `multiline`.");
    } else {
        let _ = write!(text, "\nTo search for this very text: {}", regex::escape(pattern));
    }
    Failure(text)
}

/// Takes what the searcher finds.
struct Rows {
    found: Found,
    most_shown: u64,
    is_binary: bool,
}

impl Rows {
    fn is_full(&self) -> bool {
        self.found.shown >= self.most_shown
    }

    fn push(&mut self, mark: char, number: u64, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line =
            crate::tools::shown::cut_line(line.trim_end_matches(['\r', '\n']), MAX_LINE_BYTES);
        let _ = writeln!(self.found.rows, "{mark}{number}:{line}");
    }
}

impl Sink for &mut Rows {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found.matches += 1;
        if self.is_full() {
            return Ok(true);
        }
        self.found.shown += 1;
        for (number, line) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
            self.push('*', number, line);
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        // Context before a match that is no longer shown would stand alone.
        if !self.is_full() {
            self.push(' ', line.line_number().unwrap_or(0), line.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if !self.is_full() {
            self.found.rows.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, io::Error> {
        self.is_binary = true;
        Ok(false)
    }
}
