//! Names that the user gave to entries.
//!
//! A label is an entry of its own, wherever the leaf was when it was given. The last one in the session counts for each entry that it
//! names, whichever branch it hangs on; an empty one takes the name away.

use std::collections::HashMap;

use super::Tree;
use crate::entry::{Entry, EntryKind};
use crate::ids::EntryId;
use crate::store::{EntryReader, EntryTag, StoreError};

/// The names of a session's entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    by_target: HashMap<EntryId, String>,
}

impl Labels {
    /// The names in a session. Reads the label entries, and no other.
    ///
    /// # Errors
    /// The reader's.
    pub fn read(tree: &Tree, reader: &dyn EntryReader) -> Result<Self, StoreError> {
        let is_label = |tag| tag == EntryTag::Label;
        let ids: Vec<EntryId> =
            tree.rows().filter(|row| is_label(row.tag)).map(|row| row.id.clone()).collect();
        let mut labels = Self::default();
        for entry in reader.read(&ids)? {
            labels.take(&entry);
        }
        Ok(labels)
    }

    /// Takes in an entry that was appended; one that is no label changes nothing.
    pub fn take(&mut self, entry: &Entry) {
        let EntryKind::Label(label) = &entry.kind else { return };
        match label.label.as_ref().filter(|text| !text.is_empty()) {
            Some(text) => self.by_target.insert(label.target_id.clone(), text.clone()),
            None => self.by_target.remove(&label.target_id),
        };
    }

    /// The name of an entry.
    pub fn of(&self, id: &EntryId) -> Option<&str> {
        self.by_target.get(id).map(String::as_str)
    }

    /// All names, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&EntryId, &str)> {
        self.by_target.iter().map(|(id, text)| (id, text.as_str()))
    }
}
