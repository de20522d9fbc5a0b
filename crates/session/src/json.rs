//! JSON objects that keep what they do not understand.
//!
//! Session files are written by several programs and several versions of them. [`Json`] holds a value as the text it came in,
//! so that every digit and the order of members survive; `open_object!` declares a struct whose unknown members, and known
//! members of an unexpected type, are kept in [`Extra`] and written back.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value kept as its text, parsed once on demand.
///
/// Cloning is cheap. Equality is equality of values.
#[derive(Clone)]
pub struct Json(Arc<Inner>);

struct Inner {
    text: Box<RawValue>,
    value: OnceLock<Value>,
}

impl Json {
    /// The text, exactly as read or as serialized.
    pub fn text(&self) -> &str {
        self.0.text.get()
    }

    /// The value. Text nested too deeply to parse (beyond 128 levels) reads as `null`.
    pub fn value(&self) -> &Value {
        self.0.value.get_or_init(|| typed(&self.0.text).unwrap_or(Value::Null))
    }

    /// The value without white space between tokens, members in their order.
    pub fn compact(&self) -> String {
        self.value().to_string()
    }

    /// A member of an object, or `None`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value().get(key)
    }

    fn raw(text: Box<RawValue>) -> Self {
        Self(Arc::new(Inner { text, value: OnceLock::new() }))
    }
}

impl Default for Json {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        let text = RawValue::from_string(value.to_string()).expect("a value prints as JSON");
        let cell = OnceLock::new();
        let _ = cell.set(value);
        Self(Arc::new(Inner { text, value: cell }))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || self.value() == other.value()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::raw)
    }
}

/// A number that is written as other writers of sessions do: `3`, not `3.0`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Integers below 2^53 are exact in f64.
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Member for Number {}

/// Members of an object that its struct does not understand, in the order they came.
#[derive(Clone, Default)]
pub struct Extra {
    members: Vec<(Box<str>, Json)>,
    /// Keys of required members that the source left out: they read as their default and are not written.
    absent: Vec<&'static str>,
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Extra {
    /// The value of a member that was not understood.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members.iter().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// All members that were not understood.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// Adds a member, or replaces it.
    pub fn insert(&mut self, key: &str, value: Json) {
        match self.members.iter_mut().find(|(name, _)| &**name == key) {
            Some((_, old)) => *old = value,
            None => self.members.push((key.into(), value)),
        }
    }

    /// Removes a member, and gives it.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.members.iter().position(|(name, _)| &**name == key)?;
        Some(self.members.remove(at).1)
    }

    #[doc(hidden)]
    pub fn mark_absent<T: Member>(&mut self, key: &'static str, _member: &T) {
        if !T::IS_OPTIONAL {
            self.absent.push(key);
        }
    }

    /// Whether a known member is written: not when an unexpected value of it was kept, nor when the source lacked it and it
    /// still has its default.
    #[doc(hidden)]
    pub fn shows<T: Member>(&self, key: &'static str, value: &T) -> bool {
        value.is_present()
            && self.get(key).is_none()
            && !(self.absent.contains(&key) && value.is_default())
    }
}

/// What `open_object!` needs to know about the type of a member.
#[doc(hidden)]
pub trait Member: PartialEq + Default {
    const IS_OPTIONAL: bool = false;
    fn is_present(&self) -> bool {
        true
    }
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl<T: PartialEq> Member for Option<T> {
    const IS_OPTIONAL: bool = true;
    fn is_present(&self) -> bool {
        self.is_some()
    }
}
impl Member for String {}
impl Member for bool {}
impl Member for u64 {}
impl Member for i64 {}
impl Member for Json {}
impl Member for crate::time::Timestamp {}
impl<T: PartialEq> Member for Vec<T> {}

/// A struct declared by `open_object!`.
pub trait OpenObject: Default {
    /// Takes one member of the source object.
    fn read_member(&mut self, key: &str, value: Box<RawValue>);

    /// Called once after the last member, with the keys that occurred.
    fn finish(&mut self, seen: &dyn Fn(&str) -> bool);

