//! Which titles a session takes: text of one line, and never an automatic one in the place of the user's.

use crate::header::Header;
use crate::title_slot::TitleSource;

/// The title that a text becomes: control characters are spaces, several spaces are one. `None` where nothing is left.
pub fn cleaned(text: &str) -> Option<String> {
    let spaced = text.replace(char::is_control, " ");
    let words: Vec<&str> = spaced.split(' ').filter(|word| !word.is_empty()).collect();
    Some(words.join(" ")).filter(|title| !title.is_empty())
}

/// Whether a title of this source may take the place of the one that a session has.
pub fn may_replace(header: &Header, source: TitleSource) -> bool {
    let has_title = header.title.as_ref().is_some_and(|title| !title.is_empty());
    let is_the_users = header.title_source.as_deref() == Some(TitleSource::User.as_str());
    source == TitleSource::User || !(has_title && is_the_users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_line_without_control_characters() {
        for (text, title) in [
            ("Fix the parser", Some("Fix the parser")),
            ("  a\tb\r\n c\u{7f}d\u{85}e  ", Some("a b c d e")),
            ("\u{1b}[31mred", Some("[31mred")),
            ("a\u{a0}b", Some("a\u{a0}b")),
            (" \n\t ", None),
            ("", None),
        ] {
            assert_eq!(cleaned(text).as_deref(), title, "{text:?}");
        }
    }

    #[test]
    fn the_users_title_gives_way_to_the_user_alone() {
        let titled = |source: Option<&str>| Header {
            title: Some("Mine".into()),
            title_source: source.map(str::to_owned),
            ..Header::default()
        };
        assert!(may_replace(&Header::default(), TitleSource::Auto));
        assert!(may_replace(&titled(None), TitleSource::Auto));
        assert!(may_replace(&titled(Some("auto")), TitleSource::Auto));
        assert!(!may_replace(&titled(Some("user")), TitleSource::Auto));
        assert!(may_replace(&titled(Some("user")), TitleSource::User));
    }
}
