//! A conversation as text, for a model that should read it and not go on with it.
//!
//! Takes messages in the roles that providers take; all other roles must be converted before, and are left out here. Pictures
//! become a note, long tool results are clipped and their keys redacted, and calls whose result was of no use disappear together
//! with it. What the user said is never shortened.
//!
//! Each dialect is a file that writes turns. A further dialect is a further file, a variant of [`Dialect`] and a line in
//! [`crate::dialect`].

mod clip;
mod harmony;
mod plain;
mod turn;
mod xml;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use longhand_session::Message;
use longhand_session::redaction::redact;
use regex::Regex;

pub use clip::clip;
use turn::Turn;
pub use turn::without_useless_calls;

/// How roles, reasoning, calls and results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Labels in brackets. For people, and for endpoints of which nothing is known.
    Plain,
    /// Tags, for models that have no form of their own.
    Xml,
    /// Tags in the form of Claude. Reasoning is left out: Claude refuses to read what looks like an attempt to extract it.
    Anthropic,
    /// The form of `OpenAI`'s models.
    Harmony,
}

/// The conversation in a dialect, as it is.
pub fn conversation(messages: &[Arc<Message>], dialect: Dialect) -> String {
    let messages = without_useless_calls(messages);
    let turns = turn::turns(&messages, dialect);
    match dialect {
        Dialect::Plain => plain::write(&turns),
        Dialect::Xml => xml::write(&turns, xml::Tags::Generic),
        Dialect::Anthropic => xml::write(&turns, xml::Tags::Claude),
        Dialect::Harmony => harmony::write(&turns),
    }
}

/// The conversation in a dialect, safe to put between the tags of a summary request: keys are redacted, and it can neither end the
/// tags nor hold spellings that a provider refuses in data.
pub fn for_summary(messages: &[Arc<Message>], dialect: Dialect) -> String {
    let text = conversation(messages, dialect);
    let text = redact(&text);
    let text = match dialect {
        Dialect::Harmony => harmony::escape_control_tokens(&text),
        Dialect::Plain | Dialect::Xml | Dialect::Anthropic => text,
    };
    escape_boundaries(&text).into_owned()
}

/// Disarms the tags that enclose parts of a summary request.
pub fn escape_boundaries(text: &str) -> Cow<'_, str> {
    static BOUNDARY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)<(\s*/?\s*(?:conversation|previous-summary|additional-context)\s*>)")
            .expect("a fixed pattern")
    });
    BOUNDARY.replace_all(text, "&lt;$1")
}
