//! Server-sent events: bytes in, payloads out.
//!
//! Pure and incremental: the result does not depend on where the bytes are split. Linear in the bytes. Two things go beyond the
//! format because servers do them: a line that is a bare JSON object counts as a payload, and a payload that the end of the
//! stream leaves without its blank line is still given.

use std::mem;

/// Longest line, or body, that is taken. A chunk of a reply has a few hundred bytes; a whole reply in one chunk is far below this too.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// A line, or body, without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a piece of the reply is longer than 16 MiB")]
pub(crate) struct LineTooLong;

/// Takes bytes and gives the payloads of complete events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    data: Option<String>,
    ends_with_cr: bool,
    /// A body that may be one JSON object, as far as it has come.
    whole: Option<Vec<u8>>,
}

impl Decoder {
    /// For a body that says that it is JSON: one object is one payload, anything else is events after all.
    pub(crate) fn of_json() -> Self {
        Self { whole: Some(Vec::new()), ..Self::default() }
    }

    /// Takes the next bytes and appends the payloads that they complete.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        payloads: &mut Vec<String>,
    ) -> Result<(), LineTooLong> {
        let Some(mut whole) = self.whole.take() else { return self.lines(bytes, payloads) };
        whole.extend_from_slice(bytes);
        match whole.trim_ascii_start().first() {
            None | Some(b'{') if whole.len() > MAX_LINE_BYTES => Err(LineTooLong),
            None | Some(b'{') => {
                self.whole = Some(whole);
                Ok(())
            }
            Some(_) => self.lines(&whole, payloads),
        }
    }

    fn lines(&mut self, bytes: &[u8], payloads: &mut Vec<String>) -> Result<(), LineTooLong> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            if self.line.len() + text.len() > MAX_LINE_BYTES {
                return Err(LineTooLong);
            }
            let is_rest_of_crlf = mem::take(&mut self.ends_with_cr) && piece == b"\n";
            if is_rest_of_crlf {
                continue;
            }
            self.line.extend_from_slice(text);
            if let Some(end) = end {
                self.ends_with_cr = end == b'\r';
                let line = mem::take(&mut self.line);
                self.end_line(&line, payloads);
            }
        }
        Ok(())
    }

    /// The stream has ended: gives what was still open.
    pub(crate) fn finish(mut self, payloads: &mut Vec<String>) {
        if let Some(whole) = self.whole.take().filter(|whole| !whole.trim_ascii().is_empty()) {
            payloads.push(String::from_utf8_lossy(&whole).into_owned());
        }
        let line = mem::take(&mut self.line);
        self.end_line(&line, payloads);
        payloads.extend(self.data);
    }

    fn end_line(&mut self, line: &[u8], payloads: &mut Vec<String>) {
        if line.is_empty() {
            payloads.extend(self.data.take());
            return;
        }
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if line.first() == Some(&b'{') {
            payloads.extend(self.data.take());
            payloads.push(String::from_utf8_lossy(line).into_owned());
            return;
        }
        let Some(value) = line.strip_prefix(b"data") else { return };
        let value = match value {
            [] => value,
            [b':', b' ', rest @ ..] | [b':', rest @ ..] => rest,
            _ => return,
        };
        let value = String::from_utf8_lossy(value);
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(&value);
            }
            None => self.data = Some(value.into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;

    fn decode(parts: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut payloads = Vec::new();
        for part in parts {
            decoder.push(part, &mut payloads).unwrap();
        }
        decoder.finish(&mut payloads);
        payloads
    }

    #[test]
    fn payloads_do_not_depend_on_where_the_bytes_are_split() {
        let bytes = "\u{feff}: hi\r\ndata: {\"a\":\"ü\"}\r\n\r\nevent: x\ndata:1\ndata: 2\n\ndata\n\n{\"error\":1}\ndata: [DONE]"
            .as_bytes();
        let expected = ["{\"a\":\"ü\"}", "1\n2", "", "{\"error\":1}", "[DONE]"];
        for at in 0..bytes.len() {
            assert_eq!(decode(&[&bytes[..at], &bytes[at..]]), expected, "split at byte {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), expected);
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        assert_eq!(decode(&[b"data: a\r\rdata: b\r", b"\ndata: c\n\n"]), ["a", "b\nc"]);
    }

    #[test]
    fn a_line_that_never_ends_is_an_error() {
        let mut decoder = Decoder::default();
        let mut payloads = Vec::new();
        let megabyte = vec![b'x'; 1 << 20];
        let results: Vec<_> = (0..17).map(|_| decoder.push(&megabyte, &mut payloads)).collect();
        assert!(results[15].is_ok() && results[16].is_err());
    }
}
