//! What entries of the crash test say: a text that follows from the id and a version, so that a wrong byte shows.

use std::sync::Arc;

use fastrand::Rng;
use longhand_session::entry::{EntryKind, MessageEntry};
use longhand_session::time::Timestamp;
use longhand_session::{Entry, EntryId, Message};

/// The entry of an id in a version.
pub(crate) fn entry(id: &str, parent: Option<EntryId>, version: u32) -> Arc<Entry> {
    let message = Arc::new(Message::user(text(id, version), 0));
    Arc::new(Entry {
        id: EntryId::from(id),
        parent_id: parent,
        timestamp: Timestamp::from_millis(1_767_225_600_000),
        kind: EntryKind::Message(MessageEntry { message, ..MessageEntry::default() }),
    })
}

/// Whether an entry says what it should in this version.
pub(crate) fn is(entry: &Entry, version: u32) -> bool {
    let expected = Message::user(text(entry.id.as_str(), version), 0);
    entry.message().is_some_and(|message| **message == expected)
}

/// Mostly short, now and then longer than a page of the disk, rarely longer than a pipe.
fn text(id: &str, version: u32) -> String {
    let seed = id.bytes().fold(u64::from(version), |seed, byte| {
        seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
    });
    let mut rng = Rng::with_seed(seed);
    let bytes = match rng.u8(..) {
        0..=2 => rng.usize(60_000..120_000),
        3..=30 => rng.usize(3_000..9_000),
        _ => rng.usize(0..300),
    };
    let filler: String = std::iter::repeat_with(|| rng.char('a'..='\u{17f}')).take(bytes).collect();
    format!("{id} {version} {filler}")
}
