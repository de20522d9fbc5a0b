//! The parts of an entry that are written otherwise, wherever they lie. Depth first; what does not change is not built again.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::looked_for::MIN_PICTURE_CHARS;
use super::{Persistence, large_text};
use crate::archive::BLOB_PREFIX;
use crate::json::{Members, typed};

/// Members whose text proves something, and is worth nothing when it is cut.
const SIGNATURES: [&str; 3] = ["thinkingSignature", "thoughtSignature", "textSignature"];

pub(super) struct Rewriting<'p> {
    pub(super) persistence: &'p Persistence,
}

impl Rewriting<'_> {
    /// An entry as written; `None` where it is written as it is.
    pub(super) fn entry(&self, raw: &RawValue) -> io::Result<Option<String>> {
        self.value("", raw)
    }

    /// A value under a key, or in a list under that key.
    fn value(&self, key: &str, raw: &RawValue) -> io::Result<Option<String>> {
        match raw.get().as_bytes().first() {
            Some(b'{') => self.object(key, raw),
            Some(b'[') => self.list(key, raw),
            Some(b'"') => self.text(key, raw),
            _ => Ok(None),
        }
    }

    fn list(&self, key: &str, raw: &RawValue) -> io::Result<Option<String>> {
        let Some(items) = typed::<Vec<Box<RawValue>>>(raw) else { return Ok(None) };
        let mut has_changed = false;
        let mut texts = Vec::with_capacity(items.len());
        for item in &items {
            let changed = self.value(key, item)?;
            has_changed |= changed.is_some();
            texts.push(changed.unwrap_or_else(|| item.get().to_owned()));
        }
        Ok(has_changed.then(|| format!("[{}]", texts.join(","))))
    }

    fn text(&self, key: &str, raw: &RawValue) -> io::Result<Option<String>> {
        let is_url = key == "image_url" && raw.get().starts_with("\"data:image/");
        if is_url && let Some(url) = typed::<String>(raw).filter(|url| url.contains(";base64,")) {
            return self.kept(url.as_bytes());
        }
        if SIGNATURES.contains(&key) {
            return Ok(None);
        }
        let cut = typed::<String>(raw).and_then(|text| large_text::cut(&text, self.persistence));
        Ok(cut.map(|text| Value::from(text).to_string()))
    }

    fn object(&self, key: &str, raw: &RawValue) -> io::Result<Option<String>> {
        let Some(mut members) = typed::<Members>(raw) else { return Ok(None) };
        if is_atomic(key, &members) {
            return Ok(None);
        }
        let mut has_changed = members.remove("jsonlEvents").is_some();
        has_changed |= drop_copied_signatures(&mut members)?;
        has_changed |= drop_structured_copy(&mut members)?;
        let picture = picture_member(key, &members);
        for at in 0..members.0.len() {
            let (name, value) = &members.0[at];
            let changed = match picture {
                Some(picture) if picture == name => self.picture(value)?,
                _ => self.value(name, value)?,
            };
            if let Some(changed) = changed {
                members.0[at].1 = RawValue::from_string(changed)?;
                has_changed = true;
            }
        }
        if has_changed {
            count_lines_again(&mut members)?;
        }
        Ok(has_changed.then(|| members.into_json().text().to_owned()))
    }

    /// The base64 text of a picture. It is never cut: half a picture is none.
    fn picture(&self, raw: &RawValue) -> io::Result<Option<String>> {
        let Some(data) = typed::<String>(raw) else { return Ok(None) };
        if data.len() < MIN_PICTURE_CHARS || data.starts_with(BLOB_PREFIX) {
            return Ok(None);
        }
        match STANDARD.decode(&data) {
            Ok(content) => self.kept(&content),
            // It cannot be had back byte for byte, and stays.
            Err(_) => Ok(None),
        }
    }

    fn kept(&self, content: &[u8]) -> io::Result<Option<String>> {
        let Some(blobs) = &self.persistence.blobs else { return Ok(None) };
        Ok(Some(Value::from(blobs.put(content)?.to_string()).to_string()))
    }
}

