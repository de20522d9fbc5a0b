//! A compaction of Codex: a summary, or a history in its place that only its provider reads whole.

use serde::Serialize;
use serde_json::value::RawValue;

use super::content;
use crate::block::Content;
use crate::entry::CompactionEntry;
use crate::ids::EntryId;
use crate::import::Replay;
use crate::import::fields::{items, pick, text, words};
use crate::json::Json;

/// Summary of a compaction that has none.
const NO_SUMMARY: &str = "Context compacted by Codex.";
const NO_SHORT_SUMMARY: &str = "Imported Codex compaction";

/// Longest short summary, in characters.
const MAX_SHORT_CHARS: usize = 200;

pub(super) struct Compacted<'a> {
    summary: Option<String>,
    /// What the provider reads in the place of the history.
    replacement: Vec<&'a RawValue>,
}

/// Reads a compaction; `None` where it leaves nothing in the place of the history.
pub(super) fn read(payload: &RawValue) -> Option<Compacted<'_>> {
    let [message, replacement] = pick(payload.get(), ["message", "replacement_history"]);
    let summary = words(message).map(|summary| summary.trim().to_owned());
    let replacement: Vec<&RawValue> =
        items(replacement).into_iter().filter(|item| item.get().starts_with('{')).collect();
    (summary.is_some() || !replacement.is_empty()).then_some(Compacted { summary, replacement })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreserveData<'a> {
    openai_remote_compaction: RemoteCompaction<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RemoteCompaction<'a> {
    provider: &'a str,
    replacement_history: &'a [&'a RawValue],
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction_item: Option<&'a RawValue>,
}

impl Compacted<'_> {
    /// The entry. Where no model will read the replacement, and there is no summary, its readable messages are the summary.
    pub(super) fn entry(&self, id: EntryId, provider: &str, replay: Replay) -> CompactionEntry {
        let summary = match (&self.summary, replay) {
            (Some(summary), _) => summary.clone(),
            (None, Replay::Possible) => NO_SUMMARY.to_owned(),
            (None, Replay::Impossible) => self.readable(),
        };
        let short = self.summary.as_deref().and_then(|summary| summary.lines().next());
        let short = short.map(|line| line.chars().take(MAX_SHORT_CHARS).collect());
        CompactionEntry {
            summary,
            short_summary: Some(short.unwrap_or_else(|| NO_SHORT_SUMMARY.to_owned())),
            // Its own id: nothing before it is kept.
            first_kept_entry_id: id,
            preserve_data: self.preserve_data(provider),
            ..CompactionEntry::default()
        }
    }

    fn preserve_data(&self, provider: &str) -> Option<Json> {
        if self.replacement.is_empty() {
            return None;
        }
        let is_compaction = |item: &&&RawValue| {
            let [kind, encrypted] = pick(item.get(), ["type", "encrypted_content"]);
            match text(kind).as_deref() {
                Some("compaction") => text(encrypted).is_some(),
                kind => kind == Some("compaction_summary"),
            }
        };
        let data = PreserveData {
            openai_remote_compaction: RemoteCompaction {
                provider,
                replacement_history: &self.replacement,
                compaction_item: self.replacement.iter().rfind(is_compaction).copied(),
            },
        };
        serde_json::to_string(&data).and_then(|text| serde_json::from_str(&text)).ok()
    }

    fn readable(&self) -> String {
        let mut summary = NO_SUMMARY.to_owned();
        for item in &self.replacement {
            let [kind, role, content] = pick(item.get(), ["type", "role", "content"]);
            let who = match (text(kind).as_deref(), text(role).as_deref()) {
                (Some("message"), Some("user")) => "User",
                (Some("message"), Some("assistant")) => "Assistant",
                _ => continue,
            };
            let said =
                Content::Blocks(content::blocks(content)).texts().collect::<Vec<_>>().join("\n");
            if !said.trim().is_empty() {
                summary.push_str(&format!("\n\n{who}:\n{}", said.trim()));
            }
        }
        summary
    }
}