    /// Writes all members, known ones first.
    ///
    /// # Errors
    /// What the serializer says.
    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// The members of one object in their order, before anyone has looked at them.
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl Members {
    /// The string value of a tag such as `type` or `role`.
    pub(crate) fn tag(&self, key: &str) -> Option<String> {
        typed(self.get(key)?)
    }

    /// The last member of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| &**raw)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.0.iter().rposition(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Replaces a member where it stands, or adds it at the end.
    pub(crate) fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().rev().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Reads the members into a struct, except the tags that the enum around it holds.
    pub(crate) fn read<T: OpenObject>(self, tags: &[&str]) -> T {
        let mut object = T::default();
        let keys: Vec<String> = self.0.iter().map(|(key, _)| key.clone()).collect();
        for (key, raw) in self.0 {
            if !tags.contains(&key.as_str()) {
                object.read_member(&key, raw);
            }
        }
        object.finish(&|key| keys.iter().any(|seen| seen == key));
        object
    }

    /// The object again, as one value.
    pub(crate) fn into_json(self) -> Json {
        let mut text = String::from("{");
        for (i, (key, raw)) in self.0.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            text.push_str(&Value::from(key.as_str()).to_string());
            text.push(':');
            text.push_str(raw.get());
        }
        text.push('}');
        Json::raw(RawValue::from_string(text).expect("members of a JSON object, joined again"))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(member) = map.next_entry::<String, Box<RawValue>>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// JSON text on one line. Text that was taken over raw may have line ends between its tokens; inside a string there are none.
pub(crate) fn single_line(text: String) -> String {
    if memchr::memchr(b'\n', text.as_bytes()).is_some() { text.replace('\n', " ") } else { text }
}

/// Parses a value of a known type. A `\ud8xx` escape without its other half, which some writers leave behind when they cut a
/// text, reads as U+FFFD.
pub(crate) fn typed<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    let text = raw.get();
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(_) if text.contains("\\u") => serde_json::from_str(&replace_lone_surrogates(text)).ok(),
        Err(_) => None,
    }
}

fn replace_lone_surrogates(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut copied = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let escape = at + found;
        at = escape + 2;
        let Some(unit) = escaped_unit(bytes, escape) else { continue };
        at = escape + 6;
        let is_pair = (0xD800..0xDC00).contains(&unit)
            && escaped_unit(bytes, at).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        if is_pair {
            at += 6;
        } else if (0xD800..0xE000).contains(&unit) {
            out.push_str(&text[copied..escape]);
            out.push_str("\\ufffd");
            copied = at;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The UTF-16 unit of a `\uXXXX` escape that starts at `at`.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    if &escape[..2] != b"\\u" {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

/// Declares a struct for a JSON object whose unknown members survive.
///
/// Each field names its JSON key. A field of type `Option` is left out when it is `None`. A known member whose value has an
/// unexpected type is kept in `extra` under its key, and the field has its default.
macro_rules! open_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident : $ty:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            /// Members that are not understood, kept as they came.
            pub extra: $crate::json::Extra,
        }

        impl $crate::json::OpenObject for $name {
            fn read_member(&mut self, key: &str, value: Box<serde_json::value::RawValue>) {
                match key {
                    $( $key => if let Some(typed) = $crate::json::typed::<$ty>(&value) {
                        self.$field = typed;
                        return;
                    }, )*
                    _ => {}
                }
                let kept = serde_json::from_str(value.get()).unwrap_or_default();
                self.extra.insert(key, kept);
            }

            fn finish(&mut self, _seen: &dyn Fn(&str) -> bool) {
                $( if !_seen($key) { self.extra.mark_absent($key, &self.$field); } )*
            }

            fn write_members<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $( if self.extra.shows($key, &self.$field) {
                    map.serialize_entry($key, &self.$field)?;
                } )*
                for (key, value) in self.extra.iter() {
                    map.serialize_entry(key, value)?;
                }
                Ok(())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $crate::json::OpenObject::write_members(self, &mut map)?;
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let members = <$crate::json::Members as serde::Deserialize>::deserialize(deserializer)?;
                Ok(members.read(&[]))
            }
        }
    };
}
pub(crate) use open_object;
