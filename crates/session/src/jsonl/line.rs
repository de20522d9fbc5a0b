//! What a line of a session file holds, judged without reading the bodies of its entries.
//!
//! Two judges. [`usual`] looks at the start of a line, where all writers of the format put the same members in the same order, and
//! searches the rest for signs of damage. It lets a file of 100 MB open in 50 ms, where parsing takes 140 ms. A line that is broken
//! in between without such a sign passes it: it costs itself alone, when it is read. Every other line goes to [`judge`],
//! which parses it whole and saves what can be saved of a damaged one.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::{memchr, memmem};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::typed;
use crate::store::EntryTag;

/// What the index needs of one object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names<'a> {
    pub(crate) type_name: Cow<'a, str>,
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) parent_id: Option<Cow<'a, str>>,
    pub(crate) role: Cow<'a, str>,
    pub(crate) custom_type: Cow<'a, str>,
}

impl Names<'_> {
    pub(crate) fn tag(&self) -> EntryTag {
        EntryTag::of_names(&self.type_name, &self.role, &self.custom_type)
    }
}

/// An object and where it lies in its line.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) range: Range<usize>,
}

/// All complete objects of a line, and whether there was anything else.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) objects: Vec<Object<'a>>,
    pub(crate) is_damaged: bool,
}

/// The names of a line of the usual shape: one object that starts with `type`, `id`, `parentId`, and then, for a message or a custom
/// entry, `timestamp` and the member that tells its kind.
///
/// A line that was torn and grew together with the next has two `parentId`; one that lost a page to the disk has NULs.
pub(crate) fn usual(line: &[u8]) -> Option<Names<'_>> {
    let mut rest = line;
    let type_name = text_member(&mut rest, b"{\"type\":")?;
    let id = text_member(&mut rest, b",\"id\":")?;
    let parent_id = if take(&mut rest, b",\"parentId\":null").is_some() {
        None
    } else {
        Some(text_member(&mut rest, b",\"parentId\":")?)
    };
    let mut names = Names {
        type_name: type_name.into(),
        id: Some(id.into()),
        parent_id: parent_id.map(Cow::from),
        ..Names::default()
    };
    match type_name {
        "message" => {
            text_member(&mut rest, b",\"timestamp\":")?;
            names.role = text_member(&mut rest, b",\"message\":{\"role\":")?.into();
        }
        "custom" => {
            text_member(&mut rest, b",\"timestamp\":")?;
            names.custom_type = text_member(&mut rest, b",\"customType\":")?.into();
        }
        "session" | "title" => return None,
        _ => {}
    }
    let is_whole = rest.strip_suffix(b"\r").unwrap_or(rest).ends_with(b"}")
        && memchr(0, rest).is_none()
        && memmem::find(rest, b"parentId\":").is_none();
    is_whole.then_some(names)
}

fn take<'a>(rest: &mut &'a [u8], expected: &[u8]) -> Option<&'a [u8]> {
    let after = rest.strip_prefix(expected)?;
    *rest = after;
    Some(after)
}

/// A string without escapes, after `key`.
fn text_member<'a>(rest: &mut &'a [u8], key: &[u8]) -> Option<&'a str> {
    let value = take(rest, key)?.strip_prefix(b"\"")?;
    let end = memchr(b'"', value)?;
    let text = &value[..end];
    *rest = &value[end + 1..];
    let is_plain = text.iter().all(|byte| *byte != b'\\' && *byte >= b' ');
    if is_plain { std::str::from_utf8(text).ok() } else { None }
}

/// Parses a whole line and keeps every complete object in it. Linear in the line.
pub(crate) fn judge(line: &[u8]) -> Judged<'static> {
    let text = same_length_text(line);
    let mut judged = Judged { objects: Vec::new(), is_damaged: false };
    let mut at = 0;
    while let Some(start) = text[at..].find(|char: char| !char.is_ascii_whitespace()) {
        at += start;
        if let Some((names, len)) = first_value(&text[at..]) {
            match names {
                Some(names) => judged.objects.push(Object { names, range: at..at + len }),
                None => judged.is_damaged = true,
            }
            at += len;
        } else {
            judged.is_damaged = true;
            let Some(later) = complete_to_the_end(&text[at..]) else { break };
            at += later;
        }
    }
    judged.is_damaged |= judged.objects.len() > 1;
    judged
}

/// The line as text; bytes that are not UTF-8 become `?`, so that places in it stay true.
fn same_length_text(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return text.into();
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text.into()
}

/// The length of the JSON value that `text` starts with, and its names if it is an object.
fn first_value(text: &str) -> Option<(Option<Names<'static>>, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?.get();
    let len = values.byte_offset();
    let names = value.starts_with('{').then(|| names_of(value));
    Some((names, len))
}

fn names_of(object: &str) -> Names<'static> {
    let [type_name, id, parent_id, custom_type, message] =
        pick(object, ["type", "id", "parentId", "customType", "message"]);
    let text = |raw: Option<&RawValue>| raw.and_then(typed::<String>).map(Cow::from);
    let [role] = message.map_or([None], |message| pick(message.get(), ["role"]));
    Names {
        type_name: text(type_name).unwrap_or_default(),
        id: text(id),
        parent_id: text(parent_id),
        role: text(role).unwrap_or_default(),
        custom_type: text(custom_type).unwrap_or_default(),
    }
}

/// Where a complete entry starts that fills the rest of a torn line.
///
/// The torn record has objects of its own that look like one, so several places are tried. Together they parse at most four times
/// the line.
fn complete_to_the_end(text: &str) -> Option<usize> {
    let mut work_bytes = text.len().saturating_mul(4);
    for at in memmem::find_iter(text.as_bytes(), b"{\"type\":\"").filter(|at| *at > 0) {
        let rest = &text[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let value = values.next()?;
        let parsed_bytes = match &value {
            Ok(_) => values.byte_offset(),
            Err(error) => error.column(),
        };
        if let Ok(object) = value
            && rest[parsed_bytes..].trim_ascii().is_empty()
            && let [Some(id)] = pick(object.get(), ["id"])
            && id.get().starts_with('"')
        {
            return Some(at);
        }
        work_bytes = work_bytes.checked_sub(parsed_bytes)?;
    }
    None
}

/// Members of an object by their keys; the last of equal keys counts. Of an object that is cut off, those before the cut.
pub(crate) fn pick<'a, const N: usize>(
    object: &'a str,
    keys: [&str; N],
) -> [Option<&'a RawValue>; N] {
    struct Pick<'k, 'a, const N: usize> {
        keys: [&'k str; N],
        found: [Option<&'a RawValue>; N],
    }
    impl<'a, const N: usize> Visitor<'a> for &mut Pick<'_, 'a, N> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Cow<'a, str>>()? {
                match self.keys.iter().position(|wanted| *wanted == key) {
                    Some(at) => self.found[at] = Some(map.next_value()?),
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(())
        }
    }
    let mut pick = Pick { keys, found: [None; N] };
    // A failure is the end of what there is to find.
    let _ = serde_json::Deserializer::from_str(object).deserialize_map(&mut pick);
    pick.found
}
