//! Whether a reply is a summary. History is replaced by what is accepted here, so that a doubtful reply is none.

use longhand_agent::{ErrorKind, ModelError};
use longhand_session::message::StopReason;
use longhand_session::{AssistantMessage, file_lists};

/// What a reply is worth.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Text(String),
    /// It ran into the cap; a higher one may help.
    CutOff,
    Stopped,
    Failed(ModelError),
}

pub(super) fn judge(reply: &AssistantMessage) -> Verdict {
    match reply.stop_reason {
        StopReason::Aborted => return Verdict::Stopped,
        StopReason::Length => return Verdict::CutOff,
        StopReason::Error => {
            let text = reply.error_message.clone().filter(|text| !text.is_empty());
            return Verdict::Failed(ModelError {
                kinds: Vec::new(),
                status: reply.error_status.and_then(|status| u16::try_from(status).ok()),
                hint: None,
                text: text.unwrap_or_else(|| "Unknown error".into()),
            });
        }
        StopReason::Stop | StopReason::ToolUse => {}
    }
    let text = reply.text("\n");
    // A list of files is written anew from what is known: a reply of nothing else says nothing.
    if file_lists::upsert(&text, "").trim().is_empty() {
        let what = if reply.tool_calls().next().is_some() { "only tool calls" } else { "no text" };
        let text = format!("`{}` answered with {what}", reply.model);
        return Verdict::Failed(ModelError::new(ErrorKind::EmptyResponse, text));
    }
    Verdict::Text(text)
}

pub(super) fn cut_off(model: &str, cap: u64) -> ModelError {
    ModelError {
        kinds: Vec::new(),
        status: None,
        hint: None,
        text: format!("`{model}` did not finish within {cap} tokens"),
    }
}
