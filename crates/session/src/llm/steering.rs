//! Messages that the user sent while the model was working: a notice before them says so.

use std::sync::Arc;

use longhand_prompts::{Prompt, Prompts};

use crate::message::{Block, Content, Message, UserMessage};

/// Puts the notice before every steering message and takes the flag away. Comes before conversion.
pub fn mark_steering(messages: &[Arc<Message>], prompts: &Prompts) -> Vec<Arc<Message>> {
    messages.iter().map(|message| marked(message, prompts)).collect()
}

fn marked(message: &Arc<Message>, prompts: &Prompts) -> Arc<Message> {
    let Message::User(said) = &**message else { return Arc::clone(message) };
    if said.steering != Some(true) {
        return Arc::clone(message);
    }
    let content = with_notice(&said.content, prompts);
    Arc::new(Message::User(UserMessage { content, steering: None, ..said.clone() }))
}

/// The content with the notice before its text; content without text as it is.
pub(super) fn with_notice(content: &Content, prompts: &Prompts) -> Content {
    let text = content.texts().collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        return content.clone();
    }
    let text = prompts.render(Prompt::SteeringNotice, &[("message", &text)]);
    match content {
        Content::Text(_) => Content::Text(text),
        Content::Blocks(blocks) => {
            let others = blocks.iter().filter(|block| block.as_text().is_none()).cloned();
            Content::Blocks(std::iter::once(Block::text(text)).chain(others).collect())
        }
    }
}
