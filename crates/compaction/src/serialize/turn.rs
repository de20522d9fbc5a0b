//! Messages as the turns that every dialect writes.

use std::collections::HashSet;
use std::sync::Arc;

use longhand_session::message::{AssistantMessage, ToolCall, ToolResult};
use longhand_session::redaction::redact;
use longhand_session::{Block, Content, Message, ToolCallId};

use super::{Dialect, clip};

/// Most UTF-16 units of one tool result. What a summary needs of a result stands at its start; whole files would crowd out the
/// conversation.
const TOOL_RESULT_UNITS: usize = 2_000;

/// One turn.
pub(super) enum Turn<'a> {
    User(String),
    Developer(String),
    Assistant(Assistant<'a>),
    /// Results that follow each other.
    Results(Vec<ResultText<'a>>),
}

/// What the model said. `None` where there is no block of that kind, which is not the same as an empty one.
pub(super) struct Assistant<'a> {
    pub(super) thinking: Option<String>,
    pub(super) texts: Option<Vec<&'a str>>,
    pub(super) calls: Vec<&'a ToolCall>,
}

pub(super) struct ResultText<'a> {
    pub(super) tool_name: &'a str,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// The messages without calls whose result was marked as useless, and without these results. A failure is never useless.
pub fn without_useless_calls(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let useless: HashSet<&ToolCallId> = messages
        .iter()
        .filter_map(|message| message.as_tool_result())
        .filter(|result| is_useless(result))
        .map(|result| &result.tool_call_id)
        .collect();
    if useless.is_empty() {
        return messages.to_vec();
    }
    messages.iter().filter_map(|message| without_calls(message, &useless)).collect()
}

fn without_calls(message: &Arc<Message>, useless: &HashSet<&ToolCallId>) -> Option<Arc<Message>> {
    let is_dropped =
        |block: &Block| block.as_tool_call().is_some_and(|call| useless.contains(&call.id));
    match &**message {
        Message::ToolResult(result) if is_useless(result) => None,
        Message::Assistant(assistant) if assistant.content.iter().any(is_dropped) => {
            let mut assistant = assistant.clone();
            assistant.content.retain(|block| !is_dropped(block));
            (!assistant.content.is_empty()).then(|| Arc::new(Message::Assistant(assistant)))
        }
        _ => Some(message.clone()),
    }
}

fn is_useless(result: &ToolResult) -> bool {
    result.useless == Some(true) && !result.is_error
}

/// The turns of a conversation. Messages that a dialect would leave empty are no turns.
pub(super) fn turns(messages: &[Arc<Message>], dialect: Dialect) -> Vec<Turn<'_>> {
    let mut turns = Vec::with_capacity(messages.len());
    for message in messages {
        match &**message {
            Message::User(user) => turns.push(Turn::User(content_text(&user.content, dialect))),
            Message::Developer(developer) => {
                turns.push(Turn::Developer(content_text(&developer.content, dialect)));
            }
            Message::Assistant(message) => turns.extend(assistant(message, dialect)),
            Message::ToolResult(message) => {
                let Some(result) = result_text(message) else { continue };
                match turns.last_mut() {
                    Some(Turn::Results(run)) => run.push(result),
                    _ => turns.push(Turn::Results(vec![result])),
                }
            }
            Message::BashExecution(_)
            | Message::PythonExecution(_)
            | Message::FileMention(_)
            | Message::Custom(_)
            | Message::HookMessage(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_)
            | Message::Unknown(_) => {}
        }
    }
    turns
}

fn content_text(content: &Content, dialect: Dialect) -> String {
    let blocks = match content {
        Content::Text(text) => return text.clone(),
        Content::Blocks(blocks) => blocks,
    };
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Text(block) => out.push_str(&block.text),
            Block::Image(_) if dialect == Dialect::Plain => {}
            Block::Image(image) if image.mime_type.is_empty() => out.push_str("[Image]"),
            Block::Image(image) => {
                out.push_str("[Image: ");
                out.push_str(&image.mime_type);
                out.push(']');
            }
            _ => {}
        }
    }
    out
}

fn assistant(message: &AssistantMessage, dialect: Dialect) -> Option<Turn<'_>> {
    let mut thinking = Vec::new();
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for block in &message.content {
        match block {
            Block::Thinking(_) if dialect == Dialect::Anthropic => {}
            Block::Thinking(block) => thinking.push(block.thinking.as_str()),
            Block::Text(block) => texts.push(block.text.as_str()),
            Block::ToolCall(call) => calls.push(call),
            _ => {}
        }
    }
    if thinking.is_empty() && texts.is_empty() && calls.is_empty() {
        return None;
    }
    Some(Turn::Assistant(Assistant {
        thinking: (!thinking.is_empty()).then(|| thinking.join("\n")),
        texts: (!texts.is_empty()).then_some(texts),
        calls,
    }))
}

fn result_text(result: &ToolResult) -> Option<ResultText<'_>> {
    let whole: String = result.content.iter().filter_map(Block::as_text).collect();
    if whole.is_empty() {
        return None;
    }
    // Half a key has no shape that would be known: keys go before the text is cut.
    let text = clip(&redact(&whole), TOOL_RESULT_UNITS).into_owned();
    Some(ResultText { tool_name: &result.tool_name, text, is_error: result.is_error })
}
