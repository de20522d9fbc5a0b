use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use longhand_session::image_bill::Family;
use longhand_session::message::{StopReason, ToolCall};
use longhand_session::{
    Api, AssistantMessage, BilledFrames, Block, ByteEstimate, Model, ModelRef, TokenCounter, Usage,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::client::ModelClient;
use crate::error::{ErrorKind, ModelError};
use crate::request::{EventStream, Request, StreamEvent};

/// Bytes of text that a scripted reply sends at once, at least.
const PIECE_BYTES: usize = 16;

/// A model that answers from a script, one reply a request, and remembers what it was asked.
pub struct ScriptedClient {
    model: Arc<Model>,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    requests: Vec<Request>,
}

/// One reply of a script.
#[derive(Debug, Clone)]
pub struct Reply {
    blocks: Vec<Block>,
    usage: Option<Usage>,
    delay: Duration,
    ending: Ending,
}

#[derive(Debug, Clone)]
enum Ending {
    Done(StopReason),
    Failed(ModelError),
    Hangs,
}

impl Reply {
    /// Text, and the end of the answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(vec![Block::text(text)], Ending::Done(StopReason::Stop))
    }

    /// Calls of tools by name and arguments. Their ids are `call_N_M`: the request of the client, and the call in it, both from 1.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let blocks = calls.into_iter().map(|(name, arguments)| {
            Block::ToolCall(ToolCall {
                name: name.into(),
                arguments: arguments.into(),
                ..ToolCall::default()
            })
        });
        Self::of(blocks.collect(), Ending::Done(StopReason::ToolUse))
    }

    /// A failure before anything came.
    pub fn error(error: ModelError) -> Self {
        Self::of(Vec::new(), Ending::Failed(error))
    }

    /// Silence until the request is cancelled.
    pub fn hang() -> Self {
        Self::of(Vec::new(), Ending::Hangs)
    }

    /// The same reply with this text before everything else.
    #[must_use]
    pub fn after_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.insert(0, Block::text(text));
        self
    }

    /// The same reply, cut off at the output limit.
    #[must_use]
    pub fn cut_off(mut self) -> Self {
        self.ending = Ending::Done(StopReason::Length);
        self
    }

    /// The same reply, but its end does not come until the request is cancelled.
    #[must_use]
    pub fn hanging(mut self) -> Self {
        self.ending = Ending::Hangs;
        self
    }

    /// The same reply with measured tokens.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The same reply after a while of the runtime's clock.
    #[must_use]
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn of(blocks: Vec<Block>, ending: Ending) -> Self {
        Self { blocks, usage: None, delay: Duration::ZERO, ending }
    }
}

/// Measured tokens of a prompt and its reply.
pub fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, total_tokens: input + output, ..Usage::default() }
}

impl ScriptedClient {
    /// A model `test/scripted` with a window of 100,000 tokens, which answers with `replies` in order.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut model =
            Model::new(ModelRef::new("test", "scripted"), Api::Demo, "http://localhost");
        model.context_window = Some(100_000);
        model.max_output_tokens = Some(8_000);
        Self::with_model(model, replies)
    }

    /// Any model.
    pub fn with_model(model: Model, replies: impl IntoIterator<Item = Reply>) -> Self {
        let script = Script { replies: replies.into_iter().collect(), requests: Vec::new() };
        Self { model: Arc::new(model), script: Mutex::new(script) }
    }

    /// Adds a reply at the end of the script.
    pub fn then(&self, reply: Reply) {
        self.script().replies.push_back(reply);
    }

    /// What it was asked, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.script().requests.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        // Nothing in here panics while it holds the lock, so a poisoned script is a whole one.
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, reply: &Reply, nth_request: usize) -> AssistantMessage {
        let mut content = reply.blocks.clone();
        let calls = content.iter_mut().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        });
        for (at, call) in calls.enumerate() {
            call.id = format!("call_{nth_request}_{}", at + 1).into();
        }
        AssistantMessage {
            content,
            api: self.model.api.as_str().into(),
            provider: self.model.provider.clone(),
            model: self.model.id.clone(),
            usage: reply.usage.clone(),
            ..AssistantMessage::default()
        }
    }
}

impl ModelClient for ScriptedClient {
    fn model(&self) -> &Arc<Model> {
        &self.model
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        let family = Family::of_api(self.model.api.as_str());
        Arc::new(BilledFrames::new(Arc::new(ByteEstimate), family))
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let (reply, nth_request) = {
            let mut script = self.script();
            script.requests.push(request);
            (script.replies.pop_front(), script.requests.len())
        };
        let ended = ModelError::new(ErrorKind::AuthFailed, "the script has no more replies");
        let reply = reply.unwrap_or_else(|| Reply::error(ended));
        let message = self.message(&reply, nth_request);
        let pieces: Vec<StreamEvent> = pieces(&message);
        let end = end(reply.ending, message, cancel.clone());
        let delayed = stream::once(async move {
            tokio::select! {
                () = tokio::time::sleep(reply.delay) => {}
                () = cancel.cancelled() => {}
            }
            StreamEvent::Start
        });
        delayed.chain(stream::iter(pieces)).chain(stream::once(end)).boxed()
    }
}

async fn end(ending: Ending, message: AssistantMessage, cancel: CancellationToken) -> StreamEvent {
    let failed = |stop_reason, error: ModelError| StreamEvent::Failed {
        message: Box::new(AssistantMessage { stop_reason, ..message.clone() }),
        error,
    };
    if let Ending::Hangs = ending {
        cancel.cancelled().await;
    }
    if cancel.is_cancelled() {
        return failed(StopReason::Aborted, ModelError::aborted());
    }
    match ending {
        Ending::Done(stop_reason) => {
            StreamEvent::Done(Box::new(AssistantMessage { stop_reason, ..message }))
        }
        Ending::Failed(error) => failed(StopReason::Error, error),
        Ending::Hangs => failed(StopReason::Aborted, ModelError::aborted()),
    }
}

/// A message as the pieces that it arrives in.
fn pieces(message: &AssistantMessage) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    for (index, block) in message.content.iter().enumerate() {
        match block {
            Block::Text(block) => {
                events.push(StreamEvent::TextStart { index });
                let deltas = cut(&block.text);
                events.extend(deltas.map(|delta| StreamEvent::TextDelta { index, delta }));
            }
            Block::ToolCall(call) => {
                events.push(StreamEvent::ToolCallStart { index, name: call.name.clone() });
                let deltas = cut(call.arguments.text());
                events.extend(deltas.map(|delta| StreamEvent::ToolCallDelta { index, delta }));
            }
            _ => {}
        }
        events.push(StreamEvent::BlockEnd { index });
    }
    events
}

/// Text in pieces of at least [`PIECE_BYTES`].
fn cut(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, left) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES));
        rest = left;
        Some(piece.to_owned())
    })
}
