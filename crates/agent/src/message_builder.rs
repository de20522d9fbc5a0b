//! Folds the events of a stream into the message so far.
//!
//! What a view shows while a model answers, and what is kept of an answer whose stream never ended. A finished answer comes whole
//! with its last event and does not need this. Accepts any order of events.

use std::collections::BTreeMap;

use longhand_session::message::{StopReason, TextBlock, ThinkingBlock, ToolCall};
use longhand_session::{AssistantMessage, Block, Json, Model};
use serde_json::json;

use crate::request::StreamEvent;

/// Most bytes of unreadable arguments that a call keeps.
const MAX_RAW_BYTES: usize = 512;

/// An answer as far as it has come.
#[derive(Debug, Clone)]
pub struct MessageBuilder {
    message: AssistantMessage,
    /// Place of each block by the number that the stream gave it.
    places: BTreeMap<usize, usize>,
    /// Argument text of calls by place.
    arguments: BTreeMap<usize, String>,
}

impl MessageBuilder {
    /// An empty answer of a model. `timestamp` is in milliseconds since the epoch.
    pub fn new(model: &Model, timestamp: i64) -> Self {
        let message = AssistantMessage {
            api: model.api.as_str().into(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            timestamp,
            ..AssistantMessage::default()
        };
        Self { message, places: BTreeMap::new(), arguments: BTreeMap::new() }
    }

    /// The message so far. Arguments of a call are empty until its block ends.
    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Takes one event in. Events that end the stream carry their own message and change nothing here.
    pub fn fold(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::TextStart { index } => {
                self.place(*index, || Block::Text(TextBlock::default()));
            }
            StreamEvent::TextDelta { index, delta } => {
                if let Block::Text(block) =
                    self.place(*index, || Block::Text(TextBlock::default())).1
                {
                    block.text.push_str(delta);
                }
            }
            StreamEvent::ThinkingStart { index } => {
                self.place(*index, || Block::Thinking(ThinkingBlock::default()));
            }
            StreamEvent::ThinkingDelta { index, delta } => {
                let empty = || Block::Thinking(ThinkingBlock::default());
                if let Block::Thinking(block) = self.place(*index, empty).1 {
                    block.thinking.push_str(delta);
                }
            }
            StreamEvent::ToolCallStart { index, name } => {
                self.place(*index, || empty_call(name));
            }
            StreamEvent::ToolCallDelta { index, delta } => {
                let (at, _) = self.place(*index, || empty_call(""));
                self.arguments.entry(at).or_default().push_str(delta);
            }
            StreamEvent::BlockEnd { index } => self.end_block(*index),
            StreamEvent::Start | StreamEvent::Done(_) | StreamEvent::Failed { .. } => {}
        }
    }

    /// What is kept when the stream is dropped: text and reasoning. Calls that were still arriving have no id and go.
    pub fn into_unfinished(mut self, stop_reason: StopReason) -> AssistantMessage {
        self.message.content.retain(|block| match block {
            Block::Text(block) => !block.text.is_empty(),
            Block::Thinking(block) => !block.thinking.is_empty(),
            Block::ToolCall(call) => !call.id.as_str().is_empty(),
            _ => true,
        });
        self.message.stop_reason = stop_reason;
        self.message
    }

    /// The block of that number, made where it is new.
    fn place(&mut self, index: usize, new: impl FnOnce() -> Block) -> (usize, &mut Block) {
        let content = &mut self.message.content;
        let at = *self.places.entry(index).or_insert_with(|| {
            content.push(new());
            content.len() - 1
        });
        (at, &mut content[at])
    }

    fn end_block(&mut self, index: usize) {
        let Some(at) = self.places.get(&index) else { return };
        if let (Some(text), Block::ToolCall(call)) =
            (self.arguments.get(at), &mut self.message.content[*at])
        {
            call.arguments = parsed_arguments(text);
        }
    }
}

fn empty_call(name: &str) -> Block {
    Block::ToolCall(ToolCall {
        name: name.into(),
        arguments: json!({}).into(),
        ..ToolCall::default()
    })
}

/// The arguments of a call from their text. Text that is no JSON object becomes one that says so: `__parseError` and `__rawJson`.
pub fn parsed_arguments(text: &str) -> Json {
    let text = if text.trim().is_empty() { "{}" } else { text };
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if value.is_object() => value.into(),
        Ok(_) => unreadable("the arguments are not an object", text),
        Err(error) => unreadable(&error.to_string(), text),
    }
}

fn unreadable(why: &str, text: &str) -> Json {
    let end = text.floor_char_boundary(MAX_RAW_BYTES);
    json!({ "__parseError": why, "__rawJson": &text[..end] }).into()
}
