//! One row an entry of the active branch.

use std::collections::HashSet;
use std::sync::Arc;

use longhand_session::context::SessionContext;
use longhand_session::counter::Fragment;
use longhand_session::store::IndexRow;
use longhand_session::tokens::{EncryptedReasoning, count_message};
use longhand_session::{Entry, EntryId, EntryKind, Message, TokenCounter};
use serde::Serialize;

/// One entry of the active branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryRow {
    /// Id.
    pub id: String,
    /// Type, as stored.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Role of the message; empty for other entries.
    pub role: String,
    /// Name of the tool that a result is of; empty for others.
    pub tool: String,
    /// Local count of what it would add to a context.
    pub tokens: u64,
    /// Whether a model sees it now.
    pub in_context: bool,
    /// Whether the newest compaction kept it verbatim.
    pub kept: bool,
    /// Whether it is a result that carries nothing worth keeping.
    pub useless: bool,
}

/// One compaction of the active branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionRow {
    /// Id of the entry.
    pub id: String,
    /// Which method made it.
    pub method: Option<String>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: Option<u64>,
    /// The first entry that was kept.
    pub first_kept: String,
    /// Local count of the summary.
    pub summary_tokens: u64,
    /// When.
    pub at: String,
}

pub(super) fn rows(
    branch: &[Arc<Entry>],
    context: &SessionContext,
    working: &[IndexRow],
    counter: &dyn TokenCounter,
) -> Vec<EntryRow> {
    let seen: HashSet<*const Message> = context.messages.iter().map(Arc::as_ptr).collect();
    let working: HashSet<&EntryId> = working.iter().map(|row| &row.id).collect();
    let newest_compaction = branch.iter().rposition(|entry| entry.compaction().is_some());
    branch
        .iter()
        .enumerate()
        .map(|(at, entry)| {
            let is_working = working.contains(&entry.id);
            let in_context = match &entry.kind {
                EntryKind::Message(message) => seen.contains(&Arc::as_ptr(&message.message)),
                EntryKind::CustomMessage(_) => is_working,
                EntryKind::BranchSummary(summary) => is_working && !summary.summary.is_empty(),
                EntryKind::Compaction(_) => is_working && newest_compaction == Some(at),
                _ => false,
            };
            let kept = is_working && newest_compaction.is_some_and(|compaction| at < compaction);
            row(entry, in_context, kept, counter)
        })
        .collect()
}

fn row(entry: &Entry, in_context: bool, kept: bool, counter: &dyn TokenCounter) -> EntryRow {
    let message = entry.message();
    let result = message.and_then(|message| message.as_tool_result());
    EntryRow {
        id: entry.id.to_string(),
        type_name: entry.kind.type_name().to_owned(),
        role: message.map(|message| message.role().to_owned()).unwrap_or_default(),
        tool: result.map(|result| result.tool_name.clone()).unwrap_or_default(),
        tokens: tokens(entry, counter),
        in_context,
        kept,
        useless: result.is_some_and(|result| result.useless == Some(true) && !result.is_error),
    }
}

/// Tokens that an entry would add to a context, wrappers not counted.
fn tokens(entry: &Entry, counter: &dyn TokenCounter) -> u64 {
    match &entry.kind {
        EntryKind::Message(message) => {
            count_message(counter, &message.message, EncryptedReasoning::Counted)
        }
        EntryKind::Compaction(compaction) => counter.count(Fragment::Text(&compaction.summary)),
        EntryKind::BranchSummary(summary) => counter.count(Fragment::Text(&summary.summary)),
        EntryKind::CustomMessage(message) => match message.content.value() {
            serde_json::Value::String(text) => counter.count(Fragment::Text(text)),
            blocks => {
                let texts = blocks
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|block| block["text"].as_str());
                texts.map(|text| counter.count(Fragment::Text(text))).sum()
            }
        },
        _ => 0,
    }
}

pub(super) fn compactions(branch: &[Arc<Entry>], counter: &dyn TokenCounter) -> Vec<CompactionRow> {
    branch
        .iter()
        .filter_map(|entry| {
            let compaction = entry.compaction()?;
            Some(CompactionRow {
                id: entry.id.to_string(),
                method: compaction.method.clone(),
                tokens_before: compaction.tokens_before,
                tokens_after: compaction.tokens_after,
                first_kept: compaction.first_kept_entry_id.to_string(),
                summary_tokens: counter.count(Fragment::Text(&compaction.summary)),
                at: entry.timestamp.as_str().to_owned(),
            })
        })
        .collect()
}
