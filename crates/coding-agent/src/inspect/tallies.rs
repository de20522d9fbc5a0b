//! What a context is made of: by role, by tool, by file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use longhand_session::counter::Fragment;
use longhand_session::file_lists::split_selector;
use longhand_session::message::ToolCall;
use longhand_session::{Entry, Message, TokenCounter, ToolCallId};
use serde::Serialize;

use super::entries::EntryRow;

/// Messages of one role in the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleRow {
    /// The role; the type for entries that are not messages.
    pub role: String,
    /// How many.
    pub entries: usize,
    /// Local count.
    pub tokens: u64,
}

/// Calls and results of one tool in the context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ToolRow {
    /// The tool.
    pub tool: String,
    /// How many calls.
    pub calls: usize,
    /// Local count of names and arguments.
    pub call_tokens: u64,
    /// Local count of results.
    pub result_tokens: u64,
    /// Results that carry nothing worth keeping.
    pub useless: usize,
    /// Results that are errors.
    pub errors: usize,
    /// Local count of the largest result.
    pub largest: u64,
}

/// One file in the context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileRow {
    /// Path as the model spelled it, without a selector.
    pub path: String,
    /// Calls that read it.
    pub reads: usize,
    /// Calls that changed it.
    pub writes: usize,
    /// Local count of the results of these calls.
    pub tokens: u64,
}

/// Sums over the entries that a model sees.
#[derive(Default)]
pub(super) struct Tallies {
    roles: BTreeMap<String, RoleRow>,
    tools: BTreeMap<String, ToolRow>,
    files: BTreeMap<String, FileRow>,
    /// The file of each call that names one.
    paths: HashMap<ToolCallId, String>,
}

impl Tallies {
    pub(super) fn of(branch: &[Arc<Entry>], rows: &[EntryRow], counter: &dyn TokenCounter) -> Self {
        let mut tallies = Self::default();
        for (entry, row) in branch.iter().zip(rows).filter(|(_, row)| row.in_context) {
            tallies.add_role(row);
            match entry.message().map(|message| &**message) {
                Some(Message::Assistant(message)) => {
                    message.tool_calls().for_each(|call| tallies.add_call(call, counter));
                }
                Some(Message::ToolResult(result)) => {
                    tallies.add_result(&result.tool_call_id, row, result.is_error);
                }
                _ => {}
            }
        }
        tallies
    }

    fn add_role(&mut self, row: &EntryRow) {
        let role = if row.role.is_empty() { &row.type_name } else { &row.role };
        let tally = self.roles.entry(role.clone()).or_insert_with(|| RoleRow {
            role: role.clone(),
            entries: 0,
            tokens: 0,
        });
        tally.entries += 1;
        tally.tokens += row.tokens;
    }

    fn add_call(&mut self, call: &ToolCall, counter: &dyn TokenCounter) {
        let tool = self.tool(&call.name);
        tool.calls += 1;
        tool.call_tokens += counter.count(Fragment::ToolName(&call.name));
        tool.call_tokens += counter.count(Fragment::ToolArguments(&call.arguments.compact()));
        let Some(path) = call.arguments.get("path").and_then(serde_json::Value::as_str) else {
            return;
        };
        let path = match call.name.as_str() {
            "read" => split_selector(path).0.to_owned(),
            "write" | "edit" => path.to_owned(),
            _ => return,
        };
        let file = self
            .files
            .entry(path.clone())
            .or_insert_with(|| FileRow { path: path.clone(), ..FileRow::default() });
        if call.name == "read" {
            file.reads += 1;
        } else {
            file.writes += 1;
        }
        self.paths.insert(call.id.clone(), path);
    }

    fn add_result(&mut self, call: &ToolCallId, row: &EntryRow, is_error: bool) {
        let tool = self.tool(&row.tool);
        tool.result_tokens += row.tokens;
        tool.largest = tool.largest.max(row.tokens);
        tool.useless += usize::from(row.useless);
        tool.errors += usize::from(is_error);
        if let Some(file) = self.paths.get(call).and_then(|path| self.files.get_mut(path)) {
            file.tokens += row.tokens;
        }
    }

    fn tool(&mut self, name: &str) -> &mut ToolRow {
        self.tools
            .entry(name.to_owned())
            .or_insert_with(|| ToolRow { tool: name.to_owned(), ..ToolRow::default() })
    }

    pub(super) fn by_role(&self) -> Vec<RoleRow> {
        largest_first(self.roles.values().cloned(), |row| row.tokens)
    }

    pub(super) fn by_tool(&self) -> Vec<ToolRow> {
        largest_first(self.tools.values().cloned(), |row| row.call_tokens + row.result_tokens)
    }

    pub(super) fn by_file(&self) -> Vec<FileRow> {
        largest_first(self.files.values().cloned(), |row| row.tokens)
    }
}

fn largest_first<T>(rows: impl Iterator<Item = T>, tokens: impl Fn(&T) -> u64) -> Vec<T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort_by_key(|row| Reverse(tokens(row)));
    rows
}
