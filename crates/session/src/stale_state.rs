//! Provider state that must not be sent again once a session was closed.
//!
//! GitHub Copilot binds replayed items and signatures of reasoning to the connection that made them. They stay in the file, as
//! everything does, and are left out of what is read.

use std::sync::Arc;

use serde_json::Value;

use crate::entry::{Entry, EntryKind};
use crate::message::{Block, Message};

const PROVIDER: &str = "github-copilot";

/// Payload kind of items that are sent again as they came.
const REPLAYED_ITEMS: &str = "openaiResponsesHistory";

/// The entry as it is used after its session was opened.
pub(crate) fn dropped(mut entry: Entry) -> Entry {
    if let EntryKind::Message(stored) = &mut entry.kind
        && let Message::Assistant(turn) = &*stored.message
        && turn.provider == PROVIDER
    {
        let mut turn = turn.clone();
        let kind = turn.provider_payload.as_ref().and_then(|payload| payload.get("type"));
        if kind.and_then(Value::as_str) == Some(REPLAYED_ITEMS) {
            turn.provider_payload = None;
        }
        for block in &mut turn.content {
            if let Block::Thinking(thinking) = block {
                thinking.thinking_signature = None;
            }
        }
        stored.message = Arc::new(Message::Assistant(turn));
    }
    entry
}
