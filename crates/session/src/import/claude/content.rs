//! The content of Claude Code's messages, as blocks of ours.

use serde_json::value::RawValue;

use crate::block::{
    Block, Content, ImageBlock, RedactedThinkingBlock, ServerToolBlock, ThinkingBlock, ToolCall,
};
use crate::ids::ToolCallId;
use crate::import::fields::{is_true, items, json, members, name, object, text};
use crate::import::parts::{image, says_something};
use crate::import::tally::Tally;

/// What the model said: blocks that say something.
pub(super) fn of_reply(content: Option<&RawValue>, tally: &mut Tally) -> Vec<Block> {
    let blocks = match text(content) {
        Some(text) => vec![Block::text(text)],
        None => items(content).into_iter().filter_map(|raw| reply_block(raw, tally)).collect(),
    };
    blocks.into_iter().filter(says_something).collect()
}

fn reply_block(raw: &RawValue, tally: &mut Tally) -> Option<Block> {
    let [kind, said, thinking, signature, data, id, tool, input] = members(
        Some(raw),
        ["type", "text", "thinking", "signature", "data", "id", "name", "input"],
    );
    let kind = text(kind).unwrap_or_default();
    Some(match kind.as_str() {
        "text" => Block::text(text(said)?),
        "thinking" => Block::Thinking(ThinkingBlock {
            thinking: text(thinking).unwrap_or_default(),
            thinking_signature: text(signature).filter(|signature| !signature.is_empty()),
            ..ThinkingBlock::default()
        }),
        "redacted_thinking" => Block::RedactedThinking(RedactedThinkingBlock {
            data: text(data)?,
            ..RedactedThinkingBlock::default()
        }),
        "tool_use" => Block::ToolCall(ToolCall {
            id: ToolCallId::from(text(id).unwrap_or_default()),
            name: name(tool).unwrap_or_else(|| "unknown".into()),
            arguments: object(input),
            ..ToolCall::default()
        }),
        // Tools that ran at the provider: call and result are its own objects.
        "server_tool_use"
        | "web_search_tool_result"
        | "web_fetch_tool_result"
        | "code_execution_tool_result" => Block::ServerTool(ServerToolBlock {
            block: json(Some(raw))?,
            ..ServerToolBlock::default()
        }),
        _ => {
            tally.skip(&format!("block {kind}"));
            return None;
        }
    })
}

/// What one record of the user holds, in its order.
pub(super) enum Part {
    /// What the user said. `None` as index: the whole content is one text.
    Said { index: Option<usize>, content: Content },
    /// What a tool answered.
    Result { index: usize, call: ToolCallId, content: Vec<Block>, is_error: bool },
}

/// What the user said and what tools answered: a message for each run of texts and pictures, and one for each result.
pub(super) fn of_user(content: Option<&RawValue>, tally: &mut Tally) -> Vec<Part> {
    if let Some(text) = text(content) {
        let said = Part::Said { index: None, content: Content::Text(text.clone()) };
        return (!text.is_empty()).then_some(said).into_iter().collect();
    }
    let mut parts = Vec::new();
    for (index, raw) in items(content).into_iter().enumerate() {
        let [kind, call, result, is_error] =
            members(Some(raw), ["type", "tool_use_id", "content", "is_error"]);
        if text(kind).as_deref() == Some("tool_result") {
            parts.push(Part::Result {
                index,
                call: ToolCallId::from(text(call).unwrap_or_default()),
                content: of_result(result, tally),
                is_error: is_true(is_error),
            });
            continue;
        }
        let Some(block) = said_block(raw, tally) else { continue };
        if let Some(Part::Said { content: Content::Blocks(run), .. }) = parts.last_mut() {
            run.push(block);
        } else {
            let content = Content::Blocks(vec![block]);
            parts.push(Part::Said { index: Some(index), content });
        }
    }
    parts
}

fn of_result(content: Option<&RawValue>, tally: &mut Tally) -> Vec<Block> {
    match text(content) {
        Some(text) => vec![Block::text(text)],
        None => items(content).into_iter().filter_map(|raw| said_block(raw, tally)).collect(),
    }
}

/// A text or a picture.
fn said_block(raw: &RawValue, tally: &mut Tally) -> Option<Block> {
    let [kind, said, source] = members(Some(raw), ["type", "text", "source"]);
    let kind = text(kind).unwrap_or_default();
    let block = match kind.as_str() {
        "text" => text(said).filter(|text| !text.is_empty()).map(Block::text),
        "image" => picture(source).map(Block::Image),
        _ => None,
    };
    if block.is_none() && kind != "text" {
        tally.skip(&format!("block {kind}"));
    }
    block
}

fn picture(source: Option<&RawValue>) -> Option<ImageBlock> {
    let [data, mime_type] = members(source, ["data", "media_type"]);
    Some(image(text(mime_type)?, text(data)?))
}
