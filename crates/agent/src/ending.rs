//! How a process leaves a session, as the session remembers it.

use longhand_session::block::ToolCall;
use longhand_session::entry::{CustomEntry, EntryKind};
use longhand_session::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::tool_calls::call_note;

/// `customType` of the entry that a process writes when it ends.
pub(crate) const SESSION_EXIT: &str = "session_exit";

/// Why a session is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// Somebody left it.
    #[default]
    Normal,
    /// The process was told to end.
    Signal,
    /// The process cannot go on.
    Fatal,
    /// The process ends for another reason.
    ProcessExit,
}

impl Ending {
    /// The name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Signal => "signal",
            Self::Fatal => "fatal",
            Self::ProcessExit => "process_exit",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Normal => "close",
            Self::Signal => "signal",
            Self::Fatal => "fatal error",
            Self::ProcessExit => "process exit",
        }
    }
}

/// The entry that tells how a process left, and which calls it cut off.
pub(crate) fn session_exit(ending: Ending, cut_off: &[ToolCall], now: &Timestamp) -> EntryKind {
    let mut data = Map::new();
    data.insert("reason".into(), ending.reason().into());
    data.insert("kind".into(), ending.as_str().into());
    data.insert("recordedAt".into(), json!(now));
    if !cut_off.is_empty() {
        let calls: Vec<Value> = cut_off.iter().map(|call| call_note(call).into()).collect();
        data.insert("pendingToolCalls".into(), calls.into());
    }
    EntryKind::Custom(CustomEntry {
        custom_type: SESSION_EXIT.into(),
        data: Some(Value::Object(data).into()),
        ..CustomEntry::default()
    })
}
