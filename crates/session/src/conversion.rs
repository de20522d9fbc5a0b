//! A session copied from one store into another: the same header, the same objects in the same order, as they were written.
//!
//! A line that cannot be read comes along as the text of an entry of no known type, so that nothing of it is lost and what hangs on
//! it stays where it is. The original is left alone; what tools left behind beside it is not touched.

use serde_json::Value;

use crate::damaged_line;
use crate::header::Header;
use crate::ids::EntryId;
use crate::jsonl;
use crate::store::{Damage, Lines, SessionStore, StoreError};
use crate::stored_object;
use crate::title_slot::TitleSlot;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many objects, entries and others.
    pub objects: u64,
    /// Those among them, counted from 1, that cannot be read and came along as text.
    pub unread: Vec<u64>,
    /// What the original's store could not give; it did not come along.
    pub damage: Damage,
    /// Length of the copy, in bytes.
    pub bytes: u64,
}

/// Why a session was not copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// One of the stores failed. There is no copy.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The copy is there, and is not the same as the original: somebody wrote one of them meanwhile.
    #[error("the copy is not the same as the original, from object {object} on")]
    Differs {
        /// The first object that differs, counted from 1; 0 is the header.
        object: u64,
    },
}

/// Copies a session into the new store that `make` makes for its header, and reads the copy back to see that it is the same.
///
/// Linear in the session, and holds one line of each at a time.
///
/// # Errors
/// There is a session in the place of the copy, the original cannot be read, or the copy cannot be written.
pub fn copy(
    original: &mut dyn SessionStore,
    make: impl FnOnce(&Header) -> Box<dyn SessionStore>,
) -> Result<(Box<dyn SessionStore>, Copied), CopyError> {
    let opened = original.open()?;
    let mut copied = Copied { damage: opened.damage, ..Copied::default() };
    let mut copy = make(&opened.header);
    copied.bytes = copy.fill(readable(original.lines(), &mut copied.unread))?.bytes;
    copy.sync()?;
    copied.objects = compare(&opened.header, original, &mut *copy)?;
    Ok((copy, copied))
}

/// The lines, with a stand-in for each that no store takes. Their numbers are added to `unread`.
pub(crate) fn readable<'a>(lines: Lines<'a>, unread: &'a mut Vec<u64>) -> Lines<'a> {
    let mut number = 0;
    Box::new(lines.map(move |line| {
        number += 1;
        let line = line?;
        if stored_object::id(&line).is_ok() {
            return Ok(line);
        }
        unread.push(number);
        let names = jsonl::usual(line.as_bytes()).unwrap_or_default();
        let (id, parent_id) = (names.id.as_deref(), names.parent_id.as_deref());
        Ok(damaged_line::line(id.map(EntryId::from), parent_id.map(EntryId::from), &line))
    }))
}

/// Compares a copy with its original, and gives the number of objects.
fn compare(
    header: &Header,
    original: &dyn SessionStore,
    copy: &mut dyn SessionStore,
) -> Result<u64, CopyError> {
    let read_back = copy.open()?.header;
    if read_back != *header && read_back != as_in_a_file(header) {
        return Err(CopyError::Differs { object: 0 });
    }
    let mut unread = Vec::new();
    let mut expected = readable(original.lines(), &mut unread);
    let mut found = copy.lines();
    let mut objects = 0;
    loop {
        match (expected.next().transpose()?, found.next().transpose()?) {
            (None, None) => return Ok(objects),
            (Some(expected), Some(found)) if is_same(&expected, &found) => objects += 1,
            (Some(_) | None, Some(_) | None) => {
                return Err(CopyError::Differs { object: objects + 1 });
            }
        }
    }
}

/// A file has no room for a long title, and forgets a source of titles that the format does not know.
fn as_in_a_file(header: &Header) -> Header {
    let line = TitleSlot::of(header, header.timestamp.clone()).to_line();
    let mut in_file = header.clone();
    if let Some(slot) = TitleSlot::from_line(line.as_bytes()) {
        slot.apply(&mut in_file);
    }
    in_file
}

fn is_same(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || value(one).is_some_and(|one| Some(one) == value(other))
}
