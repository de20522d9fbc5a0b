//! The records of a foreign transcript: JSON objects, one a line, read one line at a time.
//!
//! A byte order mark is passed over, blank lines are none, bytes that are not UTF-8 become U+FFFD. What is no object is counted and
//! skipped; objects that grew together on one line are all kept. In memory is one line, and never more than [`MAX_LINE_BYTES`] of it.

use std::io::{self, BufRead, Read};

use serde_json::value::RawValue;

/// A longer line is skipped as damaged: no record of a conversation is as long, and a file that is none may be one line.
const MAX_LINE_BYTES: u64 = 256 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads a transcript.
pub(super) struct Records<R> {
    reader: R,
    bytes: Vec<u8>,
    text: String,
    /// Number of the line that was read last, from 1.
    number: u64,
    /// Length of the lines so far.
    read_bytes: u64,
}

/// One line that is not blank.
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The objects on it.
    pub(super) objects: Vec<&'a RawValue>,
    /// Whether it holds anything else.
    pub(super) is_damaged: bool,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), text: String::new(), number: 0, read_bytes: 0 }
    }

    /// Length of the lines so far, in bytes.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    /// What the reader says.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.bytes.clear();
            let mut limited = self.reader.by_ref().take(MAX_LINE_BYTES);
            let mut read_bytes = limited.read_until(b'\n', &mut self.bytes)? as u64;
            if read_bytes == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_too_long = read_bytes == MAX_LINE_BYTES && !self.bytes.ends_with(b"\n");
            if is_too_long {
                self.bytes = Vec::new();
                read_bytes += skip_line(&mut self.reader)?;
            }
            let is_first = self.read_bytes == 0;
            self.read_bytes += read_bytes;
            let content = match self.bytes.strip_prefix(BOM) {
                Some(rest) if is_first => rest,
                _ => &self.bytes,
            };
            if !is_too_long && content.trim_ascii().is_empty() {
                continue;
            }
            self.text.clear();
            self.text.push_str(&String::from_utf8_lossy(content));
            return Ok(Some(line(&self.text, self.number)));
        }
    }
}

fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let used = end.map_or(buffer.len(), |at| at + 1);
        reader.consume(used);
        skipped += used as u64;
        if end.is_some() || used == 0 {
            return Ok(skipped);
        }
    }
}

fn line(text: &str, number: u64) -> Line<'_> {
    let mut line = Line { number, objects: Vec::new(), is_damaged: text.is_empty() };
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        match value {
            Ok(value) if value.get().starts_with('{') => line.objects.push(value),
            Ok(_) | Err(_) => line.is_damaged = true,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, texts of the objects, and whether there was anything else, of each line.
    fn read(bytes: &[u8]) -> Vec<(u64, Vec<String>, bool)> {
        let mut records = Records::new(bytes);
        let mut lines = Vec::new();
        while let Some(line) = records.next().unwrap() {
            let objects = line.objects.iter().map(|object| object.get().to_owned()).collect();
            lines.push((line.number, objects, line.is_damaged));
        }
        assert_eq!(records.read_bytes(), bytes.len() as u64);
        lines
    }

    #[test]
    fn a_line_costs_no_more_than_itself() {
        let whole = |number, text: &str| (number, vec![text.to_owned()], false);
        let damaged = |number| (number, Vec::new(), true);
        for (bytes, expected) in [
            (&b""[..], vec![]),
            (b"\n  \r\n{}\r\n", vec![whole(3, "{}")]),
            (b"\xef\xbb\xbf{\"a\":1}", vec![whole(1, "{\"a\":1}")]),
            (b"[1]\nnull\n{\"a\":\n{}", vec![damaged(1), damaged(2), damaged(3), whole(4, "{}")]),
            (b"{}{}\n", vec![(1, vec!["{}".into(), "{}".into()], false)]),
            (b"{}\0\0\n", vec![(1, vec!["{}".into()], true)]),
            (b"\0\0\n{}\n", vec![damaged(1), whole(2, "{}")]),
            (b"{\"a\":\"\xff\"}", vec![whole(1, "{\"a\":\"\u{fffd}\"}")]),
        ] {
            assert_eq!(read(bytes), expected, "{}", bytes.escape_ascii());
        }
    }
}
