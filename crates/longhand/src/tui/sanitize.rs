//! Foreign text made fit for the screen: no control sequence of a model, a tool or a file reaches the terminal.
//!
//! Only what is drawn passes here; what the session stores is never changed.

use std::borrow::Cow;

use super::width;

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// The text without escape sequences and controls, tabs as blanks. Line ends stay, and of a line that was drawn over with `\r` the last
/// version stays. Text that is clean already is borrowed.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    if raw.chars().all(|c| c == '\n' || !is_control(c)) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    for (i, line) in raw.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        push_line(&mut out, line);
    }
    Cow::Owned(out)
}

/// As [`text`], on one line: line ends become blanks.
pub(crate) fn one_line(raw: &str) -> Cow<'_, str> {
    match text(raw) {
        clean if clean.contains('\n') => Cow::Owned(clean.replace('\n', " ")),
        clean => clean,
    }
}

/// Whether a character may not reach the terminal. Bidirectional overrides and isolates are among them: they would reorder the frame.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_line(out: &mut String, line: &str) {
    let line = line.trim_end_matches('\r');
    let shown = line.rsplit('\r').next().unwrap_or(line);
    let start = out.len();
    let mut rest = shown;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\t' => {
                let column = width::of(&out[start..]);
                out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
                after
            }
            '\u{1b}' => skip_escape(after),
            '\u{9b}' => skip_csi(after),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(after),
            c if is_control(c) => after,
            c => {
                out.push(c);
                after
            }
        };
    }
}

/// What follows an escape sequence, given what follows its ESC.
fn skip_escape(after_esc: &str) -> &str {
    let Some(c) = after_esc.chars().next() else { return after_esc };
    let rest = &after_esc[c.len_utf8()..];
    match c {
        '[' => skip_csi(rest),
        ']' | 'P' | 'X' | '^' | '_' => skip_string(rest),
        // Character sets and the like: intermediate bytes, then one final byte.
        ' '..='/' => match rest.find(|c: char| !(' '..='/').contains(&c)) {
            Some(at) => rest.get(at + 1..).unwrap_or(""),
            None => "",
        },
        '0'..='~' => rest,
        _ => after_esc,
    }
}

/// What follows a control sequence, given what follows its introducer.
fn skip_csi(parameters: &str) -> &str {
    match parameters.find(|c: char| !(' '..='?').contains(&c)) {
        Some(at) if parameters[at..].starts_with(|c: char| ('@'..='~').contains(&c)) => {
            &parameters[at + 1..]
        }
        Some(at) => &parameters[at..],
        None => "",
    }
}

/// What follows a string sequence (OSC, DCS, APC …), given what follows its introducer. One without an end takes the rest of the line.
fn skip_string(body: &str) -> &str {
    match body.find(['\u{7}', '\u{9c}', '\u{1b}']) {
        Some(at) if body[at..].starts_with('\u{9c}') => &body[at + '\u{9c}'.len_utf8()..],
        Some(at) if body[at..].starts_with("\u{1b}\\") => &body[at + 2..],
        Some(at) if body[at..].starts_with('\u{7}') => &body[at + 1..],
        Some(at) => skip_escape(&body[at + 1..]),
        None => "",
    }
}
