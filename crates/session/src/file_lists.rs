//! Which files a conversation read and changed, and the block that tells a model so.
//!
//! Extraction looks at what the model asked for, not at whether it worked, and leaves paths as they were spelled. Nothing here
//! touches a file system.

mod block;
mod selector;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

pub use block::{block, grouped_paths, tree, upsert};
pub use selector::{is_url, split_selector};

use crate::json::Json;
use crate::message::{Message, ToolCall};

/// Paths of files that were touched, by how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileOperations {
    /// Read.
    pub read: BTreeSet<String>,
    /// Written whole.
    pub written: BTreeSet<String>,
    /// Edited in place.
    pub edited: BTreeSet<String>,
}

/// What is told of touched files: each path once, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileLists {
    /// Read, and not changed.
    pub read_files: Vec<String>,
    /// Written or edited.
    pub modified_files: Vec<String>,
}

impl FileOperations {
    /// Adds what the calls of `read`, `write` and `edit` in these messages name.
    pub fn add_messages(&mut self, messages: &[Arc<Message>]) {
        for message in messages {
            if let Message::Assistant(message) = &**message {
                message.tool_calls().for_each(|call| self.add_call(call));
            }
        }
    }

    fn add_call(&mut self, call: &ToolCall) {
        let Some(path) = call.arguments.get("path").and_then(Value::as_str) else { return };
        if path.is_empty() || is_url(path) {
            return;
        }
        match call.name.as_str() {
            "read" => self.read.insert(split_selector(path).0.to_owned()),
            "write" => self.written.insert(path.to_owned()),
            "edit" => self.edited.insert(path.to_owned()),
            _ => false,
        };
    }

    /// Adds the lists that an earlier summary left in its `details`. Lists of an extension's summary are the caller's to skip.
    pub fn add_details(&mut self, details: &Json) {
        let paths = |key| details.get(key).and_then(Value::as_array).into_iter().flatten();
        for path in paths("readFiles").filter_map(Value::as_str) {
            self.read.insert(split_selector(path).0.to_owned());
        }
        self.edited.extend(paths("modifiedFiles").filter_map(Value::as_str).map(str::to_owned));
    }

    /// The two lists that are stored and shown.
    pub fn lists(&self) -> FileLists {
        let modified: BTreeSet<&String> = self.written.union(&self.edited).collect();
        let read_only = self.read.iter().filter(|path| !modified.contains(path));
        FileLists { read_files: told(read_only), modified_files: told(modified.iter().copied()) }
    }
}

impl FileLists {
    /// As stored in the `details` of a summary.
    pub fn details(&self) -> Json {
        serde_json::json!({"readFiles": self.read_files, "modifiedFiles": self.modified_files})
            .into()
    }

    /// The `<files>` block; empty without files. `read` tells changed files that were also read from those that were not.
    pub fn block(&self, read: &BTreeSet<String>) -> String {
        block(self, read)
    }
}

/// The paths that are not URLs, in the order of the format.
fn told<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut paths: Vec<String> = paths.filter(|path| !is_url(path)).cloned().collect();
    paths.sort_by(|a, b| utf16_order(a, b));
    paths
}

/// Order by UTF-16 code units, in which other writers of the format sort.
fn utf16_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}
