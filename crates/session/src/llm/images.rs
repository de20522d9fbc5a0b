//! Pictures whose content was not found: a reference into the blob store says nothing to a provider.

use std::sync::Arc;

use crate::archive::BLOB_PREFIX;
use crate::message::{Block, Content, Message};

const UNAVAILABLE: &str = "[image unavailable]";

/// Puts a text in the place of each picture that is only a reference.
pub(super) fn replace_missing(message: &mut Arc<Message>) {
    let blocks = match &**message {
        Message::User(said) | Message::Developer(said) => match &said.content {
            Content::Blocks(blocks) => blocks,
            Content::Text(_) => return,
        },
        Message::ToolResult(result) => &result.content,
        _ => return,
    };
    if !blocks.iter().any(is_missing) {
        return;
    }
    let replaced = blocks
        .iter()
        .map(|block| if is_missing(block) { Block::text(UNAVAILABLE) } else { block.clone() })
        .collect();
    match Arc::make_mut(message) {
        Message::User(said) | Message::Developer(said) => said.content = Content::Blocks(replaced),
        Message::ToolResult(result) => result.content = replaced,
        _ => {}
    }
}

fn is_missing(block: &Block) -> bool {
    matches!(block, Block::Image(image) if image.data.starts_with(BLOB_PREFIX))
}
