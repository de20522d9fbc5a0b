//! What stands in the place of a line that cannot be read.

use crate::entry::{Entry, EntryKind, OtherEntry, PlainEntry};
use crate::ids::EntryId;
use crate::time::Timestamp;

const TYPE: &str = "damaged";

/// An entry of no known type, with the text of the line. It keeps the branch together, and no model sees it.
pub(crate) fn stand_in(id: EntryId, parent_id: Option<EntryId>, text: &str) -> Entry {
    let mut members = PlainEntry::default();
    members.extra.insert("text", serde_json::Value::from(text).into());
    Entry {
        id,
        parent_id,
        timestamp: Timestamp::default(),
        kind: EntryKind::Other(OtherEntry { type_name: TYPE.to_owned(), members }),
    }
}

/// The stand-in as a line. Without an id it is no entry, and merely keeps its place.
pub(crate) fn line(id: Option<EntryId>, parent_id: Option<EntryId>, text: &str) -> String {
    match id {
        Some(id) => stand_in(id, parent_id, text).to_line(),
        None => serde_json::json!({ "type": TYPE, "text": text }).to_string(),
    }
}
