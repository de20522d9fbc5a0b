//! Plays a script as a stream of events, token by token, within the limits of the model.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use longhand_agent::request::EventStream;
use longhand_agent::{ErrorKind, ModelError, Request, StreamEvent};
use longhand_session::message::{StopReason, ToolCall};
use longhand_session::tokens::{self, EncryptedReasoning};
use longhand_session::usage::Cost;
use longhand_session::{AssistantMessage, Block, Fragment, Message, Model, TokenCounter, Usage};
use tokio_util::sync::CancellationToken;

use super::Pace;
use super::reply::{self, Part};

/// Longest piece of text that arrives at once, in bytes.
const PIECE_BYTES: usize = 12;

/// A reply that is on its way.
pub(super) struct Playback {
    steps: VecDeque<Step>,
    /// What came until now.
    message: AssistantMessage,
    /// How it ends when nothing interrupts it.
    ending: Ending,
    counter: Arc<dyn TokenCounter>,
}

enum Ending {
    Complete(StopReason),
    Overflow { prompt_tokens: u64, window_tokens: u64 },
}

struct Step {
    event: StreamEvent,
    tokens: u64,
    /// A call that is complete with this step.
    call: Option<ToolCall>,
}

impl Step {
    fn mark(event: StreamEvent) -> Self {
        Self { event, tokens: 0, call: None }
    }
}

impl Playback {
    pub(super) fn new(
        model: &Model,
        counter: Arc<dyn TokenCounter>,
        request: &Request,
        started_millis: i64,
    ) -> Self {
        let prompt_tokens = request_tokens(&*counter, request);
        let mut playback = Self {
            steps: VecDeque::new(),
            message: AssistantMessage {
                api: model.api.as_str().into(),
                provider: model.provider.clone(),
                model: model.id.clone(),
                timestamp: started_millis,
                usage: Some(Usage {
                    input: prompt_tokens,
                    total_tokens: prompt_tokens,
                    cost: Some(Cost::default()),
                    ..Usage::default()
                }),
                ..AssistantMessage::default()
            },
            ending: Ending::Complete(StopReason::Stop),
            counter,
        };
        let window_tokens = model.context_window.unwrap_or(u64::MAX);
        if prompt_tokens >= window_tokens {
            playback.message.usage = None;
            playback.ending = Ending::Overflow { prompt_tokens, window_tokens };
            return playback;
        }
        let limits = [model.max_output_tokens, request.options.max_output_tokens];
        let room = window_tokens - prompt_tokens;
        playback
            .plan(reply::reply(request).parts, limits.into_iter().flatten().fold(room, u64::min));
        playback
    }

    /// Lays the parts out in pieces, up to `most_tokens`. A call that does not fit whole is left out.
    fn plan(&mut self, parts: Vec<Part>, most_tokens: u64) {
        self.steps.push_back(Step::mark(StreamEvent::Start));
        let mut left = most_tokens;
        for (index, part) in parts.into_iter().enumerate() {
            let fits = match part {
                Part::Text(text) => self.plan_text(index, &text, &mut left),
                Part::Call { id, tool, arguments } => {
                    let call = ToolCall {
                        id,
                        name: tool,
                        arguments: arguments.into(),
                        ..ToolCall::default()
                    };
                    self.plan_call(index, call, &mut left)
                }
            };
            if !fits {
                self.ending = Ending::Complete(StopReason::Length);
                return;
            }
        }
    }

    fn plan_text(&mut self, index: usize, text: &str, left: &mut u64) -> bool {
        self.steps.push_back(Step::mark(StreamEvent::TextStart { index }));
        let mut fits = true;
        for piece in pieces(text) {
            let tokens = self.counter.count(Fragment::Text(piece));
            fits = tokens <= *left;
            if !fits {
                break;
            }
            *left -= tokens;
            let event = StreamEvent::TextDelta { index, delta: piece.into() };
            self.steps.push_back(Step { event, tokens, call: None });
        }
        self.steps.push_back(Step::mark(StreamEvent::BlockEnd { index }));
        fits
    }

