//! Finds a text in a file: as it stands, else with differences overlooked that a model cannot see.
//!
//! Overlooked are line endings, a byte order mark, blanks at the ends of lines, and the shape of quotation marks. Nothing beyond:
//! there is no fuzzy match. Works on bytes, so that a file need not be valid UTF-8.

use std::ops::Range;

use memchr::memmem;

use crate::tools::line_style::BOM;

/// How a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Exact,
    Tolerant,
}

/// Where `old` occurs, as byte ranges of `content` that do not overlap. Empty where it does not.
pub(super) fn occurrences(content: &[u8], old: &[u8]) -> (Vec<Range<usize>>, Match) {
    let exact = find_all(content, old);
    if !exact.is_empty() {
        return (exact, Match::Exact);
    }
    let (content, old) = (Projection::of(content), Projection::of(old));
    let found = find_all(&content.bytes, &old.bytes);
    let ranges = found.into_iter().map(|range| content.origin(&range)).collect();
    (ranges, Match::Tolerant)
}

fn find_all(content: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    if old.is_empty() {
        return Vec::new();
    }
    memmem::find_iter(content, old).map(|at| at..at + old.len()).collect()
}

/// A text without what is overlooked, and where each of its bytes comes from.
struct Projection {
    bytes: Vec<u8>,
    /// Start and end in the source of what each byte stands for.
    origins: Vec<(usize, usize)>,
}

impl Projection {
    fn of(source: &[u8]) -> Self {
        let mut out = Self { bytes: Vec::new(), origins: Vec::new() };
        let mut at = if source.starts_with(BOM) { BOM.len() } else { 0 };
        while at < source.len() {
            let (byte, length) = plain(&source[at..]);
            if byte == b'\n' {
                out.drop_blanks();
            }
            out.bytes.push(byte);
            out.origins.push((at, at + length));
            at += length;
        }
        out
    }

    /// Drops blanks at the end of the line that ends here. They then belong to the line's ending, so that a match leaves them alone
    /// where it stops before it.
    fn drop_blanks(&mut self) {
        while matches!(self.bytes.last(), Some(b' ' | b'\t')) {
            self.bytes.pop();
            self.origins.pop();
        }
    }

    fn origin(&self, range: &Range<usize>) -> Range<usize> {
        self.origins[range.start].0..self.origins[range.end - 1].1
    }
}

/// What the text starts with, made plain, and the bytes it takes.
fn plain(text: &[u8]) -> (u8, usize) {
    const SINGLE: [&str; 4] = ["\u{2018}", "\u{2019}", "\u{201a}", "\u{201b}"];
    const DOUBLE: [&str; 4] = ["\u{201c}", "\u{201d}", "\u{201e}", "\u{201f}"];
    let starts = |quote: &&str| text.starts_with(quote.as_bytes());
    if text.starts_with(b"\r\n") {
        (b'\n', 2)
    } else if let Some(quote) = SINGLE.iter().find(|quote| starts(quote)) {
        (b'\'', quote.len())
    } else if let Some(quote) = DOUBLE.iter().find(|quote| starts(quote)) {
        (b'"', quote.len())
    } else {
        (text[0], 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(content: &str, old: &str) -> (Vec<String>, Match) {
        let (ranges, how) = occurrences(content.as_bytes(), old.as_bytes());
        (ranges.into_iter().map(|range| content[range].to_owned()).collect(), how)
    }

    #[test]
    fn an_exact_text_is_found_first() {
        assert_eq!(found("a.b a.b axb", "a.b"), (vec!["a.b".into(), "a.b".into()], Match::Exact));
        assert_eq!(found("aaa", "aa"), (vec!["aa".into()], Match::Exact));
    }

    #[test]
    fn invisible_differences_are_overlooked() {
        for (content, old, expected) in [
            ("x\r\ny\r\nz", "x\ny\n", "x\r\ny\r\n"),
            ("x\ny\n", "x\r\ny", "x\ny"),
            ("x  \ny\t\n", "x\ny\n", "x  \ny\t\n"),
            ("x\ny\n", "x \ny\n", "x\ny\n"),
            ("say \u{201c}it\u{2019}s\u{201d}", "say \"it's\"", "say \u{201c}it\u{2019}s\u{201d}"),
            ("\u{feff}x\r\ny", "\u{feff}x\ny", "x\r\ny"),
        ] {
            assert_eq!(found(content, old), (vec![expected.into()], Match::Tolerant), "{old:?}");
        }
    }

    #[test]
    fn nothing_beyond_is_overlooked() {
        for (content, old) in [("  x", " x "), ("x y", "x  y"), ("X", "x"), ("x\n\ny", "x\ny")] {
            assert_eq!(found(content, old).0, Vec::<String>::new(), "{old:?} in {content:?}");
        }
    }
}