/// Whether an object is written as it is: a provider takes it back only unchanged.
fn is_atomic(key: &str, members: &Members) -> bool {
    let has_text = |key: &str| members.tag(key).is_some_and(|text| !text.is_empty());
    let kind = members.tag("type").unwrap_or_default();
    match kind.as_str() {
        "thinking" | "text" | "toolCall" => SIGNATURES.iter().any(|key| has_text(key)),
        "redactedThinking" => has_text("data"),
        "reasoning" => has_text("encrypted_content"),
        "anthropicServerTool" => {
            members.get("block").is_some_and(|block| block.get().starts_with('{'))
        }
        _ => kind == "anthropicCompaction" || key == "anthropicCompaction",
    }
}

/// The member of an object that is a picture in base64.
fn picture_member(key: &str, members: &Members) -> Option<&'static str> {
    let kind = members.tag("type").unwrap_or_default();
    if kind == "image_generation_call" {
        return Some("result");
    }
    let is_image = kind == "image"
        || members.tag("mimeType").is_some_and(|mime_type| mime_type.starts_with("image/"));
    let is_picture = match key {
        "content" => kind == "image",
        "images" | "frames" => is_image,
        _ => kind == "image" && members.contains("mimeType"),
    };
    is_picture.then_some("data")
}

/// Takes signatures out of reasoning that lies in the provider's own items anyway.
fn drop_copied_signatures(members: &mut Members) -> io::Result<bool> {
    if members.tag("role").as_deref() != Some("assistant") {
        return Ok(false);
    }
    let payload: Option<Value> = members.get("providerPayload").and_then(typed);
    let Some(payload) = payload.filter(|payload| payload["type"] == "openaiResponsesHistory")
    else {
        return Ok(false);
    };
    let items = payload["items"].as_array().map_or(&[][..], Vec::as_slice);
    let blocks: Option<Vec<Box<RawValue>>> = members.get("content").and_then(typed);
    let Some(mut blocks) = blocks else { return Ok(false) };
    let mut has_changed = false;
    for raw in &mut blocks {
        let Some(mut block) = typed::<Members>(raw) else { continue };
        let is_copy = block.tag("type").as_deref() == Some("thinking")
            && block.tag("thinkingSignature").is_some_and(|text| is_among(&text, items));
        if is_copy {
            block.remove("thinkingSignature");
            *raw = RawValue::from_string(block.into_json().text().to_owned())?;
            has_changed = true;
        }
    }
    if has_changed {
        members.set("content", to_raw_value(&blocks)?);
    }
    Ok(has_changed)
}

/// Whether a signature is one of the items: by its encrypted content, else by its id.
fn is_among(signature: &str, items: &[Value]) -> bool {
    let Ok(item) = serde_json::from_str::<Value>(signature) else { return false };
    let same =
        |key: &str| item[key].is_string() && items.iter().any(|other| other[key] == item[key]);
    if item["encrypted_content"].is_string() { same("encrypted_content") } else { same("id") }
}

/// Takes the structured copy out of a result whose whole text is an artifact.
fn drop_structured_copy(members: &mut Members) -> io::Result<bool> {
    if members.tag("role").as_deref() != Some("toolResult") {
        return Ok(false);
    }
    let details: Option<Members> = members.get("details").and_then(typed);
    let Some(mut details) = details else { return Ok(false) };
    let meta: Option<Value> = details.get("meta").and_then(typed);
    let has_artifact = meta.is_some_and(|meta| !meta["truncation"]["artifactId"].is_null());
    let is_copy = details.tag("serverName").is_some()
        && details.tag("mcpToolName").is_some()
        && has_artifact
        && details.remove("structuredContent").is_some();
    if is_copy {
        let details = RawValue::from_string(details.into_json().text().to_owned())?;
        members.set("details", details);
    }
    Ok(is_copy)
}

/// A text that was cut has other lines.
fn count_lines_again(members: &mut Members) -> io::Result<()> {
    let has_count = members.get("lineCount").is_some_and(|count| typed::<f64>(count).is_some());
    if has_count && let Some(content) = members.tag("content") {
        let lines = content.matches('\n').count() + 1;
        members.set("lineCount", to_raw_value(&lines)?);
    }
    Ok(())
}
