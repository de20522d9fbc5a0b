//! What a session cost: tokens and money of every request in it, on all branches.

use std::collections::BTreeMap;

use longhand_session::entry::EntryKind;
use longhand_session::{Entry, Message, Usage};
use serde::Serialize;
use serde_json::Value;

/// What a session cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// By model, as `provider/id`.
    pub models: BTreeMap<String, ModelTotals>,
    /// All together.
    pub all: ModelTotals,
}

/// What one model cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTotals {
    /// Requests.
    pub requests: u64,
    /// Tokens sent, without what a cache held.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
    /// Money, in dollars.
    pub cost: f64,
}

impl Totals {
    /// Takes an entry into account.
    pub fn add(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::ModelUsage(usage) => {
                self.request(&format!("{}/{}", usage.provider, usage.model), usage.usage.as_ref());
            }
            EntryKind::Message(stored) => match &*stored.message {
                Message::Assistant(turn) => {
                    self.request(&format!("{}/{}", turn.provider, turn.model), turn.usage.as_ref());
                }
                Message::ToolResult(result) if result.tool_name == "task" => {
                    let usage = result.details.as_ref().and_then(|details| details.get("usage"));
                    let usage = usage.and_then(|usage| usage_of(usage.clone()));
                    if usage.is_some() {
                        self.request("subagents", usage.as_ref());
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn request(&mut self, model: &str, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        for totals in [self.models.entry(model.to_owned()).or_default(), &mut self.all] {
            totals.requests += 1;
            totals.input += usage.input;
            totals.output += usage.output;
            totals.cache_read += usage.cache_read;
            totals.cache_write += usage.cache_write;
            totals.cost += usage.cost.as_ref().map_or(0.0, |cost| cost.total.0);
        }
    }
}

fn usage_of(value: Value) -> Option<Usage> {
    serde_json::from_value(value).ok()
}
