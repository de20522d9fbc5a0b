//! The journal of what inline imaging saved: one JSON line a tool result, beside the data of all sessions.
//!
//! Only added to, each batch in one write, so that several programs can write to it. What cannot be written is lost and told to
//! the log: no session depends on it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use longhand_compaction::inline_imaging::{Saving, SavingsJournal};
use longhand_session::time::Clock;
use serde_json::json;

/// Name of the journal in the folder of data.
pub(crate) const FILE_NAME: &str = "snapcompact-savings.jsonl";

/// The journal of one session that lies in a file.
pub(crate) struct FileJournal {
    pub(crate) journal: PathBuf,
    pub(crate) session: String,
    pub(crate) clock: Arc<dyn Clock>,
}

impl SavingsJournal for FileJournal {
    fn record(&self, savings: &[Saving]) {
        let now = self.clock.now_millis();
        let lines: String = savings
            .iter()
            .map(|saving| {
                let line = json!({
                    "ts": now, "session": self.session, "provider": saving.provider, "model": saving.model,
                    "toolCallId": saving.tool_call_id, "savedTokens": saving.saved_tokens,
                });
                format!("{line}\n")
            })
            .collect();
        let opened = OpenOptions::new().create(true).append(true).open(&self.journal);
        if let Err(error) = opened.and_then(|mut file| file.write_all(lines.as_bytes())) {
            tracing::debug!(%error, journal = %self.journal.display(), "savings were not noted");
        }
    }
}
