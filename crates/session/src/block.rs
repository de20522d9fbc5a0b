//! What a message is made of: text, reasoning, pictures, calls of tools. Unknown blocks are kept as they came.

use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::ids::ToolCallId;
use crate::json::{Json, Member, Members, open_object};
use crate::message::tagged;

/// Content of a message: plain text, or blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks in their order.
    Blocks(Vec<Block>),
}

impl Content {
    /// The texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (plain, blocks) = match self {
            Self::Text(text) => (Some(text.as_str()), &[][..]),
            Self::Blocks(blocks) => (None, blocks.as_slice()),
        };
        plain.into_iter().chain(blocks.iter().filter_map(Block::as_text))
    }

    /// All texts, joined without a separator.
    pub fn text(&self) -> String {
        self.texts().collect()
    }

    /// Whether there is an image.
    pub fn has_images(&self) -> bool {
        matches!(self, Self::Blocks(blocks) if blocks.iter().any(|block| matches!(block, Block::Image(_))))
    }

    /// The content as blocks: plain text becomes one text block.
    pub fn to_blocks(&self) -> Vec<Block> {
        match self {
            Self::Text(text) => vec![Block::text(text.clone())],
            Self::Blocks(blocks) => blocks.clone(),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Member for Content {}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            crate::json::typed(&raw).map(Self::Text)
        } else {
            crate::json::typed(&raw).map(Self::Blocks)
        }
        .ok_or_else(|| D::Error::custom("content is neither text nor blocks"))
    }
}

/// One piece of a message's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// The model's reasoning.
    Thinking(ThinkingBlock),
    /// Reasoning that only its provider can read.
    RedactedThinking(RedactedThinkingBlock),
    /// A picture.
    Image(ImageBlock),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A tool that ran on the provider's side; the block is the provider's own object.
    ServerTool(ServerToolBlock),
    /// Anything else, kept as it came.
    Unknown(Json),
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..TextBlock::default() })
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(block) = self { Some(&block.text) } else { None }
    }

    /// The call of a tool call block.
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        if let Self::ToolCall(call) = self { Some(call) } else { None }
    }
}

open_object! {
    /// Text.
    pub struct TextBlock {
        /// The text.
        pub text: String = "text",
        /// A provider's signature over the text.
        pub text_signature: Option<String> = "textSignature",
    }
}

open_object! {
    /// The model's reasoning.
    pub struct ThinkingBlock {
        /// The reasoning as text.
        pub thinking: String = "thinking",
        /// A provider's signature, or the name of the wire field that it came from.
        pub thinking_signature: Option<String> = "thinkingSignature",
        /// The provider's id of the reasoning item.
        pub item_id: Option<String> = "itemId",
    }
}

open_object! {
    /// Reasoning that only its provider can read.
    pub struct RedactedThinkingBlock {
        /// Opaque text.
        pub data: String = "data",
    }
}

open_object! {
    /// A picture.
    pub struct ImageBlock {
        /// Base64, or `blob:sha256:` and 64 hexadecimal digits.
        pub data: String = "data",
        /// Media type, such as `image/png`.
        pub mime_type: String = "mimeType",
        /// How finely the model should look: `auto`, `low`, `high` or `original`.
        pub detail: Option<String> = "detail",
    }
}

open_object! {
    /// A call of a tool.
    pub struct ToolCall {
        /// Id that the result refers to.
        pub id: ToolCallId = "id",
        /// Name of the tool.
        pub name: String = "name",
        /// Arguments, an object.
        pub arguments: Json = "arguments",
        /// A provider's signature over the reasoning that led to the call.
        pub thought_signature: Option<String> = "thoughtSignature",
        /// Why the model calls, in its own words.
        pub intent: Option<String> = "intent",
    }
}

open_object! {
    /// A tool that ran on the provider's side.
    pub struct ServerToolBlock {
        /// The provider's object, verbatim.
        pub block: Json = "block",
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => tagged(serializer, "type", "text", block),
            Self::Thinking(block) => tagged(serializer, "type", "thinking", block),
            Self::RedactedThinking(block) => tagged(serializer, "type", "redactedThinking", block),
            Self::Image(block) => tagged(serializer, "type", "image", block),
            Self::ToolCall(block) => tagged(serializer, "type", "toolCall", block),
            Self::ServerTool(block) => tagged(serializer, "type", "anthropicServerTool", block),
            Self::Unknown(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let Ok(members) = serde_json::from_str::<Members>(json.text()) else {
            return Ok(Self::Unknown(json));
        };
        Ok(match members.tag("type").as_deref() {
            Some("text") => Self::Text(members.read(&["type"])),
            Some("thinking") => Self::Thinking(members.read(&["type"])),
            Some("redactedThinking") => Self::RedactedThinking(members.read(&["type"])),
            Some("image") => Self::Image(members.read(&["type"])),
            Some("toolCall") => Self::ToolCall(members.read(&["type"])),
            Some("anthropicServerTool") => Self::ServerTool(members.read(&["type"])),
            _ => Self::Unknown(json),
        })
    }
}
