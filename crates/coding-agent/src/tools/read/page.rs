//! What one read shows: rows and what is said below them.

use std::fmt::Write as _;
use std::io;

use longhand_session::digits;

use crate::tools::failure::Failure;
use crate::tools::read::lines::{self, Line};

/// Most bytes of text that one call shows.
const MAX_SHOWN_BYTES: usize = 50 * 1024;

/// Characters shown of a line that is too wide to be shown whole.
const WINDOW_CHARACTERS: u64 = 4000;

/// What a call shows.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) notices: Vec<String>,
    /// The lines shown, such as `1-300`; `None` where no whole line is.
    pub(super) range: Option<String>,
    /// Whether less is shown than was asked for.
    pub(super) is_truncated: bool,
}

/// What a call wants of the lines after those it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It named no end: a page that stops before the end of the source is cut.
    AllThatFollows,
    /// It named the lines it wants.
    NoMore,
}

/// Lines on their way into a page.
pub(super) struct PageOfLines {
    /// Bytes shown of each line.
    pub(super) line_bytes: usize,
    is_raw: bool,
    text: String,
    shown: Vec<(u64, u64)>,
    first_cut: Option<u64>,
    has_invalid: bool,
    is_full: bool,
}

impl PageOfLines {
    pub(super) fn new(line_bytes: usize, is_raw: bool) -> Self {
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
    pub(super) fn add(&mut self, line: &Line) -> bool {
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

    /// The page of a source of `total` lines.
    pub(super) fn finish(self, wanted: Wanted, total: u64) -> Page {
        let first = self.shown.first().map_or(0, |(from, _)| *from);
        let last = self.shown.last().map_or(0, |(_, to)| *to);
        let is_whole = self.shown.len() <= 1 && first <= 1 && last == total;
        let is_short = match wanted {
            Wanted::AllThatFollows => last < total,
            Wanted::NoMore => self.is_full,
        };
        let mut notices = Vec::new();
        if !is_whole {
            let shown = ranges_text(&self.shown, digits::grouped);
            notices.push(format!("Showing lines {shown} of {}", digits::grouped(total)));
            if last < total {
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
            is_truncated: is_short || self.first_cut.is_some(),
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
pub(super) fn window_page(
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
            digits::grouped(total),
            digits::grouped(skip)
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
        range: (skip == 0 && end == total).then(|| format!("{line}-{line}")),
        is_truncated: end < total || skip > 0,
    }))
}
