//! Finds reasoning that a server left in the text of a reply as `<think>…</think>`.
//!
//! Only a tag at the very start counts: a reply that talks about the tag keeps its text. A closing tag at the start, whose
//! opening tag the chat template had put into the prompt, is dropped. The tag may be split over any number of pieces.

const OPEN: [&str; 2] = ["<think>", "<thinking>"];
const CLOSE: [&str; 2] = ["</think>", "</thinking>"];

/// A part of a reply, by what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Thinking(String),
}

/// Splits the text of one reply as it arrives.
#[derive(Debug)]
pub(crate) enum Splitter {
    /// Nothing but white space, or the start of a tag, has come.
    Start { held: String },
    /// Inside the tag; holds what may be the start of the closing one.
    Thinking { close: &'static str, held: String },
    /// The closing tag has come; white space after it is layout, not text.
    Closed,
    /// Everything from here on is text.
    Text,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::Start { held: String::new() }
    }
}

impl Splitter {
    /// Takes the next piece. Concatenated, the parts do not depend on how the reply was cut into pieces.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut rest = piece.to_owned();
        while !rest.is_empty() {
            let (next, state) = match std::mem::replace(self, Self::Text) {
                Self::Start { held } => at_start(held + &rest, &mut parts),
                Self::Thinking { close, held } => inside(close, &(held + &rest), &mut parts),
                Self::Closed => {
                    let text = rest.trim_start().to_owned();
                    if text.is_empty() { (text, Self::Closed) } else { (text, Self::Text) }
                }
                Self::Text => {
                    parts.push(Part::Text(rest));
                    (String::new(), Self::Text)
                }
            };
            rest = next;
            *self = state;
        }
        parts
    }

    /// The reply has ended: gives what was held back.
    pub(crate) fn finish(&mut self) -> Option<Part> {
        match std::mem::replace(self, Self::Text) {
            Self::Start { held } if !held.is_empty() => Some(Part::Text(held)),
            Self::Thinking { held, .. } if !held.is_empty() => Some(Part::Thinking(held)),
            Self::Start { .. } | Self::Thinking { .. } | Self::Closed | Self::Text => None,
        }
    }
}

fn at_start(all: String, parts: &mut Vec<Part>) -> (String, Splitter) {
    let text = all.trim_start();
    for (open, close) in OPEN.into_iter().zip(CLOSE) {
        if let Some(rest) = text.strip_prefix(open) {
            return (rest.to_owned(), Splitter::Thinking { close, held: String::new() });
        }
        if let Some(rest) = text.strip_prefix(close) {
            return (rest.to_owned(), Splitter::Closed);
        }
    }
    if OPEN.into_iter().chain(CLOSE).any(|tag| tag.starts_with(text)) {
        return (String::new(), Splitter::Start { held: all });
    }
    parts.push(Part::Text(all));
    (String::new(), Splitter::Text)
}

fn inside(close: &'static str, all: &str, parts: &mut Vec<Part>) -> (String, Splitter) {
    if let Some((thinking, rest)) = all.split_once(close) {
        push_thinking(thinking, parts);
        return (rest.to_owned(), Splitter::Closed);
    }
    let held = (1..close.len()).rev().find(|len| all.ends_with(&close[..*len])).unwrap_or(0);
    let (thinking, held) = all.split_at(all.len() - held);
    push_thinking(thinking, parts);
    (String::new(), Splitter::Thinking { close, held: held.to_owned() })
}

fn push_thinking(thinking: &str, parts: &mut Vec<Part>) {
    if !thinking.is_empty() {
        parts.push(Part::Thinking(thinking.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Splitter};

    /// Thinking and text of a reply that arrives in these pieces.
    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = Splitter::default();
        let mut parts: Vec<Part> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        parts.extend(splitter.finish());
        let (mut thinking, mut text) = (String::new(), String::new());
        for part in parts {
            match part {
                Part::Thinking(piece) => thinking.push_str(&piece),
                Part::Text(piece) => text.push_str(&piece),
            }
        }
        (thinking, text)
    }

    #[test]
    fn tags_are_found_wherever_the_reply_is_cut() {
        for (reply, thinking, text) in [
            ("<think>plan</think>\n\nAnswer", "plan", "Answer"),
            ("\n<thinking>a </think> b</thinking>c", "a </think> b", "c"),
            ("</think>\nAnswer", "", "Answer"),
            ("<think>cut off </thi", "cut off </thi", ""),
            ("Use <think> tags.</think>", "", "Use <think> tags.</think>"),
            ("<thin ice>", "", "<thin ice>"),
            ("  indented", "", "  indented"),
            ("<think>ü</think>ü", "ü", "ü"),
            ("", "", ""),
        ] {
            let expected = (thinking.to_owned(), text.to_owned());
            for (at, _) in reply.char_indices() {
                assert_eq!(split(&[&reply[..at], &reply[at..]]), expected, "{reply:?} cut at {at}");
            }
            let letters: Vec<String> = reply.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(split(&letters), expected, "{reply:?} letter by letter");
        }
    }
}
