//! What is known of a foreign session before its entries are made.

use crate::title_slot::TitleSource;

/// Facts about a foreign session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its id in the program that it comes from, where its records tell.
    pub source_id: Option<String>,
    /// Where it worked.
    pub cwd: Option<String>,
    /// Its title.
    pub title: Option<Title>,
    /// Whether anything in it looks like a message.
    pub has_messages: bool,
    /// How many records were read.
    pub records: u64,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// A title, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title.
    pub text: String,
    /// Who gave it.
    pub source: TitleSource,
}

/// Longest title that is taken over, in characters. A slot has room for fewer.
const MAX_TITLE_CHARS: usize = 300;

/// A title on one line, without control characters; `None` where nothing is left.
pub(super) fn clean_title(title: &str) -> Option<String> {
    let visible = title.chars().take(MAX_TITLE_CHARS);
    let visible: String = visible.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = visible.split(' ').filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
