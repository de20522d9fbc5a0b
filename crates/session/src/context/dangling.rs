//! The last passes over rebuilt messages: calls that were never answered, and turns that did not finish.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ids::ToolCallId;
use crate::llm;
use crate::message::{AssistantMessage, Block, Message};

/// Takes out calls without result, messages that then say nothing, and turns that failed or were stopped with their results. A
/// stopped turn stays where the note about its interrupted thinking follows.
pub(super) fn finish_for_model(messages: &mut Vec<Arc<Message>>) {
    let answered = answered(messages);
    let stripped = messages.drain(..).filter_map(|message| {
        let Some((turn, _)) = strip(&message, &answered) else { return Some(message) };
        (!turn.content.is_empty()).then(|| Arc::new(Message::Assistant(Box::new(turn))))
    });
    let stripped: Vec<Arc<Message>> = stripped.collect();
    let mut dropped: HashSet<&ToolCallId> = HashSet::new();
    for (index, message) in stripped.iter().enumerate() {
        match &**message {
            Message::Assistant(turn) => {
                let is_dropped =
                    turn.is_unfinished() && !llm::is_interruption_note(stripped.get(index + 1));
                for call in turn.tool_calls() {
                    if is_dropped {
                        dropped.insert(&call.id);
                    } else {
                        dropped.remove(&call.id);
                    }
                }
                if is_dropped {
                    continue;
                }
            }
            Message::ToolResult(result) if dropped.contains(&result.tool_call_id) => continue,
            _ => {}
        }
        messages.push(Arc::clone(message));
    }
}

/// Takes out calls without result and says how many; every message stays.
pub(super) fn strip_for_transcript(messages: &mut [Arc<Message>]) {
    let answered = answered(messages);
    for message in messages {
        if let Some((mut turn, stripped_calls)) = strip(message, &answered) {
            turn.stripped_tool_calls = Some(stripped_calls);
            *message = Arc::new(Message::Assistant(Box::new(turn)));
        }
    }
}

fn answered(messages: &[Arc<Message>]) -> HashSet<ToolCallId> {
    let results = messages.iter().filter_map(|message| message.as_tool_result());
    results.map(|result| result.tool_call_id.clone()).collect()
}

/// The turn without calls that have no result, and how many there were; `None` where all are answered. Reasoning that led to
/// the missing calls is no longer what was signed.
fn strip(message: &Message, answered: &HashSet<ToolCallId>) -> Option<(AssistantMessage, u64)> {
    let turn = message.as_assistant()?;
    let is_open =
        |block: &Block| block.as_tool_call().is_some_and(|call| !answered.contains(&call.id));
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
