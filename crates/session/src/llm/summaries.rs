//! Summaries as the model reads them: in a frame of words that says what they are.

use std::sync::Arc;

use longhand_prompts::{Prompt, Prompts};

use crate::message::{
    Attribution, Block, BranchSummaryMessage, CompactionSummaryMessage, Content, Message,
    UserMessage,
};

/// The value of `method` of a compaction whose summary is a handoff document.
const HANDOFF: &str = "handoff";

pub(super) fn branch(message: &BranchSummaryMessage, prompts: &Prompts) -> Arc<Message> {
    let text = prompts.render(Prompt::BranchSummaryContext, &[("summary", &message.summary)]);
    Arc::new(Message::User(UserMessage {
        content: Content::Blocks(vec![Block::text(text)]),
        attribution: Some(Attribution::Agent),
        history_rewrite_at: Some(message.timestamp),
        timestamp: message.timestamp,
        ..UserMessage::default()
    }))
}

/// The blocks of an archive follow the summary, which then introduces them and needs no frame.
pub(super) fn compaction(message: &CompactionSummaryMessage, prompts: &Prompts) -> Arc<Message> {
    let (text, blocks) = match &message.blocks {
        Some(blocks) => (message.summary.clone(), blocks.as_slice()),
        None => (framed(message, prompts), message.images.as_deref().unwrap_or_default()),
    };
    let content = std::iter::once(Block::text(text)).chain(blocks.iter().cloned()).collect();
    Arc::new(Message::User(UserMessage {
        content: Content::Blocks(content),
        attribution: Some(Attribution::Agent),
        history_rewrite_at: message.history_rewrite_at.or(Some(message.timestamp)),
        provider_payload: message.provider_payload.clone(),
        timestamp: message.timestamp,
        ..UserMessage::default()
    }))
}

fn framed(message: &CompactionSummaryMessage, prompts: &Prompts) -> String {
    let prompt = match message.method.as_deref() {
        Some(HANDOFF) => Prompt::HandoffSummaryContext,
        _ => Prompt::CompactionSummaryContext,
    };
    prompts.render(prompt, &[("summary", &message.summary)])
}
