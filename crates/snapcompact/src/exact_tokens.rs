//! Words that must be spelled exactly and are the first to be misread in a picture: paths, hashes, ids, long numbers.

use std::collections::HashSet;

/// Shortest word that counts.
const MIN_CHARS: usize = 8;

/// Longest word that counts: beyond it stands data, not a name.
const MAX_CHARS: usize = 120;

/// Such words of a text, the newest first, each once, one a line, within `max_chars` characters. Linear in the text.
pub fn collect(text: &str, max_chars: usize) -> String {
    let mut seen = HashSet::new();
    let mut lines = String::new();
    let mut left = max_chars;
    for word in text.rsplit(is_separator) {
        let word =
            word.trim_matches(|c: char| matches!(c, '.' | ':' | '-' | '/' | '@' | '#' | '~'));
        if !is_exact(word) || !seen.insert(word) {
            continue;
        }
        let taken = word.len() + usize::from(!lines.is_empty());
        if taken > left {
            break;
        }
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(word);
        left -= taken;
    }
    lines
}

fn is_separator(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@' | '#' | '~' | '+'))
}

/// A word with a digit, or a path.
fn is_exact(word: &str) -> bool {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let is_path =
        word.contains('/') && word.rsplit('/').next().is_some_and(|name| name.contains('.'));
    (MIN_CHARS..=MAX_CHARS).contains(&word.len())
        && (has_digit || is_path)
        && word.bytes().any(|b| b.is_ascii_alphanumeric())
}