    fn plan_call(&mut self, index: usize, call: ToolCall, left: &mut u64) -> bool {
        let arguments = call.arguments.compact();
        let tokens = self.counter.count(Fragment::ToolName(&call.name))
            + self.counter.count(Fragment::ToolArguments(&arguments));
        if tokens > *left {
            return false;
        }
        *left -= tokens;
        let name = call.name.clone();
        self.steps.push_back(Step::mark(StreamEvent::ToolCallStart { index, name }));
        let event = StreamEvent::ToolCallDelta { index, delta: arguments };
        self.steps.push_back(Step { event, tokens, call: None });
        let event = StreamEvent::BlockEnd { index };
        self.steps.push_back(Step { event, tokens: 0, call: Some(call) });
        self.ending = Ending::Complete(StopReason::ToolUse);
        true
    }

    /// The events at a pace. Cancelling ends them with what came until then.
    pub(super) fn into_stream(self, pace: Pace, cancel: CancellationToken) -> EventStream {
        let playing = futures::stream::unfold(Some(self), move |playback| {
            let cancel = cancel.clone();
            async move { playback?.next(pace, &cancel).await }
        });
        playing.boxed()
    }

    async fn next(
        mut self,
        pace: Pace,
        cancel: &CancellationToken,
    ) -> Option<(StreamEvent, Option<Self>)> {
        let wait = self.steps.front().map_or(0, |step| step.tokens);
        if !is_over_before(cancel, pace.wait(wait)).await {
            return Some((self.interrupted(), None));
        }
        let Some(step) = self.steps.pop_front() else {
            return Some((self.ended(), None));
        };
        self.take(&step);
        Some((step.event, Some(self)))
    }

    fn take(&mut self, step: &Step) {
        match &step.event {
            StreamEvent::TextStart { .. } => self.message.content.push(Block::text("")),
            StreamEvent::TextDelta { delta, .. } => {
                if let Some(Block::Text(block)) = self.message.content.last_mut() {
                    block.text.push_str(delta);
                }
            }
            _ => {}
        }
        if let Some(call) = &step.call {
            self.message.content.push(Block::ToolCall(call.clone()));
        }
    }

    fn ended(mut self) -> StreamEvent {
        match self.ending {
            Ending::Complete(stop_reason) => {
                self.message.stop_reason = stop_reason;
                self.measure();
                StreamEvent::Done(Box::new(self.message))
            }
            Ending::Overflow { prompt_tokens, window_tokens } => self.failed(
                StopReason::Error,
                ModelError::new(
                    ErrorKind::ContextOverflow,
                    format!("prompt is too long: {prompt_tokens} tokens > {window_tokens} maximum"),
                ),
            ),
        }
    }

    fn interrupted(mut self) -> StreamEvent {
        self.measure();
        self.failed(StopReason::Aborted, ModelError::aborted())
    }

    fn failed(mut self, stop_reason: StopReason, error: ModelError) -> StreamEvent {
        self.message.stop_reason = stop_reason;
        self.message.error_message = Some(error.text.clone());
        StreamEvent::Failed { message: Box::new(self.message), error }
    }

    /// Counts what was said.
    fn measure(&mut self) {
        let reply = Message::Assistant(Box::new(self.message.clone()));
        let output = tokens::count_message(&*self.counter, &reply, EncryptedReasoning::Counted);
        if let Some(usage) = &mut self.message.usage {
            usage.output = output;
            usage.total_tokens = usage.input + output;
        }
    }
}

/// Waits, unless cancelled before; says whether the wait is over.
async fn is_over_before(cancel: &CancellationToken, wait: Duration) -> bool {
    if cancel.is_cancelled() {
        return false;
    }
    if wait.is_zero() {
        return true;
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => false,
        () = tokio::time::sleep(wait) => true,
    }
}

/// Words, and pieces of long words, white space included. Joined they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace).flat_map(|word| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let at =
                (0..=PIECE_BYTES.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at))?;
            let (piece, after) = rest.split_at(at);
            rest = after;
            (!piece.is_empty()).then_some(piece)
        })
    })
}

/// Tokens of everything that a request says.
fn request_tokens(counter: &dyn TokenCounter, request: &Request) -> u64 {
    let text = |text: &str| counter.count(Fragment::Text(text));
    let system: u64 = request.system.iter().map(|segment| text(segment)).sum();
    let tools = request.tools.iter().map(|tool| {
        text(&tool.name) + text(&tool.description) + text(&tool.parameters.to_string())
    });
    let messages = tokens::count_messages(counter, &request.messages, EncryptedReasoning::Counted);
    system + tools.sum::<u64>() + messages
}
