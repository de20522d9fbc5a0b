//! Receives one answer: folds the stream, tells of its pieces, and ends with one whole message, whatever the client does.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use longhand_session::message::StopReason;
use longhand_session::{AssistantMessage, Block, Message};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::client::ModelClient;
use crate::error::{ErrorKind, ModelError};
use crate::event::{AssistantMessageEvent, SessionEvent};
use crate::grace;
use crate::mail::Postbox;
use crate::message_builder::MessageBuilder;
use crate::request::{Request, StreamEvent};

/// Shortest time between two updates. Each carries the message so far, which is a copy: one a frame keeps the cost of a long
/// answer linear in time instead of quadratic in its pieces.
const UPDATE_INTERVAL: Duration = Duration::from_millis(16);

/// What is stored of a turn that the user stopped.
const INTERRUPTED: &str = "Interrupted by user";

/// An answer that has ended.
pub(crate) struct Answer(pub(crate) AssistantMessage);

/// Sends a request and receives the answer. Cancelling ends it with what came until then; a client that does not end by itself
/// is dropped after [`grace::GRACE`].
pub(crate) async fn receive(
    client: &dyn ModelClient,
    request: Request,
    cancel: &CancellationToken,
    postbox: &Postbox,
    now: &(dyn Fn() -> i64 + Sync),
) -> Answer {
    let builder = MessageBuilder::new(client.model(), now());
    let begun = Arc::new(Message::Assistant(Box::new(builder.message().clone())));
    postbox.emit(SessionEvent::MessageStart { message: begun }).await;
    let mut pieces = Pieces { builder, postbox, waiting: None, last: None };
    let mut stream = client.stream(request, cancel.clone());
    let ended = loop {
        let due = pieces.due();
        tokio::select! {
            biased;
            event = stream.next() => match event {
                Some(StreamEvent::Done(message)) => break Some((*message, None)),
                Some(StreamEvent::Failed { message, error }) => break Some((*message, Some(error))),
                Some(event) => pieces.take(event).await,
                None => break None,
            },
            () = wait_until(due) => pieces.flush().await,
            () = grace::over(cancel) => break None,
        }
    };
    drop(stream);
    pieces.flush().await;
    Answer(finished(pieces.builder, ended, cancel, now()))
}

async fn wait_until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The message as it is stored.
fn finished(
    builder: MessageBuilder,
    ended: Option<(AssistantMessage, Option<ModelError>)>,
    cancel: &CancellationToken,
    now: i64,
) -> AssistantMessage {
    let begun = builder.message().clone();
    let (mut message, error) = match ended {
        Some((message, error)) => (message, error),
        None => (
            builder.into_unfinished(StopReason::Error),
            Some(ModelError::new(ErrorKind::Transient, "the stream ended without an answer")),
        ),
    };
    if message.model.is_empty() {
        (message.api, message.provider, message.model) = (begun.api, begun.provider, begun.model);
    }
    // A call that was still arriving has no id that a result could name.
    if error.is_some() {
        let is_whole =
            |block: &Block| block.as_tool_call().is_none_or(|call| !call.id.as_str().is_empty());
        message.content.retain(is_whole);
    }
    if message.timestamp == 0 {
        message.timestamp = now;
    }
    // A client may finish just as it is stopped: then the answer is whole.
    if let Some(error) = error {
        let is_stopped = cancel.is_cancelled();
        message.stop_reason = if is_stopped { StopReason::Aborted } else { StopReason::Error };
        message.error_message =
            Some(if is_stopped { INTERRUPTED.into() } else { error.text.clone() });
        message.error_status = error.status.map(u64::from);
    }
    message
}

/// Pieces of an answer on their way to those who listen.
struct Pieces<'a> {
    builder: MessageBuilder,
    postbox: &'a Postbox,
    waiting: Option<AssistantMessageEvent>,
    last: Option<Instant>,
}

impl Pieces<'_> {
    /// When the waiting piece is told of.
    fn due(&self) -> Option<Instant> {
        self.waiting.as_ref()?;
        Some(self.last.map_or_else(Instant::now, |last| last + UPDATE_INTERVAL))
    }

    async fn take(&mut self, event: StreamEvent) {
        self.builder.fold(&event);
        let Some(piece) = piece(event) else { return };
        let left = match &mut self.waiting {
            Some(waiting) => waiting.absorb(piece),
            None => Some(piece),
        };
        if let Some(piece) = left {
            self.flush().await;
            self.waiting = Some(piece);
        }
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.flush().await;
        }
    }

    async fn flush(&mut self) {
        let Some(assistant_message_event) = self.waiting.take() else { return };
        self.last = Some(Instant::now());
        let partial = Arc::new(self.builder.message().clone());
        self.postbox.emit(SessionEvent::MessageUpdate { assistant_message_event, partial }).await;
    }
}

/// The event for listeners; `None` for those that are told of otherwise.
fn piece(event: StreamEvent) -> Option<AssistantMessageEvent> {
    use AssistantMessageEvent as E;
    Some(match event {
        StreamEvent::TextStart { index } => E::TextStart { content_index: index },
        StreamEvent::TextDelta { index, delta } => E::TextDelta { content_index: index, delta },
        StreamEvent::ThinkingStart { index } => E::ThinkingStart { content_index: index },
        StreamEvent::ThinkingDelta { index, delta } => {
            E::ThinkingDelta { content_index: index, delta }
        }
        StreamEvent::ToolCallStart { index, name } => {
            E::ToolCallStart { content_index: index, name }
        }
        StreamEvent::ToolCallDelta { index, delta } => {
            E::ToolCallDelta { content_index: index, delta }
        }
        StreamEvent::BlockEnd { index } => E::BlockEnd { content_index: index },
        StreamEvent::Start | StreamEvent::Done(_) | StreamEvent::Failed { .. } => return None,
    })
}
