//! Reads lines out of a source of any length in bounded memory: once over it to measure it, once more for the lines.

use std::io::{self, Read};

use crate::tools::line_style::BOM;
use crate::tools::read_log::{Fingerprint, Fingerprinter};

/// Bytes at the start in which a NUL makes a file binary.
const SNIFFED_BYTES: u64 = 8 * 1024;

const CHUNK_BYTES: usize = 64 * 1024;

/// What one pass over a source tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) bytes: u64,
    /// Lines with an ending, and an unended last one.
    pub(super) lines: u64,
    pub(super) is_binary: bool,
    pub(super) print: Fingerprint,
}

pub(super) fn measure(mut source: impl Read) -> io::Result<Measure> {
    let mut print = Fingerprinter::default();
    let (mut bytes, mut lines, mut is_binary, mut last) = (0_u64, 0_u64, false, b'\n');
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let length = read_some(&mut source, &mut buffer)?;
        let Some(&chunk_end) = buffer[..length].last() else { break };
        let chunk = &buffer[..length];
        let sniffed = usize::try_from(SNIFFED_BYTES.saturating_sub(bytes)).unwrap_or(length);
        is_binary |= chunk[..sniffed.min(length)].contains(&0);
        lines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        bytes += length as u64;
        last = chunk_end;
        print.push(chunk);
    }
    lines += u64::from(last != b'\n');
    Ok(Measure { bytes, lines, is_binary, print: print.finish() })
}

/// A line, or its start where it is longer than was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Without its ending, and without a byte order mark.
    pub(super) text: String,
    pub(super) is_cut: bool,
    pub(super) was_invalid: bool,
}

/// Gives the lines of `ranges` (rising, apart) to `each` until that says no. Of each line at most `line_bytes` are kept.
pub(super) fn each_line(
    source: impl Read,
    ranges: &[(u64, u64)],
    line_bytes: usize,
    mut each: impl FnMut(Line) -> bool,
) -> io::Result<()> {
    // One byte more tells whether the line goes on, and a possible `\r` of the ending.
    let room = line_bytes.saturating_add(2);
    let mut ranges = ranges.iter().copied().peekable();
    let mut kept = Vec::new();
    each_piece(source, |number, piece, is_end| {
        while ranges.next_if(|(_, to)| *to < number).is_some() {}
        let Some(&(from, _)) = ranges.peek() else { return false };
        if number < from {
            return true;
        }
        let fits = piece.len().min(room - kept.len());
        kept.extend_from_slice(&piece[..fits]);
        if !is_end {
            return true;
        }
        let more = each(line(number, &kept, line_bytes));
        kept.clear();
        more
    })
}

fn line(number: u64, kept: &[u8], line_bytes: usize) -> Line {
    let content = if number == 1 { kept.strip_prefix(BOM).unwrap_or(kept) } else { kept };
    let content = content.strip_suffix(b"\r").unwrap_or(content);
    let is_cut = content.len() > line_bytes;
    let content = if is_cut { whole_characters(content, line_bytes) } else { content };
    let text = String::from_utf8_lossy(content);
    let was_invalid = matches!(text, std::borrow::Cow::Owned(_));
    Line { number, text: text.into_owned(), is_cut, was_invalid }
}

/// At most so many bytes, cut where no character is torn.
fn whole_characters(content: &[u8], most_bytes: usize) -> &[u8] {
    let mut end = most_bytes.min(content.len());
    while end > 0 && content.get(end).is_some_and(|byte| is_continuation(*byte)) {
        end -= 1;
    }
    &content[..end]
}

/// A stretch of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) text: String,
    /// Characters of the whole line.
    pub(super) line_characters: u64,
}

/// `take` characters of a line after its first `skip`.
pub(super) fn window(source: impl Read, line: u64, skip: u64, take: u64) -> io::Result<Window> {
    let mut kept = Vec::new();
    let mut characters = 0_u64;
    each_piece(source, |number, piece, is_end| {
        if number == line {
            for &byte in piece {
                characters += u64::from(!is_continuation(byte));
                if characters > skip && characters <= skip.saturating_add(take) {
                    kept.push(byte);
                }
            }
        }
        !(number == line && is_end)
    })?;
    let text = String::from_utf8_lossy(&kept).trim_end_matches('\r').to_owned();
    Ok(Window { text, line_characters: characters })
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Gives the pieces of all lines to `each` (number from 1, piece without line feed, whether the line ends with it) until it says no.
fn each_piece(
    mut source: impl Read,
    mut each: impl FnMut(u64, &[u8], bool) -> bool,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let (mut number, mut has_open_line) = (1, false);
    loop {
        let length = read_some(&mut source, &mut buffer)?;
        if length == 0 {
            break;
        }
        for piece in buffer[..length].split_inclusive(|byte| *byte == b'\n') {
            let body = piece.strip_suffix(b"\n");
            if !each(number, body.unwrap_or(piece), body.is_some()) {
                return Ok(());
            }
            has_open_line = body.is_none();
            number += u64::from(body.is_some());
        }
    }
    if has_open_line {
        each(number, b"", true);
    }
    Ok(())
}

fn read_some(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
