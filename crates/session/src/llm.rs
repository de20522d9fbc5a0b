//! From the roles of a session to those that providers take: user, developer, assistant, tool result.
//!
//! What becomes of a message depends on it alone, and for a reply on whether a note about interrupted thinking follows: the
//! bytes that a provider has cached stay the same while the conversation grows. Messages that need no change keep their
//! identity. No I/O, no policy.

mod custom;
mod executions;
mod images;
mod output_notice;
mod steering;
mod summaries;

use std::sync::Arc;

use longhand_prompts::Prompts;

pub use steering::mark_steering;

use crate::message::{
    AssistantMessage, Attribution, Block, Content, FileMention, MentionedFile, Message, StopReason,
    ToolResult, UserMessage,
};
use crate::{pairing, tokens};

/// Kind of the custom message that follows a reply whose thinking was interrupted.
pub(crate) const INTERRUPTED_THINKING: &str = "interrupted-thinking";

/// Bit of a reply's error id: the user stopped it.
const USER_INTERRUPT: u64 = 0x0400_0000;

/// Stands where a pruned result has no text left.
const PRUNED_TEXT: &str = "[Output truncated]";

/// The messages of a request: steering marked, roles converted, pictures that are not there replaced, calls and results
/// paired.
pub fn request_messages(messages: &[Arc<Message>], prompts: &Prompts) -> Vec<Arc<Message>> {
    let mut converted = convert(&mark_steering(messages, prompts), prompts);
    converted.iter_mut().for_each(images::replace_missing);
    pairing::repair(converted)
}

/// Converts messages to the roles that providers take. Roles that say nothing to a model are left out.
pub fn convert(messages: &[Arc<Message>], prompts: &Prompts) -> Vec<Arc<Message>> {
    let mut converted = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        match &**message {
            Message::User(m) => converted.push(attributed(message, m, Attribution::User)),
            Message::Developer(m) => converted.push(attributed(message, m, Attribution::Agent)),
            Message::Assistant(m) => {
                let next = messages.get(index + 1);
                converted.extend(reply(message, m, is_interruption_note(next)));
            }
            Message::ToolResult(m) => converted.push(tool_result(message, m)),
            Message::BashExecution(m) => converted.extend(executions::bash(m)),
            Message::PythonExecution(m) => converted.extend(executions::python(m)),
            Message::FileMention(m) => converted.extend(file_mention(m)),
            Message::Custom(m) => converted.extend(custom::custom(m, prompts)),
            Message::HookMessage(m) => converted.extend(custom::plain(m)),
            Message::BranchSummary(m) => converted.push(summaries::branch(m, prompts)),
            Message::CompactionSummary(m) => converted.push(summaries::compaction(m, prompts)),
            Message::Unknown(_) => {}
        }
    }
    converted
}

/// Whether the message is the note about interrupted thinking, which keeps the aborted reply before it in sight.
pub(crate) fn is_interruption_note(next: Option<&Arc<Message>>) -> bool {
    matches!(next.map(|next| &**next), Some(Message::Custom(m)) if m.custom_type == INTERRUPTED_THINKING)
}

fn attributed(message: &Arc<Message>, said: &UserMessage, default: Attribution) -> Arc<Message> {
    if said.attribution.is_some() {
        return Arc::clone(message);
    }
    let said = UserMessage { attribution: Some(default), ..said.clone() };
    Arc::new(match &**message {
        Message::Developer(_) => Message::Developer(said),
        _ => Message::User(said),
    })
}

/// The reply without thinking that was cut off before its signature: no provider takes that back.
fn reply(message: &Arc<Message>, reply: &AssistantMessage, has_note: bool) -> Option<Arc<Message>> {
    let is_user_abort = is_user_abort(reply);
    if !has_note && !is_user_abort {
        return Some(Arc::clone(message));
    }
    let kept = kept_blocks(&reply.content);
    if kept == 0 && is_user_abort && !has_note && reply.request_controls.is_none() {
        return None;
    }
    if kept == reply.content.len() {
        return Some(Arc::clone(message));
    }
    let content = reply.content[..kept].to_vec();
    let reply = AssistantMessage { content, ..reply.clone() };
    Some(Arc::new(Message::Assistant(Box::new(reply))))
}

