//! What messages tell a list: who said what, and how the session is left.

use crate::listing::Status;
use crate::message::{Content, Message, StopReason};

/// What user, model, or the program in the user's stead said.
pub(crate) fn spoken(message: &Message) -> Option<String> {
    let join = |content: &Content| content.texts().collect::<Vec<_>>().join(" ");
    match message {
        Message::User(message) | Message::Developer(message) => Some(join(&message.content)),
        Message::Assistant(message) => Some(message.text(" ")),
        Message::ToolResult(_)
        | Message::BashExecution(_)
        | Message::PythonExecution(_)
        | Message::FileMention(_)
        | Message::Custom(_)
        | Message::HookMessage(_)
        | Message::BranchSummary(_)
        | Message::CompactionSummary(_)
        | Message::Unknown(_) => None,
    }
}

/// How a session is left that ends with this message.
pub(crate) fn status_after(message: &Message) -> Status {
    match message {
        Message::Assistant(message) => match message.stop_reason {
            StopReason::Error => Status::Error,
            StopReason::Aborted => Status::Aborted,
            StopReason::Length => Status::Interrupted,
            StopReason::Stop | StopReason::ToolUse => {
                let has_calls = message.tool_calls().next().is_some();
                if has_calls { Status::Interrupted } else { Status::Complete }
            }
        },
        Message::ToolResult(_) => Status::Interrupted,
        Message::User(_) => Status::Pending,
        Message::Developer(_)
        | Message::BashExecution(_)
        | Message::PythonExecution(_)
        | Message::FileMention(_)
        | Message::Custom(_)
        | Message::HookMessage(_)
        | Message::BranchSummary(_)
        | Message::CompactionSummary(_)
        | Message::Unknown(_) => Status::Unknown,
    }
}
