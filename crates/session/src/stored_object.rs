//! One object of a session, of which only its text is known: an entry, or one that merely keeps its place.

use crate::entry::Entry;
use crate::json::Members;

/// The entry that an object is; `None` for an object without an id, and for a header or a title that stands among entries.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn read(text: &str) -> Result<Option<Entry>, serde_json::Error> {
    let members: Members = serde_json::from_str(text)?;
    let is_entry = members.tag("id").is_some()
        && !matches!(members.tag("type").as_deref(), Some("session" | "title"));
    is_entry.then(|| serde_json::from_str(text)).transpose()
}
