//! Reads members of foreign records. What is missing and what has another type than expected are the same: it is not there.

use serde_json::value::RawValue;

use crate::json::{Json, typed};
pub(super) use crate::jsonl::pick;
use crate::time::Timestamp;

/// Members of a value; all missing where it is no object.
pub(super) fn members<'a, const N: usize>(
    object: Option<&'a RawValue>,
    keys: [&str; N],
) -> [Option<&'a RawValue>; N] {
    object.map_or([None; N], |object| pick(object.get(), keys))
}

/// A text.
pub(super) fn text(raw: Option<&RawValue>) -> Option<String> {
    raw.filter(|raw| raw.get().starts_with('"')).and_then(typed)
}

/// A text that is not blank.
pub(super) fn words(raw: Option<&RawValue>) -> Option<String> {
    text(raw).filter(|text| !text.trim().is_empty())
}

/// Longest name of a model or a tool, in bytes. Names are repeated in many entries, so that a longer one would multiply.
const MAX_NAME_BYTES: usize = 256;

/// A text that names something.
pub(super) fn name(raw: Option<&RawValue>) -> Option<String> {
    words(raw).filter(|name| name.len() <= MAX_NAME_BYTES)
}

/// Whether a switch is on.
pub(super) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A count; 0 where it is none.
pub(super) fn count(raw: Option<&RawValue>) -> u64 {
    raw.and_then(typed).unwrap_or(0)
}

/// The items of an array; none where it is no array.
pub(super) fn items(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// The value as it is written, where there is one.
pub(super) fn json(raw: Option<&RawValue>) -> Option<Json> {
    raw.filter(|raw| raw.get() != "null").and_then(typed)
}

/// An object as it is written; an empty one where it is none.
pub(super) fn object(raw: Option<&RawValue>) -> Json {
    let object = raw.filter(|raw| raw.get().starts_with('{')).and_then(typed);
    object.unwrap_or_else(|| serde_json::json!({}).into())
}

/// Numbers below are seconds, from it on milliseconds. As seconds it is the year 2286, as milliseconds April 1970.
const FIRST_MILLIS: f64 = 1e10;

/// A time in milliseconds since the epoch: text in ISO-8601, or a number of seconds or milliseconds.
pub(super) fn millis(raw: Option<&RawValue>) -> Option<i64> {
    if let Some(text) = text(raw) {
        return Timestamp::new(text).millis();
    }
    raw.and_then(typed).map(millis_of)
}

/// A time that is a number of seconds or milliseconds, in milliseconds.
pub(super) fn millis_of(time: f64) -> i64 {
    (if time.abs() < FIRST_MILLIS { time * 1000.0 } else { time }) as i64
}
