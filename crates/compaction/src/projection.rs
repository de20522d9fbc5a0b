//! How large a context will be after a compaction, before anything is written.

use longhand_agent::Branch;
use longhand_agent::compaction::{CompactionResult, Preparation};
use longhand_session::archive::{self, Archive, FrameSource};
use longhand_session::context::message_of;
use longhand_session::message::CompactionSummaryMessage;
use longhand_session::tokens::{EncryptedReasoning, count_message, count_messages};
use longhand_session::{Message, TokenCounter};

/// How a context is measured.
#[derive(Clone, Copy)]
pub struct Scale<'a> {
    /// Counts tokens for the model.
    pub counter: &'a dyn TokenCounter,
    /// Tokens of system prompt and tools.
    pub non_message_tokens: u64,
    /// What signatures and encrypted reasoning cost. Sizes that are compared with a threshold leave them out.
    pub reasoning: EncryptedReasoning,
    /// Where frames lie that archives only refer to.
    pub frames: Option<&'a dyn FrameSource>,
}

impl<'a> Scale<'a> {
    /// The scale of sizes that are compared with a threshold.
    pub fn new(counter: &'a dyn TokenCounter, non_message_tokens: u64) -> Self {
        Self { counter, non_message_tokens, reasoning: EncryptedReasoning::Excluded, frames: None }
    }
}

/// Tokens of the context when `result` stands in the place of what it replaces: system prompt and tools, the summary, and the
/// messages that are kept. An archive counts with the frames that are sent of it. Linear in what is kept.
pub fn project(
    branch: &Branch,
    preparation: &Preparation,
    result: &CompactionResult,
    scale: &Scale<'_>,
) -> u64 {
    let frames = scale.frames;
    let blocks = result.preserve_data.as_ref().and_then(Archive::read).map(|archive| {
        archive::history_blocks(&archive, archive::model_budget(&archive, frames), frames)
    });
    let summary = Message::CompactionSummary(Box::new(CompactionSummaryMessage {
        summary: result.summary.clone(),
        blocks,
        ..CompactionSummaryMessage::default()
    }));
    let kept_tokens = if result.first_kept_entry_id == preparation.first_kept_entry_id {
        let recent = &preparation.recent_messages;
        count_messages(scale.counter, recent, scale.reasoning)
    } else {
        kept_on_branch(branch, result, scale)
    };
    scale
        .non_message_tokens
        .saturating_add(count_message(scale.counter, &summary, scale.reasoning))
        .saturating_add(kept_tokens)
}

/// A method of an extension may keep something else than what was prepared. An id that is not on the branch keeps nothing.
fn kept_on_branch(branch: &Branch, result: &CompactionResult, scale: &Scale<'_>) -> u64 {
    branch
        .entries
        .iter()
        .skip_while(|entry| entry.id != result.first_kept_entry_id)
        .filter_map(|entry| message_of(entry))
        .map(|message| count_message(scale.counter, &message, scale.reasoning))
        .sum()
}
