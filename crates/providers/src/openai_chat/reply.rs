//! Reads the body of an answer into a [`Fold`] until the reply ends, the server breaks off, or nothing comes for too long.

use std::time::Duration;

use futures::StreamExt;
use longhand_agent::{ErrorKind, ModelError, StreamEvent};
use longhand_session::Model;
use longhand_session::time::Clock;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::stream::{End, Fold};
use crate::sse::Decoder;
use crate::{classify, http};

/// Keepalives count as life for this many idle times, then something real must come.
const KEEPALIVE_IDLE_TIMES: u32 = 3;

/// How long to wait for the usage after the reason for the end.
const USAGE_GRACE: Duration = Duration::from_millis(2_500);

/// The same when the usage is there: only the end of the stream is missing, and the connection is worth a moment.
const END_GRACE: Duration = Duration::from_millis(250);

/// Types that servers give their event streams. A page is not among them.
const STREAM_TYPES: [&str; 6] = [
    "",
    "text/event-stream",
    "application/x-ndjson",
    "text/plain",
    "application/json",
    "application/octet-stream",
];

/// How long a server may be silent. `None` waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Before the first byte of the reply.
    pub first_event: Option<Duration>,
    /// Between two pieces.
    pub idle: Option<Duration>,
}

impl Timeouts {
    /// Five minutes each; a server of one's own may load a model and read a long prompt for as long as it takes.
    pub fn of(model: &Model) -> Self {
        let five_minutes = Some(Duration::from_mins(5));
        Self { first_event: five_minutes.filter(|_| !model.is_local), idle: five_minutes }
    }
}

/// Reads a reply to its end.
///
/// # Errors
/// The server breaks off, falls silent, reports a failure, or answers something else. The fold keeps what came.
pub(super) async fn read(
    response: Response,
    model: &Model,
    timeouts: Timeouts,
    fold: &mut Fold<'_>,
    watch: &mut Watch<'_>,
) -> Result<End, ModelError> {
    let url = response.url().clone();
    let kind = content_type(&response);
    if !STREAM_TYPES.contains(&kind.as_str()) {
        let said = classify::readable(&http::error_body(response).await);
        return Err(ModelError::unclassified(format!(
            "`{}` answered with `{kind}` instead of an event stream; check the base URL: {said}",
            http::place(&url)
        )));
    }
    watch.start().await;
    let mut decoder =
        if kind == "application/json" { Decoder::of_json() } else { Decoder::default() };
    let mut bytes = response.bytes_stream();
    let mut payloads = Vec::new();
    let mut silence = Silence::new(timeouts);
    loop {
        let deadline = silence.deadline(fold);
        let next = match deadline {
            Some(at) => tokio::time::timeout_at(at, bytes.next()).await,
            None => Ok(bytes.next().await),
        };
        let chunk = match next {
            Ok(Some(Ok(chunk))) => chunk,
            Ok(None) => {
                std::mem::take(&mut decoder).finish(&mut payloads);
                return Ok(take(&mut payloads, model, fold, watch).await?.unwrap_or(End::Closed));
            }
            Ok(Some(Err(_))) | Err(_) if fold.has_finish_reason() => return Ok(End::Closed),
            Ok(Some(Err(error))) => return Err(http::transport(error, &url)),
            Err(_) => return Err(silent("fell silent in the middle of a reply", model)),
        };
        decoder.push(&chunk, &mut payloads).map_err(|error| {
            ModelError::unclassified(format!("`{}`: {error}", model.reference()))
        })?;
        silence.heard(!payloads.is_empty());
        if let Some(end) = take(&mut payloads, model, fold, watch).await? {
            return Ok(end);
        }
    }
}

/// Takes payloads up to the one that ends the reply.
async fn take(
    payloads: &mut Vec<String>,
    model: &Model,
    fold: &mut Fold<'_>,
    watch: &mut Watch<'_>,
) -> Result<Option<End>, ModelError> {
    for payload in payloads.drain(..) {
        let payload = payload.trim();
        if payload == "[DONE]" {
            return Ok(Some(End::Done));
        }
        let mut events = Vec::new();
        let heard = match serde_json::from_str::<Value>(payload) {
            Ok(chunk) if chunk.is_object() => fold.chunk(&chunk, &mut events),
            Ok(_) => Ok(()),
            Err(_) if payload.starts_with('{') => {
                return Err(ModelError::new(
                    ErrorKind::Transient,
                    format!("`{}` sent a piece of a reply that is not JSON", model.reference()),
                ));
            }
            Err(_) => Err(Value::from(payload)),
        };
        watch.send_all(events).await;
        if let Err(error) = heard {
            let error = classify::in_band(&error, jiff::Timestamp::now());
            // A line of text that tells of no failure is noise of a gateway.
            if !error.kinds.is_empty() || payload.starts_with('{') {
                return Err(error);
            }
            tracing::debug!(model = %model.reference(), "ignoring a line that is not JSON");
        }
    }
    Ok(None)
}

/// A server of which nothing was heard for too long.
pub(super) fn silent(what: &str, model: &Model) -> ModelError {
    ModelError {
        kinds: vec![ErrorKind::Transient, ErrorKind::Timeout],
        ..ModelError::new(ErrorKind::Timeout, format!("`{}` {what}", model.reference()))
    }
}

fn content_type(response: &Response) -> String {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// When a silent server is given up.
struct Silence {
    timeouts: Timeouts,
    began: Instant,
    /// The last bytes of any kind.
    last_bytes: Option<Instant>,
    /// The last payload.
    last_payload: Instant,
}

impl Silence {
    fn new(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self { timeouts, began: now, last_bytes: None, last_payload: now }
    }

    fn heard(&mut self, has_payload: bool) {
        let now = Instant::now();
        self.last_bytes = Some(now);
        if has_payload {
            self.last_payload = now;
        }
    }

    fn deadline(&self, fold: &Fold<'_>) -> Option<Instant> {
        if fold.has_finish_reason() {
            let grace = if fold.has_usage() { END_GRACE } else { USAGE_GRACE };
            return Some(self.last_payload + grace);
        }
        match self.last_bytes {
            None => Some(self.began + self.timeouts.first_event?),
            Some(last_bytes) => {
                let idle = self.timeouts.idle?;
                Some((last_bytes + idle).min(self.last_payload + idle * KEEPALIVE_IDLE_TIMES))
            }
        }
    }
}

/// The way to the caller, and what was seen on it.
pub(super) struct Watch<'a> {
    events: &'a mpsc::Sender<StreamEvent>,
    has_started: bool,
    first_output: Option<i64>,
    clock: &'a dyn Clock,
}

impl<'a> Watch<'a> {
    pub(super) fn new(events: &'a mpsc::Sender<StreamEvent>, clock: &'a dyn Clock) -> Self {
        Self { events, has_started: false, first_output: None, clock }
    }

    /// When the first piece came, in milliseconds since the epoch.
    pub(super) fn first_output(&self) -> Option<i64> {
        self.first_output
    }

    async fn start(&mut self) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.send(StreamEvent::Start).await;
        }
    }

    pub(super) async fn send_all(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            if self.first_output.is_none() {
                self.first_output = Some(self.clock.now_millis());
            }
            self.send(event).await;
        }
    }

    pub(super) async fn send(&self, event: StreamEvent) {
        // The receiver lives in the same stream as this future: while one is polled, both are there.
        let _ = self.events.send(event).await;
    }
}
