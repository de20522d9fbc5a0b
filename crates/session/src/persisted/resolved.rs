//! Pictures in the place of the references that stand for them in a file.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::blob_store::{BlobRef, BlobStore};
use crate::json::{Members, typed};

/// The line with its pictures.
pub(super) fn resolved<'l>(line: &'l str, blobs: &dyn BlobStore) -> Cow<'l, str> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else { return line.into() };
    value("", raw, blobs).map_or(line.into(), Into::into)
}

fn value(key: &str, raw: &RawValue, blobs: &dyn BlobStore) -> Option<String> {
    match raw.get().as_bytes().first()? {
        // Frames are many and large, and mostly not shown.
        b'[' if key != "frames" => list(key, raw, blobs),
        b'{' => object(raw, blobs),
        b'"' if key == "image_url" => {
            let content = content(raw, blobs)?;
            Some(Value::from(String::from_utf8_lossy(&content)).to_string())
        }
        _ => None,
    }
}

fn list(key: &str, raw: &RawValue, blobs: &dyn BlobStore) -> Option<String> {
    let items: Vec<Box<RawValue>> = typed(raw)?;
    let changed: Vec<Option<String>> = items.iter().map(|item| value(key, item, blobs)).collect();
    changed.iter().any(Option::is_some).then(|| {
        let texts: Vec<&str> = items
            .iter()
            .zip(&changed)
            .map(|(item, changed)| changed.as_deref().unwrap_or(item.get()))
            .collect();
        format!("[{}]", texts.join(","))
    })
}

fn object(raw: &RawValue, blobs: &dyn BlobStore) -> Option<String> {
    let mut members: Members = typed(raw)?;
    let kind = members.tag("type").unwrap_or_default();
    let is_image = kind == "image"
        || members.tag("mimeType").is_some_and(|mime_type| mime_type.starts_with("image/"));
    let mut has_changed = false;
    for (name, raw) in &mut members.0 {
        let is_picture =
            (name == "data" && is_image) || (name == "result" && kind == "image_generation_call");
        let changed = if is_picture {
            content(raw, blobs).map(|content| Value::from(STANDARD.encode(content)).to_string())
        } else {
            value(name, raw, blobs)
        };
        if let Some(changed) = changed.and_then(|text| RawValue::from_string(text).ok()) {
            *raw = changed;
            has_changed = true;
        }
    }
    has_changed.then(|| members.into_json().text().to_owned())
}

/// The blob that a text names; `None` where it names none, or where the blob is missing.
fn content(raw: &RawValue, blobs: &dyn BlobStore) -> Option<Vec<u8>> {
    let blob = BlobRef::parse(&typed::<String>(raw)?)?;
    match blobs.read(&blob) {
        Ok(Some(content)) => Some(content),
        Ok(None) => {
            tracing::warn!("a picture of the session is missing: {blob}");
            None
        }
        Err(error) => {
            tracing::warn!("a picture of the session cannot be read: {blob}: {error}");
            None
        }
    }
}
