//! Characters with a plain equivalent: typography, arrows, lines of boxes, pictures that say something.

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// The plain equivalent of a character.
pub(super) fn table(c: char) -> Option<&'static str> {
    label(c).or_else(|| typography(c)).or_else(|| flag_letter(c)).or_else(|| box_line(c))
}

/// Whether a character's equivalent is the word for a picture.
pub(super) fn is_label(c: char) -> bool {
    label(c).is_some()
}

/// The word for a picture that says something.
fn label(c: char) -> Option<&'static str> {
    Some(match c {
        '✅' | '☑' | '✔' => "[OK]",
        '❌' | '❎' | '✖' => "[FAIL]",
        '⚠' => "[WARN]",
        '🚨' => "[ALERT]",
        'ℹ' => "[INFO]",
        '🐛' => "[BUG]",
        '💥' => "[CRASH]",
        '🔥' => "[HOT]",
        '🔒' => "[LOCK]",
        '🔓' => "[UNLOCK]",
        '📁' | '📂' => "[DIR]",
        '📄' => "[FILE]",
        '📝' => "[NOTE]",
        '🧪' => "[TEST]",
        '⏳' | '⌛' => "[WAIT]",
        '🚀' => "[RUN]",
        _ => return None,
    })
}

fn typography(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}' => "'",
        '\u{201c}'..='\u{201e}' | '\u{2033}' | '\u{2036}' => "\"",
        '\u{2039}' => "<",
        '\u{203a}' => ">",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' => "-",
        '\u{2044}' => "/",
        '\u{2024}' => ".",
        '\u{2025}' => "..",
        '\u{2026}' | '\u{22ef}' => "...",
        '\u{2022}' | '\u{2023}' | '\u{2219}' | '\u{25cf}' | '\u{25a0}' | '\u{25aa}' => "*",
        '\u{2190}' => "<-",
        '\u{2191}' => "^",
        '\u{2192}' => "->",
        '\u{2193}' | '\u{2713}' => "v",
        '\u{2194}' => "<->",
        '\u{21d0}' => "<=",
        '\u{21d2}' => "=>",
        '\u{21d4}' => "<=>",
        '\u{2717}' | '\u{2718}' => "x",
        // Without its stroke, the sign would say the opposite.
        '\u{2260}' => "!=",
        '\u{226e}' => "!<",
        '\u{226f}' => "!>",
        _ => return None,
    })
}

/// Flags are pairs of letters.
fn flag_letter(c: char) -> Option<&'static str> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let at = (c as usize).checked_sub(0x1_f1e6)?;
    LETTERS.get(at..=at)
}

fn box_line(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2502}' | '\u{2503}' => "|",
        '\u{2500}' | '\u{2501}' => "-",
        '\u{2504}'..='\u{257f}' => "+",
        _ => return None,
    })
}

/// Whether a character changes the skin colour of the picture before it.
pub(super) fn is_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether a character is a picture: an emoji, or a code point that is reserved for one.
pub(super) fn is_pictographic(c: char) -> bool {
    let is_reserved = matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{1fc00}'..='\u{1fffd}');
    c.is_emoji_char() || is_reserved && c.general_category() == GeneralCategory::Unassigned
}
