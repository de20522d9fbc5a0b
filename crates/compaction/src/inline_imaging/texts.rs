//! The texts of a request that may become pictures.

use std::sync::Arc;

use longhand_session::{Block, Content, Message, ToolCallId};

use crate::options::SystemImaging;

/// The text of a tool result.
pub(super) struct Result {
    /// Its place among the messages.
    pub(super) at: usize,
    pub(super) id: ToolCallId,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// All tool results, oldest first. A picture in one leaves its number in the text.
pub(super) fn results(messages: &[Arc<Message>]) -> Vec<Result> {
    let result = |(at, message): (usize, &Arc<Message>)| {
        let result = message.as_tool_result()?;
        Some(Result {
            at,
            id: result.tool_call_id.clone(),
            text: text(&result.content),
            is_error: result.is_error,
        })
    };
    messages.iter().enumerate().filter_map(result).collect()
}

fn text(blocks: &[Block]) -> String {
    let mut images = 0;
    let parts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.text.clone()),
            Block::Image(_) => {
                images += 1;
                Some(image_label(images))
            }
            _ => None,
        })
        .collect();
    parts.join("\n")
}

/// Says which picture stands somewhere.
pub(super) fn image_label(number: usize) -> String {
    format!("[image {number}]")
}

/// How many pictures the messages have.
pub(super) fn image_count(messages: &[Arc<Message>]) -> usize {
    let blocks = |message: &Message| -> usize {
        let blocks = match message {
            Message::User(user) | Message::Developer(user) => match &user.content {
                Content::Blocks(blocks) => blocks.as_slice(),
                Content::Text(_) => &[],
            },
            Message::ToolResult(result) => result.content.as_slice(),
            _ => &[],
        };
        blocks.iter().filter(|block| matches!(block, Block::Image(_))).count()
    };
    messages.iter().map(|message| blocks(message)).sum()
}

/// What of the system prompt may become pictures; `None` where there is nothing.
pub(super) fn system(segments: &[Arc<str>], mode: SystemImaging) -> Option<String> {
    let text = match mode {
        SystemImaging::None => return None,
        SystemImaging::All => segments.join("\n\n"),
        SystemImaging::AgentsMd => {
            let rules = segments.iter().filter_map(|segment| rules(segment));
            rules.map(|range| range.1).collect::<Vec<_>>().join("\n\n")
        }
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The standing instructions in a segment: what is before them, they themselves, what is after them.
pub(super) fn rules(segment: &str) -> Option<(&str, &str, &str)> {
    const MARKS: [(&str, &str); 2] =
        [("<repo-rules>\n", "</repo-rules>"), ("## Context\n<instructions>\n", "</instructions>")];
    MARKS.iter().find_map(|(open, close)| {
        let start = segment.find(open)?;
        let end = start + segment[start..].find(close)? + close.len();
        Some((&segment[..start], &segment[start..end], &segment[end..]))
    })
}
