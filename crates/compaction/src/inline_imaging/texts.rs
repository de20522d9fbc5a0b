//! The texts of a request that may become pictures.

use std::ops::Range;
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
            let sections = segments
                .iter()
                .flat_map(|segment| rules(segment).into_iter().map(|place| &segment[place]));
            sections.collect::<Vec<_>>().join("\n\n")
        }
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Where the sections of standing instructions lie in a segment, in order, none inside another. A section that is not closed is none.
pub(super) fn rules(segment: &str) -> Vec<Range<usize>> {
    const MARKS: [(&str, &str); 2] = [
        ("<repo-rules>\n", "\n</repo-rules>"),
        ("## Context\n<instructions>\n", "\n</instructions>"),
    ];
    let mut places = Vec::new();
    let mut from = 0;
    // The nearest section from here on, whichever of the two it is.
    let next = |from: usize| {
        let section = |(open, close): &(&str, &str)| {
            let start = from + segment[from..].find(open)?;
            let inner = start + open.len();
            // The mark's own line break may be the one that closes an empty section.
            let end = inner - 1 + segment[inner - 1..].find(close)? + close.len();
            Some(start..end)
        };
        MARKS.iter().filter_map(section).min_by_key(|place| place.start)
    };
    while let Some(place) = next(from) {
        from = place.end;
        places.push(place);
    }
    places
}
