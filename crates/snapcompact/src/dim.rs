//! Pale ink for what matters less: function words, and spans that text marks itself.

use std::borrow::Cow;

use crate::{DIM_OFF, DIM_ON};

/// Words that carry grammar and little else.
const STOPWORDS: [&str; 70] = [
    "a", "about", "after", "also", "an", "and", "are", "as", "at", "be", "been", "before",
    "between", "but", "by", "could", "during", "each", "for", "from", "had", "has", "have", "he",
    "her", "his", "in", "into", "is", "it", "its", "more", "most", "not", "of", "on", "only", "or",
    "other", "over", "same", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "under", "was", "were",
    "when", "where", "which", "while", "who", "whom", "will", "with", "would",
];

/// Longest of them, in letters.
const LONGEST: usize = 7;

/// Text with each function word between ink switches. Spans that are pale already stay as they are. Do this after pagination:
/// words are not cut by it, and pages do not depend on it.
pub fn dim_stopwords(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut is_dim = false;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if !is_letter(c) {
            is_dim = after(c, is_dim);
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let length = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        if !is_dim && is_stopword(word) {
            out.push_str(&text[copied..at]);
            out.extend([DIM_ON]);
            out.push_str(word);
            out.push(DIM_OFF);
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether ink is pale at the end of a text, given whether it was at its start.
pub fn opens_dim(text: &str, was_dim: bool) -> bool {
    match text.rfind([DIM_ON, DIM_OFF]) {
        Some(at) => text[at..].starts_with(DIM_ON),
        None => was_dim,
    }
}

fn after(c: char, is_dim: bool) -> bool {
    match c {
        DIM_ON => true,
        DIM_OFF => false,
        _ => is_dim,
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ')
}

fn is_stopword(word: &str) -> bool {
    let mut lower = [0_u8; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    STOPWORDS.binary_search_by(|stopword| stopword.as_bytes().cmp(lower)).is_ok()
}
