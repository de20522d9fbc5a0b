//! Calls that were never answered: what becomes of them and of the turns that made them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ids::ToolCallId;
use crate::message::{AssistantMessage, Block, Message};

/// Takes out calls without result and says how many; every message stays.
pub(super) fn strip_for_transcript(messages: &mut [Arc<Message>]) {
    let results = messages.iter().filter_map(|message| message.as_tool_result());
    let answered: HashSet<ToolCallId> = results.map(|result| result.tool_call_id.clone()).collect();
    for message in messages {
        if let Some((mut turn, stripped_calls)) = strip(message, |id| answered.contains(id)) {
            turn.stripped_tool_calls = Some(stripped_calls);
            *message = Arc::new(Message::Assistant(Box::new(turn)));
        }
    }
}

/// The turn without calls that have no result, and how many there were; `None` where all are answered. Reasoning that led to
/// the missing calls is no longer what was signed.
pub(super) fn strip(
    message: &Message,
    is_answered: impl Fn(&ToolCallId) -> bool,
) -> Option<(AssistantMessage, u64)> {
    let turn = message.as_assistant()?;
    let is_open = |block: &Block| block.as_tool_call().is_some_and(|call| !is_answered(&call.id));
    let open = turn.content.iter().filter(|block| is_open(block)).count();
    if open == 0 {
        return None;
    }
    let mut turn = turn.clone();
    turn.content.retain(|block| !is_open(block) && !matches!(block, Block::RedactedThinking(_)));
    for block in &mut turn.content {
        if let Block::Thinking(thinking) = block {
            thinking.thinking_signature = None;
        }
    }
    Some((turn, open as u64))
}