fn is_user_abort(reply: &AssistantMessage) -> bool {
    reply.stop_reason == StopReason::Aborted
        && (reply.error_id.is_some_and(|bits| bits & USER_INTERRUPT != 0)
            || reply.error_message.as_deref() == Some("Interrupted by user"))
}

/// How many blocks stand before trailing unsigned thinking and the blank text after it.
fn kept_blocks(content: &[Block]) -> usize {
    let is_blank =
        |block: &Block| matches!(block, Block::Text(block) if block.text.trim().is_empty());
    let is_unsigned = |block: &Block| {
        matches!(block, Block::Thinking(block) if !block.thinking.trim().is_empty()
            && block.thinking_signature.as_deref().unwrap_or_default().is_empty())
    };
    let end_of = |end: usize, is_dropped: &dyn Fn(&Block) -> bool| {
        content[..end].iter().rposition(|block| !is_dropped(block)).map_or(0, |last| last + 1)
    };
    let before_blank = end_of(content.len(), &is_blank);
    let before_thinking = end_of(before_blank, &is_unsigned);
    if before_thinking == before_blank { content.len() } else { before_thinking }
}

fn tool_result(message: &Arc<Message>, result: &ToolResult) -> Arc<Message> {
    let stored_text = tokens::stored_text(&result.extra);
    if result.attribution.is_some() && result.pruned_at.is_none() && stored_text.is_none() {
        return Arc::clone(message);
    }
    let mut converted = result.clone();
    converted.attribution.get_or_insert(Attribution::Agent);
    if let Some(text) = stored_text {
        converted.content = vec![Block::text(text)];
        converted.extra.remove("content");
    }
    if converted.pruned_at.is_some() {
        converted.content = pruned_content(converted.content);
    }
    Arc::new(Message::ToolResult(converted))
}

/// All text in the place of the first text block, the other blocks in their order.
fn pruned_content(content: Vec<Block>) -> Vec<Block> {
    let text: String = content.iter().filter_map(Block::as_text).collect();
    let mut text = Some(Block::text(if text.is_empty() { PRUNED_TEXT } else { &text }));
    let mut pruned = Vec::with_capacity(content.len() + 1);
    if !content.iter().any(|block| block.as_text().is_some_and(|text| !text.is_empty())) {
        pruned.extend(text.take());
    }
    for block in content {
        if block.as_text().is_some() {
            pruned.extend(text.take());
        } else {
            pruned.push(block);
        }
    }
    pruned
}

fn file_mention(mention: &FileMention) -> impl Iterator<Item = Arc<Message>> {
    let (pictures, texts): (Vec<&MentionedFile>, Vec<&MentionedFile>) =
        mention.files.iter().partition(|file| file.image.is_some());
    let message = |mut content: Vec<Block>, images: Vec<Block>| {
        content.extend(images);
        UserMessage {
            content: Content::Blocks(content),
            attribution: Some(Attribution::User),
            timestamp: mention.timestamp,
            ..UserMessage::default()
        }
    };
    let texts = (!texts.is_empty()).then(|| message(vec![file_tags(&texts)], Vec::new()));
    let images = pictures.iter().filter_map(|file| file.image.clone()).collect();
    let pictures = (!pictures.is_empty()).then(|| message(vec![file_tags(&pictures)], images));
    let texts = texts.map(Message::Developer);
    texts.into_iter().chain(pictures.map(Message::User)).map(Arc::new)
}

fn file_tags(files: &[&MentionedFile]) -> Block {
    let tags: Vec<String> = files
        .iter()
        .map(|file| match file.content.as_str() {
            "" => format!("<file path=\"{}\">\n</file>", file.path),
            content => format!("<file path=\"{}\">\n{content}\n</file>", file.path),
        })
        .collect();
    Block::text(tags.join("\n"))
}
