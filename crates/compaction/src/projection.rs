//! How large a context will be after a compaction, before anything is written.

use longhand_agent::Branch;
use longhand_agent::compaction::{CompactionResult, Preparation};
use longhand_session::archive::{self, Archive};
use longhand_session::context::message_of;
use longhand_session::message::CompactionSummaryMessage;
use longhand_session::tokens::{EncryptedReasoning, count_message, count_messages};
use longhand_session::{Message, TokenCounter};

/// Tokens of the context when `result` stands in the place of what it replaces: system prompt and tools, the summary, and the
/// messages that are kept. Signatures and encrypted reasoning are not counted, as in every size that is compared with a
/// threshold. An archive counts with the frames that are sent of it. Linear in what is kept.
pub fn project(
    branch: &Branch,
    preparation: &Preparation,
    result: &CompactionResult,
    counter: &dyn TokenCounter,
    non_message_tokens: u64,
) -> u64 {
    let blocks = result.preserve_data.as_ref().and_then(Archive::read).map(|archive| {
        archive::history_blocks(&archive, archive::model_budget(&archive, None), None)
    });
    let summary = Message::CompactionSummary(Box::new(CompactionSummaryMessage {
        summary: result.summary.clone(),
        blocks,
        ..CompactionSummaryMessage::default()
    }));
    let kept_tokens = if result.first_kept_entry_id == preparation.first_kept_entry_id {
        let recent = &preparation.recent_messages;
        count_messages(counter, recent, EncryptedReasoning::Excluded)
    } else {
        kept_on_branch(branch, result, counter)
    };
    non_message_tokens
        .saturating_add(count_message(counter, &summary, EncryptedReasoning::Excluded))
        .saturating_add(kept_tokens)
}

/// A method of an extension may keep something else than what was prepared. An id that is not on the branch keeps nothing.
fn kept_on_branch(branch: &Branch, result: &CompactionResult, counter: &dyn TokenCounter) -> u64 {
    branch
        .entries
        .iter()
        .skip_while(|entry| entry.id != result.first_kept_entry_id)
        .filter_map(|entry| message_of(entry))
        .map(|message| count_message(counter, &message, EncryptedReasoning::Excluded))
        .sum()
}
