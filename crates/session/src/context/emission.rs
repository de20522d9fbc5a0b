//! From entries to messages.

use std::sync::Arc;

use serde_json::Value;

use crate::entry::{BranchSummaryEntry, CompactionEntry, CustomMessageEntry, Entry, EntryKind};
use crate::json::Json;
use crate::message::{
    AssistantMessage, Block, BranchSummaryMessage, CompactionSummaryMessage, Content,
    CustomMessage, Message, StopReason,
};
use crate::store::EntryTag;

/// Kinds of custom messages that belong to a view and not to the conversation.
const VIEW_ONLY: [&str; 2] = ["prewalk-plan", "vibe-mode-context"];

/// Whether an entry of this tag may become a message by itself.
pub(super) fn may_emit(tag: EntryTag) -> bool {
    tag.is_message() || tag == EntryTag::BranchSummary
}

/// The message of an entry for a person.
pub(super) fn for_person(entry: &Entry) -> Option<Arc<Message>> {
    match &entry.kind {
        EntryKind::Message(stored) => Some(Arc::clone(&stored.message)),
        EntryKind::CustomMessage(custom) => custom_message(entry, custom),
        EntryKind::BranchSummary(summary) => branch_summary(entry, summary),
        _ => None,
    }
}

/// The message of an entry for a model: without failed turns that say nothing or were made good, and without notes to people.
pub(super) fn for_model(entry: &Entry) -> Option<Arc<Message>> {
    let message = for_person(entry)?;
    let is_hidden = match &*message {
        Message::Assistant(turn) => turn.retry_recovery.is_some() || is_empty_error(turn),
        Message::Custom(custom) => {
            matches!(entry.kind, EntryKind::CustomMessage(_))
                && VIEW_ONLY.contains(&custom.custom_type.as_str())
        }
        _ => false,
    };
    (!is_hidden).then_some(message)
}

fn is_empty_error(turn: &AssistantMessage) -> bool {
    turn.stop_reason == StopReason::Error && !turn.content.iter().any(has_content)
}

fn has_content(block: &Block) -> bool {
    let is_said = |text: &str| !text.trim().is_empty();
    match block {
        Block::Text(block) => is_said(&block.text),
        Block::Thinking(block) => {
            is_said(&block.thinking) || block.thinking_signature.as_deref().is_some_and(is_said)
        }
        Block::RedactedThinking(block) => is_said(&block.data),
        Block::ToolCall(_) | Block::ServerTool(_) | Block::Image(_) => true,
        Block::Unknown(json) => json.get("type").and_then(Value::as_str) != Some("fallback"),
    }
}

/// Made anew at each rebuild; stored ones keep their identity.
fn custom_message(entry: &Entry, custom: &CustomMessageEntry) -> Option<Arc<Message>> {
    let content: Content = serde_json::from_str(custom.content.text()).ok()?;
    let custom_type = match custom.custom_type.as_str() {
        "" => "custom-message",
        name => name,
    };
    Some(Arc::new(Message::Custom(CustomMessage {
        custom_type: custom_type.to_owned(),
        content,
        display: custom.display,
        details: custom.details.clone(),
        attribution: custom.attribution,
        timestamp: millis(entry),
        ..CustomMessage::default()
    })))
}

fn branch_summary(entry: &Entry, summary: &BranchSummaryEntry) -> Option<Arc<Message>> {
    if summary.summary.is_empty() {
        return None;
    }
    Some(Arc::new(Message::BranchSummary(BranchSummaryMessage {
        summary: summary.summary.clone(),
        from_id: summary.from_id.clone(),
        timestamp: millis(entry),
        ..BranchSummaryMessage::default()
    })))
}

/// The summary of a compaction, without blocks and without a provider's state.
pub(super) fn compaction_summary(
    entry: &Entry,
    compaction: &CompactionEntry,
) -> CompactionSummaryMessage {
    CompactionSummaryMessage {
        summary: compaction.summary.clone(),
        short_summary: compaction.short_summary.clone(),
        tokens_before: compaction.tokens_before,
        tokens_after: compaction.tokens_after,
        method: compaction.method.clone(),
        warning: compaction.warning.clone(),
        timestamp: millis(entry),
        ..CompactionSummaryMessage::default()
    }
}

/// Puts the blocks of an archive into a summary. Without blocks the summary stays as it is.
pub(super) fn set_blocks(message: &mut CompactionSummaryMessage, blocks: Vec<Block>) {
    if blocks.is_empty() {
        return;
    }
    let images: Vec<Block> =
        blocks.iter().filter(|block| matches!(block, Block::Image(_))).cloned().collect();
    message.images = (!images.is_empty()).then_some(images);
    message.blocks = Some(blocks);
}

pub(super) fn summary_message(message: CompactionSummaryMessage) -> Arc<Message> {
    Arc::new(Message::CompactionSummary(Box::new(message)))
}

/// When the entry was appended; 0 where that is not a time.
pub(super) fn millis(entry: &Entry) -> i64 {
    entry.timestamp.millis().unwrap_or(0)
}

/// A provider's own state that stands for the history before a compaction.
pub(super) enum Replay {
    /// Items of a Responses conversation, which hold the kept tail too.
    Openai(Json),
    /// An encrypted summary; the tail follows as messages.
    Anthropic(Json),
}

impl Replay {
    pub(super) fn read(compaction: &CompactionEntry) -> Option<Self> {
        let slots = compaction.preserve_data.as_ref()?;
        let openai = slots.get("openaiRemoteCompaction").and_then(openai_payload);
        openai.map(Self::Openai).or_else(|| {
            slots.get("anthropicCompaction").and_then(anthropic_payload).map(Self::Anthropic)
        })
    }

    pub(super) fn into_payload(self) -> Json {
        match self {
            Self::Openai(payload) | Self::Anthropic(payload) => payload,
        }
    }
}

fn openai_payload(slot: &Value) -> Option<Json> {
    let provider = slot["provider"].as_str().filter(|provider| !provider.is_empty())?;
    let items = slot["replacementHistory"].as_array()?;
    if !items.iter().all(Value::is_object) {
        return None;
    }
    let payload = serde_json::json!({
        "type": "openaiResponsesHistory", "provider": provider, "items": items,
    });
    Some(payload.into())
}

fn anthropic_payload(slot: &Value) -> Option<Json> {
    let provider = slot["provider"].as_str().filter(|provider| !provider.is_empty())?;
    let content = slot["content"].as_str()?;
    let mut payload = serde_json::json!({
        "type": "anthropicCompaction", "provider": provider, "content": content,
    });
    for key in ["encryptedContent", "filesText"] {
        if let Some(text) = slot[key].as_str() {
            payload[key] = text.into();
        }
    }
    Some(payload.into())
}
