//! One object of a session, of which only its text is known: an entry, or one that merely keeps its place.

use crate::entry::Entry;
use crate::ids::EntryId;
use crate::json::Members;

/// The id of the entry that an object is; `None` for an object without one, and for a header or a title that stands among entries.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn id(text: &str) -> Result<Option<EntryId>, serde_json::Error> {
    let members: Members = serde_json::from_str(text)?;
    let is_of_an_entry = !matches!(members.tag("type").as_deref(), Some("session" | "title"));
    Ok(members.tag("id").filter(|_| is_of_an_entry).map(EntryId::from))
}

/// The entry that an object is; `None` where it is none.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn read(text: &str) -> Result<Option<Entry>, serde_json::Error> {
    id(text)?.map(|_| serde_json::from_str(text)).transpose()
}
