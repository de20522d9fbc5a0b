//! The oldest pictures of a request that has too many of them are left out.

use std::sync::Arc;

use longhand_agent::{Recipient, Request, RequestTransform};
use longhand_session::message::{ImageBlock, ToolResult, UserMessage};
use longhand_session::{Block, Content, Message, archive};
use longhand_snapcompact::budget::ImageBudget;
use tokio::sync::watch;

use crate::options::Options;

/// Stands where pictures were all that a message said.
const OMITTED: &str = "[image omitted: provider image limit]";

/// Part of the budget by which the number of pictures that are left out grows at once. It then stays for some turns, and with it the
/// start of the request, which the provider has cached.
const STEPS: usize = 8;

/// Leaves out the oldest pictures of a request, as many as its provider does not take.
pub struct ImageClamp {
    options: watch::Receiver<Arc<Options>>,
}

impl ImageClamp {
    /// Clamps to the budgets of the options in force.
    pub fn new(options: watch::Receiver<Arc<Options>>) -> Self {
        Self { options }
    }
}

impl RequestTransform for ImageClamp {
    fn apply(&self, mut request: Request, recipient: &Recipient<'_>) -> Request {
        if !recipient.model.has_vision() {
            return request;
        }
        let budget = self.options.borrow().snapcompact.image_budgets.of(&recipient.model.provider);
        let mut left_out = surplus(&sizes(&request), budget);
        for message in &mut request.messages {
            if left_out == 0 {
                break;
            }
            let has = images(message).count();
            if has > 0 {
                *message = Arc::new(without(message, left_out.min(has)));
                left_out -= left_out.min(has);
            }
        }
        request
    }
}

/// The pictures that count: those of users, of the program and of tools.
fn images(message: &Message) -> impl Iterator<Item = &ImageBlock> {
    let blocks = match message {
        Message::User(user) | Message::Developer(user) => match &user.content {
            Content::Blocks(blocks) => blocks.as_slice(),
            Content::Text(_) => &[],
        },
        Message::ToolResult(result) => result.content.as_slice(),
        // A model's own pictures are part of its answer, and other roles are not sent.
        _ => &[],
    };
    blocks.iter().filter_map(|block| match block {
        Block::Image(image) => Some(image),
        _ => None,
    })
}

/// Base64 bytes of all pictures, oldest first.
fn sizes(request: &Request) -> Vec<u64> {
    let images = request.messages.iter().flat_map(|message| images(message));
    images.map(|image| image.data.len() as u64).collect()
}

/// How many of the oldest pictures go.
fn surplus(sizes: &[u64], budget: ImageBudget) -> usize {
    let by_count = sizes.len().saturating_sub(budget.images);
    let mut bytes: u64 = sizes.iter().sum();
    let too_large = |size: &&u64| {
        let is_over = bytes > budget.bytes;
        bytes -= **size;
        is_over
    };
    let by_bytes = sizes.iter().take_while(too_large).count();
    let surplus = by_count.max(by_bytes);
    let step = (budget.images / STEPS).max(1);
    // The newest picture stays, if it fits at all.
    surplus.next_multiple_of(step).min(sizes.len().saturating_sub(1)).max(surplus)
}

/// A message without its first `count` pictures.
fn without(message: &Message, count: usize) -> Message {
    match message {
        Message::User(user) => Message::User(without_user(user, count)),
        Message::Developer(user) => Message::Developer(without_user(user, count)),
        Message::ToolResult(result) => {
            let content = thinned(&result.content, count, Note::Nothing);
            let content = if content.is_empty() { vec![Block::text(OMITTED)] } else { content };
            Message::ToolResult(ToolResult { content, ..result.clone() })
        }
        other => other.clone(),
    }
}

fn without_user(user: &UserMessage, count: usize) -> UserMessage {
    let Content::Blocks(blocks) = &user.content else { return user.clone() };
    let note = if is_archive(blocks) { Note::Gap } else { Note::Nothing };
    let blocks = thinned(blocks, count, note);
    let blocks = if blocks.is_empty() { vec![Block::text(OMITTED)] } else { blocks };
    // What a provider stored of the message has the pictures still.
    UserMessage { content: Content::Blocks(blocks), provider_payload: None, ..user.clone() }
}

/// Whether blocks are those of an archive: text that says that pictures follow.
fn is_archive(blocks: &[Block]) -> bool {
    blocks.iter().filter_map(Block::as_text).any(|text| text.ends_with("imaged middle below\n"))
}

/// What stands where pictures were.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    Nothing,
    /// How many of history are missing.
    Gap,
}

fn thinned(blocks: &[Block], count: usize, note: Note) -> Vec<Block> {
    let (mut left_out, mut bytes) = (0, 0);
    let mut kept = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Image(image) if left_out < count => {
                left_out += 1;
                bytes += image.data.len() as u64;
                if left_out == count && note == Note::Gap {
                    kept.push(archive::over_budget_note(count as u64, bytes));
                }
            }
            block => kept.push(block.clone()),
        }
    }
    kept
}
