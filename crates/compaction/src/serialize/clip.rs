//! Shortening text to a length.

use std::borrow::Cow;

/// The first `max_units` UTF-16 units of a text, and a note of how many are missing. The unit is that of the formats which tell
/// lengths of text; a character is never cut in two.
pub fn clip(text: &str, max_units: usize) -> Cow<'_, str> {
    // Every UTF-16 unit takes at least one byte of UTF-8.
    if text.len() <= max_units {
        return Cow::Borrowed(text);
    }
    let mut units = 0;
    let mut end = text.len();
    for (at, char) in text.char_indices() {
        if units + char.len_utf16() > max_units {
            end = at;
            break;
        }
        units += char.len_utf16();
    }
    if end == text.len() {
        return Cow::Borrowed(text);
    }
    let missing = text[end..].chars().map(char::len_utf16).sum::<usize>();
    Cow::Owned(format!("{}\n\n[... {missing} more characters truncated]", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_utf16_units_and_no_character_is_cut_in_two() {
        for (text, max_units, expected) in [
            ("abc", 3, "abc"),
            ("äöü", 3, "äöü"),
            ("abcd", 3, "abc\n\n[... 1 more characters truncated]"),
            ("a🙂b", 2, "a\n\n[... 3 more characters truncated]"),
            ("a🙂b", 3, "a🙂\n\n[... 1 more characters truncated]"),
            ("🙂", 0, "\n\n[... 2 more characters truncated]"),
        ] {
            assert_eq!(clip(text, max_units), expected, "{text} to {max_units}");
        }
    }
}
