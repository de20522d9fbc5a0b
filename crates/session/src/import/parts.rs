//! What imported entries are made of, the same for all origins.

use std::sync::Arc;

use crate::block::{Block, Content, ImageBlock};
use crate::entry::{EntryKind, MessageEntry, ModelChangeEntry};
use crate::message::{AssistantMessage, Message, ToolResult, UserMessage};
use crate::usage::{Cost, Usage};

/// A message as an entry.
pub(super) fn message(message: Message) -> EntryKind {
    EntryKind::Message(MessageEntry { message: Arc::new(message), ..MessageEntry::default() })
}

/// What the user said.
pub(super) fn user(content: Content, timestamp: i64) -> EntryKind {
    message(Message::User(UserMessage { content, timestamp, ..UserMessage::default() }))
}

/// What the model answered.
pub(super) fn reply(reply: AssistantMessage) -> EntryKind {
    message(Message::Assistant(Box::new(reply)))
}

/// What a tool answered.
pub(super) fn result(result: ToolResult) -> EntryKind {
    message(Message::ToolResult(result))
}

/// A change of model.
pub(super) fn model_change(provider: &str, model: &str) -> EntryKind {
    let model = format!("{provider}/{model}");
    EntryKind::ModelChange(ModelChangeEntry { model, ..ModelChangeEntry::default() })
}

/// Usage without cost: who ran the turn elsewhere has paid for it there.
pub(super) fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    let total_tokens =
        [input, output, cache_read, cache_write].into_iter().fold(0, u64::saturating_add);
    let cost = Some(Cost::default());
    Usage { input, output, cache_read, cache_write, total_tokens, cost, ..Usage::default() }
}

/// A picture in base64.
pub(super) fn image(mime_type: String, data: String) -> ImageBlock {
    ImageBlock { data, mime_type, ..ImageBlock::default() }
}

/// The picture that a `data:` URL holds; `None` for any other URL.
pub(super) fn image_of_url(url: &str) -> Option<ImageBlock> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let mime_type = head.strip_suffix(";base64")?;
    let mime_type = mime_type.split(';').next().unwrap_or_default();
    mime_type.starts_with("image/").then(|| image(mime_type.to_owned(), data.to_owned()))
}

/// Whether a block says anything.
pub(super) fn says_something(block: &Block) -> bool {
    match block {
        Block::Text(text) => !text.text.is_empty(),
        Block::Thinking(thinking) => {
            !thinking.thinking.is_empty() || thinking.thinking_signature.is_some()
        }
        Block::RedactedThinking(thinking) => !thinking.data.is_empty(),
        Block::Image(_) | Block::ToolCall(_) | Block::ServerTool(_) | Block::Unknown(_) => true,
    }
}
