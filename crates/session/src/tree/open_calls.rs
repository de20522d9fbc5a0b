//! Calls at the end of a branch that nobody has answered: it was left while they ran, or cut between them and their results.

use std::collections::HashSet;
use std::sync::Arc;

use crate::block::{Block, ToolCall};
use crate::entry::Entry;
use crate::ids::EntryId;
use crate::message::{AssistantMessage, Message, ToolResult};
use crate::store::{EntryReader, EntryTag, IndexRow, StoreError};

/// The calls at the end of a path, root first, that have no result, in their order. Reads the last reply and what follows it.
///
/// Calls that something was said after are part of the history, and no longer open.
///
/// # Errors
/// The reader's.
pub fn open_calls(
    path: &[IndexRow],
    reader: &dyn EntryReader,
) -> Result<Vec<ToolCall>, StoreError> {
    let tags: Vec<EntryTag> = path.iter().map(|row| row.tag).collect();
    let Some(reply) = reply_at_end(&tags) else { return Ok(Vec::new()) };
    let ids: Vec<EntryId> = path[reply..].iter().map(|row| row.id.clone()).collect();
    Ok(unanswered(&reader.read(&ids)?))
}

/// As [`open_calls`], for a path that is in memory.
pub fn open_calls_in(path: &[Arc<Entry>]) -> Vec<ToolCall> {
    let tags: Vec<EntryTag> = path.iter().map(|entry| EntryTag::of(&entry.kind)).collect();
    reply_at_end(&tags).map(|reply| unanswered(&path[reply..])).unwrap_or_default()
}

/// The result of a call that nobody will answer any more.
pub fn aborted_result(call: &ToolCall, timestamp: i64) -> Message {
    Message::ToolResult(ToolResult {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Block::text("aborted")],
        is_error: true,
        timestamp,
        ..ToolResult::default()
    })
}

/// The place of the last reply, if only its results and entries that no model sees follow it.
fn reply_at_end(tags: &[EntryTag]) -> Option<usize> {
    let ends_a_turn = |tag: &EntryTag| match tag {
        EntryTag::User
        | EntryTag::Assistant
        | EntryTag::OtherMessage
        | EntryTag::CustomMessage
        | EntryTag::Compaction
        | EntryTag::ResetBoundary => true,
        EntryTag::ToolResult
        | EntryTag::BranchSummary
        | EntryTag::Setting
        | EntryTag::Label
        | EntryTag::Bookkeeping
        | EntryTag::Other => false,
    };
    let last = tags.iter().rposition(ends_a_turn);
    last.filter(|at| tags[*at] == EntryTag::Assistant)
}

/// The calls of the first entry that no later one answers.
fn unanswered(turn: &[Arc<Entry>]) -> Vec<ToolCall> {
    let answered: HashSet<_> = turn
        .iter()
        .filter_map(|entry| Some(&entry.message()?.as_tool_result()?.tool_call_id))
        .collect();
    let reply = turn.first().and_then(|entry| entry.message()?.as_assistant());
    let calls = reply.into_iter().flat_map(AssistantMessage::tool_calls);
    calls.filter(|call| !answered.contains(&call.id)).cloned().collect()
}
