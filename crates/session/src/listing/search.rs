//! Searching a list of sessions as one types: what contains the words first, newest first, then what resembles them.
//!
//! Looks at what the rows hold, and reads no session. Runs at each key press.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::SessionRow;

/// How much of a first message may resemble a query. Matching by resemblance costs the product of both lengths, 0.25 ms a row for
/// all the text of a row, and in long text nearly everything resembles everything.
const RESEMBLING_CHARS: usize = 120;

/// A row that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its place in the list that was searched.
    pub at: usize,
    /// How it was found.
    pub kind: Match,
}

/// How a row was found; better ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// The query is its title.
    Title,
    /// Its title contains all words.
    InTitle,
    /// It contains all words.
    Literal,
    /// It resembles the words.
    Fuzzy,
}

/// The rows that a query finds, best first; all of them, in their order, for an empty one. Rows that contain the words keep their
/// order among each other. Words are looked for in all the text of a row, resemblance only in its names, its folder and the start of its
/// first message. Linear in the text of the rows.
pub fn search(rows: &[SessionRow], query: &str) -> Vec<Found> {
    let query = query.trim().to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(&escaped(&words), CaseMatching::Ignore, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut found: Vec<(Found, u32)> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| {
            if let Some(kind) = literal(row, &query, &words) {
                return Some((Found { at, kind }, 0));
            }
            let text = resembling(row);
            let score = pattern.score(Utf32Str::new(&text, &mut buffer), &mut matcher)?;
            Some((Found { at, kind: Match::Fuzzy }, score))
        })
        .collect();
    found.sort_by_key(|(found, score)| (found.kind, std::cmp::Reverse(*score), found.at));
    found.into_iter().map(|(found, _)| found).collect()
}

fn literal(row: &SessionRow, query: &str, words: &[&str]) -> Option<Match> {
    let title = row.title.as_deref().unwrap_or_default().to_lowercase();
    let has_words = |text: &str| words.iter().all(|word| text.contains(word));
    if !query.is_empty() && title == *query {
        Some(Match::Title)
    } else if !words.is_empty() && has_words(&title) {
        Some(Match::InTitle)
    } else {
        has_words(&haystack(row)).then_some(Match::Literal)
    }
}

/// Where words are looked for.
fn haystack(row: &SessionRow) -> String {
    let first = row.first_message.as_deref().unwrap_or_default();
    let place = row.place.file().map(|path| path.display().to_string()).unwrap_or_default();
    [&names(row), first, &row.all_text, &place].join("\n").to_lowercase()
}

/// What may resemble a query.
fn resembling(row: &SessionRow) -> String {
    let first = row.first_message.as_deref().unwrap_or_default();
    let end = first.char_indices().nth(RESEMBLING_CHARS).map_or(first.len(), |(at, _)| at);
    [&names(row), &first[..end]].join("\n")
}

fn names(row: &SessionRow) -> String {
    let title = row.title.as_deref().unwrap_or_default();
    let cwd = row.cwd.as_ref().map(|cwd| cwd.display().to_string()).unwrap_or_default();
    [row.id.as_str(), title, &cwd].join("\n")
}

/// The words without the matcher's own signs, which nobody types on purpose here.
fn escaped(words: &[&str]) -> String {
    let plain = |word: &&str| {
        word.trim_matches(|sign| matches!(sign, '^' | '\'' | '!' | '$' | '\\')).to_owned()
    };
    words.iter().map(plain).collect::<Vec<_>>().join(" ")
}
