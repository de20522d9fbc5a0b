//! The one message of a summary request: tagged material first, then what to do with it.

use std::borrow::Cow;
use std::sync::Arc;

use longhand_session::Message;
use longhand_session::redaction::redact;

use crate::serialize::escape_boundaries;

/// What a summary is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Material<'a> {
    /// The messages, in the roles that providers take.
    pub messages: &'a [Arc<Message>],
    /// The summary before, which the new one replaces.
    pub previous_summary: Option<&'a str>,
    /// Older conversation as text, which no summary covers yet.
    pub archive_text: Option<&'a str>,
    /// Further lines, each a fact of its own.
    pub extra_context: &'a [String],
    /// What the summary should dwell on.
    pub focus: Option<&'a str>,
}

/// The parts of a request. All text but the instructions is data: it is disarmed and redacted here, except the conversation,
/// which its serializer has disarmed and redacted.
pub(super) struct Parts<'a> {
    pub(super) conversation: &'a str,
    pub(super) previous_summary: Option<&'a str>,
    pub(super) extra_context: &'a [String],
    pub(super) instructions: &'a str,
    pub(super) focus: Option<&'a str>,
}

impl Parts<'_> {
    pub(super) fn prompt(&self) -> String {
        let mut out = format!("<conversation>\n{}\n</conversation>\n\n", self.conversation);
        if let Some(summary) = self.previous_summary.filter(|summary| !summary.is_empty()) {
            out.push_str("<previous-summary>\n");
            out.push_str(&safe(summary));
            out.push_str("\n</previous-summary>\n\n");
        }
        if !self.extra_context.is_empty() {
            out.push_str("<additional-context>\n");
            for line in self.extra_context {
                out.push_str("- ");
                out.push_str(&safe(line));
                out.push('\n');
            }
            out.push_str("</additional-context>\n\n");
        }
        out.push_str(self.instructions);
        if let Some(focus) = self.focus {
            out.push_str("\n\nAdditional focus: ");
            out.push_str(&redact(focus));
        }
        out
    }
}

/// Text that can stand between the tags.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    match redact(text) {
        Cow::Borrowed(text) => escape_boundaries(text),
        Cow::Owned(text) => Cow::Owned(escape_boundaries(&text).into_owned()),
    }
}
