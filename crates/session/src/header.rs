//! The header of a session: its first line after the title slot.

use crate::ids::SessionId;
use crate::json::open_object;

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
        pub timestamp: crate::time::Timestamp = "timestamp",
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
