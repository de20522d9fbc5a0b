//! The bitmap archive that a compaction leaves in its `preserveData`, and the blocks that it becomes in a context.
//!
//! Old history lies here as pictures of dense text between two edges of plain text. Reading is lenient: what is damaged is left
//! out, what is left is used. How frames are drawn is not known here.

mod blocks;

use serde_json::Value;

pub use blocks::{FrameBudget, FrameSource, history_blocks, model_budget, over_budget_note};

use crate::data_url::{self, Origin};
use crate::json::{Json, open_object};

/// Key of the archive in `preserveData`.
pub const SLOT: &str = "snapcompact";

/// What frame data is when it lies in the blob store.
pub const BLOB_PREFIX: &str = "blob:sha256:";

/// Ends a string that an earlier writer cut. Frame data with this end is damaged.
const CUT_NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// Stands for a line end in archive text.
const LINE_END: char = '\u{2588}';

/// Switch the ink of archive text on and off.
const INK: [char; 2] = ['\u{e}', '\u{f}'];

open_object! {
    /// One picture of dense text.
    pub struct Frame {
        /// Base64, or a reference into the blob store.
        pub data: String = "data",
        /// Media type.
        pub mime_type: String = "mimeType",
        /// Characters a line.
        pub cols: u64 = "cols",
        /// Lines.
        pub rows: u64 = "rows",
        /// Characters drawn.
        pub chars: u64 = "chars",
        /// Font; absent in the oldest archives.
        pub font: Option<String> = "font",
        /// Colour scheme; absent in the oldest archives.
        pub variant: Option<String> = "variant",
        /// How often each line is drawn.
        pub line_repeat: Option<u64> = "lineRepeat",
        /// Columns, where there are several.
        pub columns: Option<u64> = "columns",
        /// Whether function words are drawn pale.
        pub stopword_dim: Option<bool> = "stopwordDim",
        /// How finely the model should look.
        pub detail: Option<String> = "detail",
        /// Width of the picture, in pixels.
        pub width: Option<u64> = "width",
        /// Height of the picture, in pixels.
        pub height: Option<u64> = "height",
        /// Names what is drawn: frames with the same key look the same.
        pub key: Option<String> = "key",
    }
}

/// History as pictures and text. Never empty when read.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Archive {
    /// The pictures, oldest first.
    pub frames: Vec<Frame>,
    /// Characters that the archive was made of.
    pub total_chars: u64,
    /// Characters that found no place.
    pub truncated_chars: u64,
    /// The whole text, from which the archive is laid out again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Oldest part, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_head: Option<String>,
    /// Newest part, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_tail: Option<String>,
}

impl Archive {
    /// The archive in `preserveData`, if there is one. Damaged frames are left out; if the whole text is there, it takes the
    /// place of all frames.
    pub fn read(preserve_data: &Json) -> Option<Self> {
        let slot = preserve_data.get(SLOT)?.as_object()?;
        let text = |key: &str| {
            slot.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let number = |key: &str| slot.get(key).and_then(Value::as_u64).unwrap_or(0);
        let frames = slot.get("frames").and_then(Value::as_array);
        let mut archive = Self {
            frames: frames.into_iter().flatten().filter_map(read_frame).collect(),
            total_chars: number("totalChars"),
            truncated_chars: number("truncatedChars"),
            text: text("text"),
            text_head: text("textHead"),
            text_tail: text("textTail"),
        };
        archive.heal();
        (!archive.is_empty()).then_some(archive)
    }

    /// `preserve_data` with this archive in its slot.
    pub fn write(&self, preserve_data: Option<&Json>) -> Json {
        let mut slots = match preserve_data.map(Json::value) {
            Some(Value::Object(slots)) => slots.clone(),
            _ => serde_json::Map::new(),
        };
        let archive = serde_json::to_value(self).expect("an archive holds only JSON");
        slots.insert(SLOT.to_owned(), archive);
        Value::Object(slots).into()
    }

    /// All text of the archive for a reader without eyes, line ends restored; `None` if it has only pictures.
    pub fn source_text(&self) -> Option<String> {
        if let Some(text) = &self.text {
            return Some(plain(text));
        }
        let edges = [self.text_head.as_deref(), self.text_tail.as_deref()];
        let edges: Vec<String> = edges.into_iter().flatten().map(plain).collect();
        (!edges.is_empty()).then(|| edges.join("\n"))
    }

    /// The text from which the archive is laid out again, with its line ends and ink switches; `None` if it has only pictures.
    pub fn laid_out_text(&self) -> Option<String> {
        let edges = || [self.text_head.as_deref(), self.text_tail.as_deref()].into_iter().flatten();
        let joined = || edges().collect::<Vec<_>>().join(&LINE_END.to_string());
        let text = self.text.clone().unwrap_or_else(joined);
        (!text.is_empty()).then_some(text)
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty()
            && self.text.is_none()
            && self.text_head.is_none()
            && self.text_tail.is_none()
    }

    fn heal(&mut self) {
        let is_damaged = |frame: &Frame| frame.data.ends_with(CUT_NOTICE);
        if !self.frames.iter().any(is_damaged) {
            return;
        }
        if self.text.is_some() {
            self.frames.clear();
            self.text_head.clone_from(&self.text);
            self.text_tail = None;
        } else {
            self.frames.retain(|frame| !is_damaged(frame));
        }
    }
}

fn read_frame(value: &Value) -> Option<Frame> {
    let has_numbers = ["cols", "rows", "chars"].iter().all(|key| value[key].is_number());
    let has_data = value["data"].as_str().is_some_and(|data| !data.is_empty());
    if !has_numbers || !has_data || !value["mimeType"].is_string() {
        return None;
    }
    serde_json::from_value(value.clone()).ok()
}

/// `preserveData` without its archive; `None` if nothing is left.
pub fn strip(preserve_data: &Json) -> Option<Json> {
    let Value::Object(slots) = preserve_data.value() else { return None };
    let mut slots = slots.clone();
    slots.shift_remove(SLOT);
    (!slots.is_empty()).then(|| Value::Object(slots).into())
}

/// Archive text as it was before it was laid out: line ends back, ink switches gone, data URLs replaced by a note.
pub fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| !INK.contains(c))
        .map(|c| if c == LINE_END { '\n' } else { c })
        .collect();
    data_url::elide(&text, Origin::Archive).into_owned()
}
