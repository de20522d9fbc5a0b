//! How large a context is: what the provider measured, and what is stored.

use longhand_agent::branch::Branch;
use longhand_agent::handle::Live;
use longhand_session::AssistantMessage;
use longhand_session::tokens::{self, EncryptedReasoning};

/// The size of a context, in tokens, from two sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// As the provider measured it with its newest reply; 0 where that reply is older than the newest compaction.
    pub billed: u64,
    /// Counted locally: system prompt, tool schemas and messages, without reasoning that only its provider can read.
    pub stored: u64,
}

impl Measure {
    /// Measures the context of a branch after a reply. Costs a pass over the live messages.
    pub fn after(last: &AssistantMessage, branch: &Branch, live: &Live) -> Self {
        let billed = match &last.usage {
            Some(usage) if !last.is_unfinished() && !is_stale(last, branch) => usage.context(),
            _ => 0,
        };
        Self { billed, stored: stored(branch, live) }
    }

    /// Measures the context of a branch before a request: what the newest reply measured, and what has come since by a local count.
    /// Costs a pass over the live messages.
    pub fn before_request(branch: &Branch, live: &Live) -> Self {
        let after_compaction = branch
            .entries
            .iter()
            .rposition(|entry| entry.compaction().is_some())
            .map_or(0, |at| at + 1);
        let since: Vec<_> = branch.entries[after_compaction..]
            .iter()
            .filter_map(|entry| entry.message().cloned())
            .collect();
        let billed = tokens::anchor(&since, 0).map_or(0, |anchor| {
            let later = &since[anchor.index + 1..];
            anchor.tokens
                + tokens::count_messages(&*live.counter(), later, EncryptedReasoning::Excluded)
        });
        Self { billed, stored: stored(branch, live) }
    }

    /// The value that is held against the threshold. A transform that shrinks requests, or a provider that reports nothing, must
    /// not hide how much is stored.
    pub fn decisive(self) -> u64 {
        self.billed.max(self.stored)
    }
}

/// Tokens of a branch, counted locally.
pub(crate) fn stored(branch: &Branch, live: &Live) -> u64 {
    let counter = live.counter();
    let messages = tokens::count_messages(&*counter, &branch.live, EncryptedReasoning::Excluded);
    live.non_message_tokens.saturating_add(messages)
}

/// Whether a reply was measured before the newest compaction.
fn is_stale(last: &AssistantMessage, branch: &Branch) -> bool {
    branch
        .latest_compaction()
        .and_then(|entry| entry.timestamp.millis())
        .is_some_and(|compacted_at| last.timestamp < compacted_at)
}
