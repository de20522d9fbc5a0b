//! The header of a session: its first line after the title slot.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::ids::SessionId;
use crate::json::{Members, OpenObject, open_object, single_line};
use crate::time::Timestamp;

/// Newest version of the format that is known, and the one that is written.
pub const VERSION: u64 = 3;

open_object! {
    /// What a session says of itself.
    pub struct Header {
        /// Version of the format; absent is 1.
        pub version: Option<u64> = "version",
        /// Id of the session.
        pub id: SessionId = "id",
        /// When it began, ISO-8601.
        pub timestamp: Timestamp = "timestamp",
        /// Working directory; absent in very old files.
        pub cwd: Option<String> = "cwd",
        /// Title.
        pub title: Option<String> = "title",
        /// Who chose the title: `auto` or `user`.
        pub title_source: Option<String> = "titleSource",
        /// Further workspace roots.
        pub additional_directories: Option<Vec<String>> = "additionalDirectories",
        /// The session that this one was forked or extracted from, as id or path.
        pub parent_session: Option<String> = "parentSession",
        /// Where the file lay before it was moved.
        pub previous_session_files: Option<Vec<String>> = "previousSessionFiles",
        /// Cache identity inherited by forks.
        pub provider_prompt_cache_key: Option<String> = "providerPromptCacheKey",
    }
}

impl Header {
    /// The header of a new session.
    pub fn new(id: SessionId, timestamp: Timestamp, cwd: impl Into<String>) -> Self {
        Self { version: Some(VERSION), id, timestamp, cwd: Some(cwd.into()), ..Self::default() }
    }

    /// Reads a line; `None` where it is not a header, which is an object of type `session` with an id.
    pub fn from_line(line: &str) -> Option<Self> {
        let members: Members = serde_json::from_str(line).ok()?;
        let is_header = members.tag("type").as_deref() == Some("session");
        let has_id = members.tag("id").is_some();
        (is_header && has_id).then(|| members.read(&["type"]))
    }

    /// The line of the session file, without its end.
    pub fn to_line(&self) -> String {
        single_line(serde_json::to_string(&Line(self)).expect("headers hold only JSON"))
    }

    /// The version of the format that the session is written in.
    pub fn format_version(&self) -> u64 {
        self.version.unwrap_or(1)
    }
}

struct Line<'a>(&'a Header);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "session")?;
        let mut members = self.0.clone();
        members.extra.remove("type");
        members.write_members(&mut map)?;
        map.end()
    }
}

/// The line of a header of an older version with the version of today, all else as it was.
pub(crate) fn with_current_version(line: &str) -> Option<String> {
    let mut members: Members = serde_json::from_str(line).ok()?;
    members.set("version", serde_json::value::to_raw_value(&VERSION).ok()?);
    Some(members.into_json().text().to_owned())
}
