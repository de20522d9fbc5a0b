//! Turns what a program wrote for a terminal into plain text, piece by piece.
//!
//! Control sequences are dropped, a carriage return or a backspace overwrites as it would on a screen, NUL and invalid UTF-8 become
//! replacement characters. Holds one line at most, and of a very long one only its end.

use std::mem;

/// A line longer than this is passed on in pieces; what was passed on can no longer be overwritten.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// Where in a control sequence the input stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte: one more follows.
    Charset,
    /// In `ESC [ …`, until a final byte.
    Control,
    /// In a string such as a title, until BEL or ESC `\`.
    Payload,
    /// After ESC inside such a string.
    PayloadEscape,
}

/// The filter.
#[derive(Debug, Default)]
pub(super) struct PlainText {
    state: State,
    line: String,
    /// A carriage return came last: a line feed ends the line, anything else overwrites it.
    returned: bool,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl PlainText {
    /// Takes a piece, cut anywhere, and appends the text that is final to `out`.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut String) {
        let mut bytes = mem::take(&mut self.partial);
        bytes.extend_from_slice(piece);
        let mut rest = bytes.as_slice();
        loop {
            match str::from_utf8(rest) {
                Ok(text) => return self.push_text(text, out),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.push_text(&String::from_utf8_lossy(valid), out);
                    let Some(invalid) = error.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.push_char(char::REPLACEMENT_CHARACTER, out);
                    rest = &after[invalid..];
                }
            }
        }
    }

    /// Passes on what is held back, at the end of the input.
    pub(super) fn finish(&mut self, out: &mut String) {
        if !mem::take(&mut self.partial).is_empty() {
            self.push_char(char::REPLACEMENT_CHARACTER, out);
        }
        out.push_str(&mem::take(&mut self.line));
    }

    /// The unfinished line, as a screen would show it now.
    pub(super) fn held(&self) -> &str {
        &self.line
    }

    fn push_text(&mut self, mut text: &str, out: &mut String) {
        while let Some(c) = text.chars().next() {
            // Runs without control characters, by far the most of all output, are passed on as they are.
            let run = text.find(|c: char| c.is_control()).unwrap_or(text.len());
            if self.state == State::Text && run > 0 {
                self.hold(&text[..run], out);
                text = &text[run..];
            } else {
                self.push_char(c, out);
                text = &text[c.len_utf8()..];
            }
        }
    }

    fn push_char(&mut self, c: char, out: &mut String) {
        self.state = match (self.state, c) {
            (State::Payload | State::PayloadEscape, '\x1b') => State::PayloadEscape,
            (_, '\x1b') => State::Escape,
            // A line break inside of a broken sequence ends it, so that no text is swallowed for ever.
            (State::Text, _) | (_, '\n') => {
                self.put(c, out);
                State::Text
            }
            (State::Escape, '[') | (State::Control, '\x20'..='\x3f') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Payload,
            (State::Escape, ' '..='/') => State::Charset,
            (State::Payload, '\x07')
            | (State::PayloadEscape, '\\')
            | (State::Escape | State::Charset | State::Control, _) => State::Text,
            (State::Payload | State::PayloadEscape, _) => State::Payload,
        };
    }

    fn put(&mut self, c: char, out: &mut String) {
        match c {
            '\n' => {
                out.push_str(&self.line);
                out.push('\n');
                self.line.clear();
                self.returned = false;
                return;
            }
            '\r' => {
                self.returned = true;
                return;
            }
            '\x08' => {
                self.line.pop();
                return;
            }
            _ => {}
        }
        match c {
            '\t' => self.hold("\t", out),
            '\0' => self.hold("\u{fffd}", out),
            c if c.is_control() => {}
            c => self.hold(c.encode_utf8(&mut [0; 4]), out),
        }
    }

    /// Appends plain text to the line.
    fn hold(&mut self, text: &str, out: &mut String) {
        if mem::take(&mut self.returned) {
            self.line.clear();
        }
        self.line.push_str(text);
        if self.line.len() >= MAX_HELD_BYTES {
            out.push_str(&self.line);
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pieces: &[&[u8]]) -> String {
        let (mut filter, mut out) = (PlainText::default(), String::new());
        for piece in pieces {
            filter.push(piece, &mut out);
        }
        filter.finish(&mut out);
        out
    }

    #[test]
    fn text_reads_as_a_screen_would_show_it() {
        let rows: &[(&[u8], &str)] = &[
            (b"a\x1b[31;1mb\x1b[0mc", "abc"),
            (b"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", "xy"),
            (b"\x1b(Bx\x1b=y\x1b7z", "xyz"),
            (b"one\r\ntwo\r\n", "one\ntwo\n"),
            (b"10%\r20%\rdone\n", "done\n"),
            (b"x\x08y\x07\x0b", "y"),
            (b"a\0b", "a\u{fffd}b"),
            (b"a\xffb\xc3", "a\u{fffd}b\u{fffd}"),
            (b"\x1b[12\nnext", "\nnext"),
            (b"a\x1b]never ended\nnext", "a\nnext"),
            (b"\xc2\x9b31mx", "31mx"),
        ];
        for (input, expected) in rows {
            assert_eq!(plain(&[input]), *expected, "{input:?}");
        }
    }

    #[test]
    fn a_cut_anywhere_gives_the_same_text() {
        let input = "a\x1b[31mé\x1b]0;t\x1b\\…\r\nx\ry\n".as_bytes();
        let whole = plain(&[input]);
        for at in 0..input.len() {
            assert_eq!(plain(&[&input[..at], &input[at..]]), whole, "cut at {at}");
        }
    }

    #[test]
    fn a_line_without_end_is_passed_on() {
        let (mut filter, mut out) = (PlainText::default(), String::new());
        filter.push(&vec![b'x'; 1_000_000], &mut out);
        assert!(filter.held().len() < MAX_HELD_BYTES);
        filter.finish(&mut out);
        assert_eq!(out.len(), 1_000_000);
    }
}
