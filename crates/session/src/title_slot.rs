//! The title slot: the first line of a session file, of a fixed width so that a rename writes it in place.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::time::Timestamp;

/// Width of the slot in bytes of UTF-8, its line end included. Fixed by the format.
pub const SLOT_BYTES: usize = 256;

/// Who chose a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// The program.
    Auto,
    /// The user; such a title is never replaced by an automatic one.
    User,
}

impl TitleSource {
    /// The name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::User => "user",
        }
    }

    /// The source of a stored name; `None` for any other name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::User].into_iter().find(|source| source.as_str() == name)
    }
}

/// Title of a session as its first line tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleSlot {
    /// The title; empty where there is none.
    pub title: String,
    /// Who chose it, where known.
    pub source: Option<TitleSource>,
    /// When it was written.
    pub updated_at: Timestamp,
}

#[derive(Deserialize)]
struct Stored {
    r#type: String,
    v: serde_json::Number,
    title: String,
    #[serde(default, deserialize_with = "present")]
    source: Option<TitleSource>,
    #[serde(rename = "updatedAt")]
    updated_at: String,
    /// Only its presence counts.
    #[serde(rename = "pad")]
    _pad: String,
}

/// A member that may be missing, but not null.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<TitleSource>, D::Error> {
    TitleSource::deserialize(value).map(Some)
}

impl TitleSlot {
    /// The slot that belongs to a header.
    pub fn of(header: &Header, updated_at: Timestamp) -> Self {
        Self {
            title: header.title.clone().unwrap_or_default(),
            source: header.title_source.as_deref().and_then(TitleSource::from_name),
            updated_at,
        }
    }

    /// Reads a line; `None` where it is not a slot.
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let stored: Stored = serde_json::from_slice(line).ok()?;
        let is_slot = stored.r#type == "title" && stored.v.as_f64() == Some(1.0);
        is_slot.then(|| Self {
            title: stored.title,
            source: stored.source,
            updated_at: Timestamp::new(stored.updated_at),
        })
    }

    /// The line with its end, [`SLOT_BYTES`] long. A title that does not fit is cut after a whole character.
    pub fn to_line(&self) -> String {
        let source = match self.source {
            Some(TitleSource::Auto) => r#","source":"auto""#,
            Some(TitleSource::User) => r#","source":"user""#,
            None => "",
        };
        let time = quoted(self.updated_at.as_str());
        let head = r#"{"type":"title","v":1,"title":""#;
        let tail = format!(r#""{source},"updatedAt":{time},"pad":""#);
        let end = "\"}\n";

        let mut room = SLOT_BYTES.saturating_sub(head.len() + tail.len() + end.len());
        let mut line = String::with_capacity(SLOT_BYTES);
        line.push_str(head);
        for char in self.title.chars() {
            let escaped = quoted(char.encode_utf8(&mut [0; 4]));
            let escaped = &escaped[1..escaped.len() - 1];
            if escaped.len() > room {
                break;
            }
            room -= escaped.len();
            line.push_str(escaped);
        }
        let _ = write!(line, "{tail}{:room$}{end}", "");
        line
    }

    /// Puts the slot's title in the place of the header's.
    pub fn apply(&self, header: &mut Header) {
        header.title = Some(self.title.clone()).filter(|title| !title.is_empty());
        header.title_source = self.source.map(|source| source.as_str().to_owned());
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
