//! Pictures put in the place of a text.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_agent::Request;
use longhand_prompts::{Prompt, Prompts};
use longhand_session::message::{ImageBlock, ToolResult, UserMessage};
use longhand_session::{Block, Content, Message};
use longhand_snapcompact::{RenderedFrame, Shape};

use super::texts;
use crate::options::SystemImaging;

/// A frame as a block of a message.
pub(super) fn block(frame: &RenderedFrame, shape: &Shape) -> Block {
    Block::Image(ImageBlock {
        data: BASE64_STANDARD.encode(&frame.png),
        mime_type: "image/png".to_owned(),
        detail: shape.image_detail.map(|detail| detail.as_str().to_owned()),
        ..ImageBlock::default()
    })
}

/// A tool result whose text is in pictures. Its own pictures follow, each under the number that stands in the text.
pub(super) fn result(message: &mut Arc<Message>, frames: &[Block], prompts: &Prompts) {
    let Some(result) = message.as_tool_result() else { return };
    let mut content = vec![Block::text(prompts.text(Prompt::SnapcompactInlineResult))];
    content.extend_from_slice(frames);
    let own = result.content.iter().filter(|block| matches!(block, Block::Image(_)));
    for (at, image) in own.enumerate() {
        content.push(Block::text(texts::image_label(at + 1)));
        content.push(image.clone());
    }
    *message = Arc::new(Message::ToolResult(ToolResult { content, ..result.clone() }));
}

/// A system prompt whose text, or a part of it, is in pictures at the start of the first message of the user.
pub(super) fn system(
    request: &mut Request,
    frames: &[Block],
    mode: SystemImaging,
    prompts: &Prompts,
) {
    match mode {
        SystemImaging::None => return,
        SystemImaging::All => {
            request.system = vec![prompts.text(Prompt::SnapcompactInlineSystem).into()];
        }
        SystemImaging::AgentsMd => {
            let stub = prompts.text(Prompt::SnapcompactInlineRules);
            for segment in &mut request.system {
                let mut changed = segment.to_string();
                // From the last on, so that the places before it still hold.
                for place in texts::rules(segment).into_iter().rev() {
                    changed.replace_range(place, stub);
                }
                *segment = changed.into();
            }
        }
    }
    let first = request.messages.iter_mut().find_map(|message| match &**message {
        Message::User(user) => Some((user.clone(), message)),
        _ => None,
    });
    let Some((user, message)) = first else { return };
    let mut blocks = vec![Block::text(prompts.text(Prompt::SnapcompactInlineHeading))];
    blocks.extend_from_slice(frames);
    blocks.extend(user.content.to_blocks());
    let content = Content::Blocks(blocks);
    let changed = UserMessage { content, provider_payload: None, ..user };
    *message = Arc::new(Message::User(changed));
}
