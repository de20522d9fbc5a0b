//! The whole text of an archive: what was archived before, and what comes to it.

use std::borrow::Cow;

use longhand_session::archive::Archive;
use longhand_session::data_url::{self, Origin};
use longhand_session::redaction;

use super::Input;
use crate::glyphs::Glyphs;
use crate::normalize::normalize;
use crate::serialize::{Reasoning, SerializeOptions, serialize};
use crate::{LINE_END, reasoning};

/// Before a summary in words that the archive takes over.
const DIGEST: &str = "[Summary of earlier history] ";

/// After it.
const AFTER_DIGEST: &str = " [Recent conversation] ";

/// Before lines of extensions.
const EXTRA: &str = "[Additional context]";

/// What an archive is made of.
pub(super) struct Source<'a> {
    /// Text of the archive before, laid out already.
    archived: Option<String>,
    previous_summary: Option<&'a str>,
    /// Text of the messages, not laid out.
    recent: String,
}

/// The text of an archive.
pub(super) struct Text {
    pub(super) text: String,
    /// Part of the new text that no font has.
    pub(super) unsafe_share: f64,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        input: &Input<'a>,
        previous: Option<&Archive>,
        options: &SerializeOptions,
    ) -> Self {
        let archived = previous.and_then(Archive::laid_out_text).map(|text| {
            let text = data_url::elide(&redact_laid_out(text), Origin::Archive).into_owned();
            match options.reasoning {
                Reasoning::Included => text,
                Reasoning::Excluded => reasoning::strip(&text),
            }
        });
        let mut recent = serialize(input.messages, options);
        for line in input.extra_context {
            recent.push_str(if recent.is_empty() { "" } else { "\n\n" });
            recent.push_str(&format!("{EXTRA} {line}"));
        }
        let recent = redaction::redact(&recent).into_owned();
        let previous_summary = input.previous_summary.filter(|summary| !summary.is_empty());
        Self { archived: archived.filter(|text| !text.is_empty()), previous_summary, recent }
    }

    /// Whether the text begins with a summary in words.
    pub(super) fn has_digest(&self) -> bool {
        match &self.archived {
            Some(text) => text.starts_with(DIGEST),
            None => self.previous_summary.is_some(),
        }
    }

    /// The text by which the shape is chosen.
    pub(super) fn probe(&self) -> String {
        let earlier = self.archived.as_deref().or(self.previous_summary);
        earlier
            .map_or_else(|| self.recent.clone(), |text| format!("{text}{LINE_END}{}", self.recent))
    }

    /// The whole text, for the font of `glyphs`. Text that was laid out before stays as it is.
    pub(super) fn text(&self, glyphs: &Glyphs) -> Text {
        let recent = normalize(&self.recent, glyphs);
        let unsafe_share = recent.unsafe_share();
        let recent = recent.text;
        let text = match (&self.archived, self.previous_summary) {
            (Some(archived), _) if recent.is_empty() => archived.clone(),
            (Some(archived), _) => format!("{archived}{LINE_END}{recent}"),
            (None, Some(summary)) => {
                let digest = normalize(&redaction::redact(summary), glyphs).text;
                let after = if recent.is_empty() { "" } else { AFTER_DIGEST };
                format!("{DIGEST}{digest}{after}{recent}")
            }
            (None, None) => recent,
        };
        Text { text: data_url::elide(&text, Origin::Source).into_owned(), unsafe_share }
    }
}

/// Text of an earlier archive without its secrets: it may come from a program that redacts nothing.
///
/// Lines are parted as in plain text meanwhile, so that a secret ends where its line ends.
fn redact_laid_out(text: String) -> String {
    match redaction::redact(&text.replace(LINE_END, "\n")) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted.replace('\n', &LINE_END.to_string()),
    }
}
