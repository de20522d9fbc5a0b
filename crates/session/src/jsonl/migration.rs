//! Lines of older versions of the format, brought to the version of today.
//!
//! Works on one line at a time, on its text: members that are not named here keep every digit and their order. Version 1 had no
//! tree: entries get an id and follow each other. Version 2 called custom messages by another role.

use serde_json::value::{RawValue, to_raw_value};

use crate::ids::EntryId;
use crate::json::{Members, typed};

/// What an entry's line becomes.
pub(crate) struct Target<'a> {
    /// Version of the format that the line is in.
    pub(crate) version: u64,
    /// Id of the entry.
    pub(crate) id: &'a EntryId,
    /// The entry before it, its parent where the version has no tree.
    pub(crate) previous: Option<&'a EntryId>,
    /// The entry that is the nth object of the file; the header is the object 0.
    pub(crate) nth: &'a dyn Fn(u64) -> Option<EntryId>,
}

/// The line in the version of today, under the id of `target`.
///
/// # Errors
/// The line is not a JSON object.
pub(crate) fn migrate(line: &str, target: &Target<'_>) -> Result<String, serde_json::Error> {
    let mut members: Members = serde_json::from_str(line)?;
    members.set("id", to_raw_value(target.id)?);
    if target.version < 2 {
        members.set("parentId", to_raw_value(&target.previous)?);
        name_first_kept(&mut members, target)?;
    }
    if target.version < 3 {
        rename_hook_role(&mut members)?;
    }
    Ok(members.into_json().text().to_owned())
}

/// Version 1 named the first kept entry of a compaction by its place in the file.
fn name_first_kept(members: &mut Members, target: &Target<'_>) -> Result<(), serde_json::Error> {
    const KEY: &str = "firstKeptEntryIndex";
    if members.tag("type").as_deref() != Some("compaction") {
        return Ok(());
    }
    let Some(raw) = members.remove(KEY) else { return Ok(()) };
    let Some(place) = typed::<f64>(&raw) else {
        members.set(KEY, raw);
        return Ok(());
    };
    let is_entry = place >= 1.0 && place.fract() == 0.0;
    if let Some(id) = is_entry.then(|| (target.nth)(place as u64)).flatten() {
        members.set("firstKeptEntryId", to_raw_value(&id)?);
    }
    Ok(())
}

fn rename_hook_role(members: &mut Members) -> Result<(), serde_json::Error> {
    let Some(raw) = members.remove("message") else { return Ok(()) };
    members.set("message", with_custom_role(raw)?);
    Ok(())
}

fn with_custom_role(message: Box<RawValue>) -> Result<Box<RawValue>, serde_json::Error> {
    let Some(mut members) = typed::<Members>(&message) else { return Ok(message) };
    if members.tag("role").as_deref() != Some("hookMessage") {
        return Ok(message);
    }
    members.set("role", to_raw_value("custom")?);
    RawValue::from_string(members.into_json().text().to_owned())
}
