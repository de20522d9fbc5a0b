//! Interim.
use longhand_session::context::SessionContext;
use longhand_session::store::IndexRow;
use longhand_session::{Entry, EntryReader, Message, StoreError};
use std::sync::Arc;
pub(crate) fn rebuild(entries: &[Arc<Entry>]) -> Vec<Arc<Message>> {
    entries.iter().filter_map(|entry| entry.message().cloned()).collect()
}

pub(crate) fn transcript(
    path: &[IndexRow],
    reader: &dyn EntryReader,
) -> Result<SessionContext, StoreError> {
    let ids: Vec<_> = path.iter().map(|row| row.id.clone()).collect();
    Ok(SessionContext { messages: rebuild(&reader.read(&ids)?), ..SessionContext::default() })
}
