//! The content of Codex's messages and results, as blocks of ours.

use serde_json::value::RawValue;

use crate::block::Block;
use crate::import::fields::{items, json, members, object, pick, text, words};
use crate::import::parts;
use crate::json::Json;

/// The texts and pictures of a list; of a text, that.
pub(super) fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    match text(content) {
        Some(text) if text.is_empty() => Vec::new(),
        Some(text) => vec![Block::text(text)],
        None => items(content).into_iter().filter_map(block).collect(),
    }
}

fn block(raw: &RawValue) -> Option<Block> {
    let [kind, said] = pick(raw.get(), ["type", "text"]);
    match text(kind)?.as_str() {
        "input_text" | "output_text" | "text" | "inputText" | "outputText" => {
            text(said).filter(|said| !said.is_empty()).map(Block::text)
        }
        "input_image" | "image" | "inputImage" => picture(raw),
        _ => None,
    }
}

/// A picture: a `data:` URL, or an object that holds one, or base64 with its type.
pub(super) fn picture(raw: &RawValue) -> Option<Block> {
    if let Some(url) = text(Some(raw)) {
        return parts::image_of_url(&url).map(Block::Image);
    }
    let [url, url_too, detail, data, mime_type] =
        pick(raw.get(), ["image_url", "imageUrl", "detail", "data", "mimeType"]);
    let mut image = match text(url).or_else(|| text(url_too)) {
        Some(url) => parts::image_of_url(&url)?,
        None => parts::image(text(mime_type)?, text(data)?),
    };
    image.detail = words(detail);
    Some(Block::Image(image))
}

/// The arguments of a call: an object, or the text of one; any other text under `input`.
pub(super) fn arguments(raw: Option<&RawValue>) -> Json {
    let Some(written) = text(raw) else { return object(raw) };
    match serde_json::from_str::<Json>(&written) {
        Ok(json) if json.text().starts_with('{') => json,
        Ok(_) | Err(_) => serde_json::json!({ "input": written }).into(),
    }
}

/// What a tool answered: text, blocks, an object with either as its `content`, or any other value as its JSON.
pub(super) fn of_output(output: Option<&RawValue>) -> Vec<Block> {
    let found = blocks(output);
    if !found.is_empty() || text(output).is_some() {
        return found;
    }
    let [content] = members(output, ["content"]);
    let found = blocks(content);
    if !found.is_empty() || text(content).is_some() {
        return found;
    }
    json(output).map(|json| Block::text(json.text())).into_iter().collect()
}

/// What a tool on a server answered: its blocks, else the value in their place.
pub(super) fn of_mcp_result(result: &RawValue) -> Vec<Block> {
    let [content, structured] = pick(result.get(), ["content", "structuredContent"]);
    let found = blocks(content);
    if found.is_empty() { of_output(json_or(structured, content)) } else { found }
}

fn json_or<'a>(first: Option<&'a RawValue>, second: Option<&'a RawValue>) -> Option<&'a RawValue> {
    first.filter(|raw| raw.get() != "null").or(second)
}
