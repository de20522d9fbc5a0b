//! Custom messages: the developer's word, except where the user spoke through a feature, and for pictures, which providers
//! take from users only.

use std::sync::Arc;

use longhand_prompts::Prompts;

use super::steering;
use crate::message::{Attribution, Block, Content, CustomMessage, Message, UserMessage};

pub(super) fn custom(message: &CustomMessage, prompts: &Prompts) -> Vec<Arc<Message>> {
    let Some(content) = content(message) else { return Vec::new() };
    let is_from_user = message.attribution == Some(Attribution::User);
    match message.custom_type.as_str() {
        "collab-prompt" if is_from_user => {
            vec![user(message, steering::with_notice(content, prompts))]
        }
        "skill-prompt" if is_from_user => vec![user(message, Content::Blocks(content.to_blocks()))],
        _ => plain(message),
    }
}

/// Conversion of a message that no feature owns.
pub(super) fn plain(message: &CustomMessage) -> Vec<Arc<Message>> {
    let Some(content) = content(message) else { return Vec::new() };
    if !content.has_images() {
        return vec![developer(message, content.to_blocks())];
    }
    let (images, texts): (Vec<Block>, Vec<Block>) =
        content.to_blocks().into_iter().partition(|block| matches!(block, Block::Image(_)));
    let lead = Block::text(format!("Images attached to {}.", message.custom_type));
    let pictures = std::iter::once(lead).chain(images).collect();
    let mut converted = Vec::with_capacity(2);
    if !texts.is_empty() {
        converted.push(developer(message, texts));
    }
    converted.push(user(message, Content::Blocks(pictures)));
    converted
}

/// The content, unless it was neither text nor blocks.
fn content(message: &CustomMessage) -> Option<&Content> {
    message.extra.get("content").is_none().then_some(&message.content)
}

fn user(message: &CustomMessage, content: Content) -> Arc<Message> {
    Arc::new(Message::User(said(message, content)))
}

fn developer(message: &CustomMessage, blocks: Vec<Block>) -> Arc<Message> {
    Arc::new(Message::Developer(said(message, Content::Blocks(blocks))))
}

fn said(message: &CustomMessage, content: Content) -> UserMessage {
    UserMessage {
        content,
        attribution: message.attribution,
        timestamp: message.timestamp,
        ..UserMessage::default()
    }
}
