//! Terminal control sequences, taken out of text.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
/// Ends a control string.
const TERMINATOR: char = '\u{9c}';

/// Text without terminal escapes. A text without an escape character is left alone, whatever other controls it has. A sequence
/// that does not end goes on to the end of the text.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => escape(&mut chars),
            '\u{9b}' => control_sequence(&mut chars),
            '\u{9d}' => control_string(&mut chars, Bell::Ends),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => control_string(&mut chars, Bell::IsText),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// What a bell does in a control string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bell {
    Ends,
    IsText,
}

/// What follows an escape character.
fn escape(chars: &mut Peekable<Chars<'_>>) {
    let Some(&introducer) = chars.peek() else { return };
    match introducer {
        '[' => {
            chars.next();
            control_sequence(chars);
        }
        ']' => {
            chars.next();
            control_string(chars, Bell::Ends);
        }
        'P' | 'X' | '^' | '_' => {
            chars.next();
            control_string(chars, Bell::IsText);
        }
        ' '..='/' => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        '0'..='~' => {
            chars.next();
        }
        _ => {}
    }
}

/// Up to the final character. An escape inside begins anew and is left to the caller: nesting would take stack by the length of
/// the text.
fn control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| *c != ESCAPE) {
        if matches!(c, '@'..='~') {
            return;
        }
    }
}

fn control_string(chars: &mut Peekable<Chars<'_>>, bell: Bell) {
    while let Some(c) = chars.next() {
        let is_end = c == TERMINATOR
            || c == BELL && bell == Bell::Ends
            || c == ESCAPE && chars.next_if_eq(&'\\').is_some();
        if is_end {
            return;
        }
    }
}
