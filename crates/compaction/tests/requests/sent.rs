//! Requests, models and options of these tests.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_agent::{Recipient, Request, RequestTransform};
use longhand_compaction::Options;
use longhand_session::model::InputKind;
use longhand_session::{Api, Block, ByteEstimate, Content, Message, Model, ModelRef};
use longhand_snapcompact::{Family, Variant, render};
use serde_json::{Value, json};
use tokio::sync::watch;

/// A model with eyes.
pub(crate) fn seeing() -> Model {
    let mut model =
        Model::new(ModelRef::new("google", "gemini-3.5-flash"), Api::GoogleGenerativeAi, "");
    model.input = vec![InputKind::Text, InputKind::Image];
    model
}

pub(crate) fn sent(transform: &dyn RequestTransform, request: &Request, model: &Model) -> Request {
    transform.apply(request.clone(), &Recipient { model, counter: &ByteEstimate })
}

pub(crate) fn options(change: impl FnOnce(&mut Options)) -> watch::Receiver<Arc<Options>> {
    let mut options = Options::default();
    change(&mut options);
    watch::channel(Arc::new(options)).1
}

pub(crate) fn request(messages: &[Value]) -> Request {
    let message = |value: &Value| {
        Arc::new(serde_json::from_value::<Message>(value.clone()).expect("a message"))
    };
    Request {
        system: vec!["You are an agent.".into()],
        messages: messages.iter().map(message).collect(),
        ..Request::default()
    }
}

/// A picture in base64.
pub(crate) fn png() -> String {
    let shape = Variant::Fixed8x13Black.sized(Family::Anthropic, 64);
    BASE64_STANDARD.encode(&render("x", &shape).expect("a frame")[0].png)
}

pub(crate) fn image(data: &str) -> Value {
    json!({"type": "image", "data": data, "mimeType": "image/png"})
}

pub(crate) fn result(id: &str, content: &Value) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "isError": false, "content": content})
}

/// What a message says, a line a block.
pub(crate) fn said(message: &Message) -> Vec<String> {
    let blocks = match message {
        Message::User(user) => match &user.content {
            Content::Text(text) => return vec![text.clone()],
            Content::Blocks(blocks) => blocks,
        },
        Message::ToolResult(result) => &result.content,
        other => panic!("{}", other.role()),
    };
    let line = |block: &Block| match block {
        Block::Text(text) => text.text.clone(),
        Block::Image(_) => "(image)".to_owned(),
        other => panic!("{other:?}"),
    };
    blocks.iter().map(line).collect()
}
