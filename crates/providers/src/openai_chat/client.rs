//! Sends requests and turns the answers into event streams.
//!
//! One reply is one `POST`. Before anything of it was heard, passing failures are tried again within bounds; afterwards the partial
//! reply goes to the caller with the error. Cancelling closes the connection and keeps what came.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use longhand_agent::request::{EventStream, Request, Retry};
use longhand_agent::{Credentials, ErrorKind, ModelClient, ModelError, StreamEvent};
use longhand_session::json::Number;
use longhand_session::time::{Clock, SystemClock};
use longhand_session::{AssistantMessage, ByteEstimate, Model, TokenCounter, ToolCallId};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::request::{self, Lessons};
use super::stream::{End, Fold};
use crate::endpoint::Endpoint;
use crate::http::{self, Http, Reach};
use crate::retry::{Stage, Tries};
use crate::sse::Decoder;
use crate::{classify, event_stream, output_limit};

/// Keepalives count as life for this many idle times, then something real must come.
const KEEPALIVE_IDLE_TIMES: u32 = 3;

/// How long to wait for the usage after the reason for the end.
const USAGE_GRACE: Duration = Duration::from_millis(2_500);

/// The same when the usage is there: only the end of the stream is missing, and the connection is worth a moment.
const END_GRACE: Duration = Duration::from_millis(250);

/// Least that a stated overflow must leave for a second try with a shorter reply.
const LEAST_ROOM_TOKENS: u64 = 4_096;

/// A prompt that our count puts below this share of the window does not fill it, whatever an empty refusal may mean.
const PLAUSIBLE_OVERFLOW_PERCENT: u64 = 50;

/// The key that stands for none.
const NO_KEY: &str = "N/A";

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
        let five_minutes = Some(Duration::from_secs(300));
        Self { first_event: five_minutes.filter(|_| !model.is_local), idle: five_minutes }
    }
}

/// A model behind an OpenAI-compatible server.
#[derive(Clone)]
pub struct OpenAiChat(Arc<Inner>);

struct Inner {
    model: Arc<Model>,
    counter: Arc<dyn TokenCounter>,
    credentials: Arc<dyn Credentials>,
    /// The key in use; asked for once, and again when it is refused.
    key: Mutex<Option<Option<String>>>,
    http: Http,
    timeouts: Timeouts,
    clock: Arc<dyn Clock>,
}

impl OpenAiChat {
    /// A client for a model. Nothing is sent, and no key is asked for, before the first request.
    pub fn new(model: Arc<Model>, credentials: Arc<dyn Credentials>, http: Http) -> Self {
        Self(Arc::new(Inner {
            counter: Arc::new(ByteEstimate),
            key: Mutex::new(None),
            timeouts: Timeouts::of(&model),
            clock: Arc::new(SystemClock),
            model,
            credentials,
            http,
        }))
    }

    /// The same client with other limits on silence.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        let mut inner = self.into_inner();
        inner.timeouts = timeouts;
        Self(Arc::new(inner))
    }

    /// The same client with a counter that knows the model's vocabulary.
    #[must_use]
    pub fn with_counter(self, counter: Arc<dyn TokenCounter>) -> Self {
        let mut inner = self.into_inner();
        inner.counter = counter;
        Self(Arc::new(inner))
    }

    /// The body that is sent for a request, as long as no refusal asks for another form.
    ///
    /// # Errors
    /// The prompt leaves too little of the context window for a reply.
    pub fn body(&self, request: &Request) -> Result<Value, ModelError> {
        let prompt_tokens = request::prompt_tokens(request, &*self.0.counter);
        request::body(request, &self.0.model, prompt_tokens, Lessons::default())
    }

    fn into_inner(self) -> Inner {
        let inner = &*self.0;
        Inner {
            model: Arc::clone(&inner.model),
            counter: Arc::clone(&inner.counter),
            credentials: Arc::clone(&inner.credentials),
            key: Mutex::new(None),
            http: inner.http.clone(),
            timeouts: inner.timeouts,
            clock: Arc::clone(&inner.clock),
        }
    }
}

impl ModelClient for OpenAiChat {
    fn model(&self) -> &Arc<Model> {
        &self.0.model
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        Arc::clone(&self.0.counter)
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let inner = Arc::clone(&self.0);
        event_stream::driven(
            move |events| async move { inner.run(&request, &cancel, &events).await },
        )
    }
}

/// What one try came to.
struct Outcome {
    message: AssistantMessage,
    error: Option<ModelError>,
    /// Events of the end, which the caller hears only if the try stands.
    rest: Vec<StreamEvent>,
    stage: Stage,
    has_output: bool,
}

/// A request that a server did not accept.
struct Refusal {
    error: ModelError,
    /// What another try should do differently; `None` where the same request may be sent again.
    lesson: Option<Lessons>,
    /// Whether waiting is useless although the failure will pass.
    is_final: bool,
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self { error, lesson: None, is_final: false }
    }
}

impl Inner {
    /// Tries until a reply stands, and sends its events and its end.
    async fn run(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        events: &mpsc::Sender<StreamEvent>,
    ) {
        let started = self.clock.now_millis();
        let mut watch =
            Watch { events, has_started: false, first_output: None, clock: &*self.clock };
        let mut tries = Tries::default();
        let mut lessons = Lessons::default();
        let (mut message, error, rest) = loop {
            let outcome = self.attempt(request, &mut lessons, cancel, &mut watch).await;
            let Some(error) = outcome.error else { break (outcome.message, None, outcome.rest) };
            let wait = match request.options.retry {
                Retry::Client if !outcome.has_output => tries.next(&error, outcome.stage),
                Retry::Client | Retry::Caller => None,
            };
            let Some(wait) = wait else { break (outcome.message, Some(error), outcome.rest) };
            tracing::debug!(model = %self.model.reference(), ?wait, error = %error.text, "trying again");
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    let (message, error) = Fold::new(&self.model)
                        .finish(End::Failed(ModelError::aborted()), &mut Vec::new(), &new_call_id);
                    break (message, error, Vec::new());
                }
                () = tokio::time::sleep(wait) => {}
            }
        };
        let ended = self.clock.now_millis();
        message.timestamp = started;
        message.duration = Some(Number((ended - started) as f64));
        message.ttft = watch.first_output.map(|at| Number((at - started) as f64));
        watch.send_all(rest).await;
        let message = Box::new(message);
        watch
            .send(match error {
                None => StreamEvent::Done(message),
                Some(error) => StreamEvent::Failed { message, error },
            })
            .await;
    }

    async fn attempt(
        &self,
        request: &Request,
        lessons: &mut Lessons,
        cancel: &CancellationToken,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let mut fold = Fold::new(&self.model);
        let mut stage = Stage::Sending;
        let reply = async {
            let response = self.send(request, lessons).await?;
            stage = Stage::Reply;
            self.read(response, &mut fold, watch).await
        };
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => End::Failed(ModelError::aborted()),
            end = reply => end.unwrap_or_else(End::Failed),
        };
        let has_output = fold.has_output();
        let mut rest = Vec::new();
        let (message, error) = fold.finish(end, &mut rest, &new_call_id);
        Outcome { message, error, rest, stage, has_output }
    }

    /// Sends the request, with a fresh key or in another form where the server's refusal asks for that.
    async fn send(&self, request: &Request, lessons: &mut Lessons) -> Result<Response, ModelError> {
        let prompt_tokens = request::prompt_tokens(request, &*self.counter);
        let endpoint = Endpoint::parse(&self.model.base_url).map_err(|error| ModelError {
            kinds: Vec::new(),
            ..ModelError::new(
                ErrorKind::Transient,
                format!("model `{}`: {error}", self.model.reference()),
            )
        })?;
        let url = endpoint.join("chat/completions");
        let mut key = self.key().await;
        let mut may_refresh = true;
        loop {
            let body = request::body(request, &self.model, prompt_tokens, *lessons)?;
            let refusal = match self.post(&url, &body, request, key.as_deref(), *lessons).await {
                Ok(response) => return Ok(response),
                Err(refusal) => refusal,
            };
            if let Some(lesson) = refusal.lesson {
                *lessons = lesson;
                continue;
            }
            if refusal.error.status == Some(401) && std::mem::take(&mut may_refresh) {
                let fresh = self.refresh_key(key.as_deref()).await;
                if fresh.is_some() && fresh != key {
                    key = fresh;
                    continue;
                }
            }
            return Err(self.judged(refusal, prompt_tokens));
        }
    }

    /// The error of a refusal, with what only the client knows.
    fn judged(&self, refusal: Refusal, prompt_tokens: u64) -> ModelError {
        let mut error = refusal.error;
        if refusal.is_final {
            // The next layer would wait as uselessly; a limit is what it is.
            error.kinds = vec![ErrorKind::UsageLimit];
        }
        let is_wordless = classify::bodiless(error.status, &error.text).is_some()
            || error.text.ends_with("(no body)");
        let is_small = self.model.context_window.is_some_and(|window| {
            prompt_tokens.saturating_mul(100) < window.saturating_mul(PLAUSIBLE_OVERFLOW_PERCENT)
        });
        if is_wordless && is_small {
            error.kinds.retain(|kind| *kind != ErrorKind::ContextOverflow);
        }
        error
    }

    async fn post(
        &self,
        url: &Url,
        body: &Value,
        request: &Request,
        key: Option<&str>,
        lessons: Lessons,
    ) -> Result<Response, Refusal> {
        let client = self.http.client(Reach::of(self.model.is_local))?;
        let sending = client
            .post(url.clone())
            .headers(self.headers(request, key)?)
            .body(body.to_string())
            .send();
        let answer = match self.timeouts.first_event {
            Some(limit) => tokio::time::timeout(limit, sending).await.map_err(|_| {
                silent(&format!("did not answer within {} s", limit.as_secs()), &self.model)
            })?,
            None => sending.await,
        };
        let response = answer.map_err(|error| redacted(http::transport(error, url), key))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refusal(response, key, lessons).await)
    }

    fn headers(&self, request: &Request, key: Option<&str>) -> Result<HeaderMap, ModelError> {
        let invalid = |what: &str| ModelError {
            kinds: vec![ErrorKind::AuthFailed],
            ..ModelError::new(
                ErrorKind::AuthFailed,
                format!(
                    "{what} for `{}` has characters that a header cannot hold",
                    self.model.reference()
                ),
            )
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(key) = key.filter(|key| *key != NO_KEY) {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| invalid("the key"))?;
            value.set_sensitive(true);
            headers.insert(reqwest::header::AUTHORIZATION, value);
        }
        if let Some(session) =
            request.options.cache_key.as_ref().filter(|_| request::routes_by_session(&self.model))
            && let Ok(value) = HeaderValue::from_str(session)
        {
            headers.insert("session_id", value);
        }
        for (name, value) in &self.model.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("a header"))?;
            headers.insert(name, HeaderValue::from_str(value).map_err(|_| invalid("a header"))?);
        }
        Ok(headers)
    }

    async fn refusal(&self, response: Response, key: Option<&str>, lessons: Lessons) -> Refusal {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = http::error_body(response).await;
        let error =
            redacted(classify::refusal(status, &headers, &body, jiff::Timestamp::now()), key);
        let mut refusal = Refusal::from(error);
        refusal.is_final = classify::is_parallel_limit(&headers, &body);
        let shorter = classify::stated_overflow(&body)
            .filter(|stated| stated.prompt_tokens + LEAST_ROOM_TOKENS <= stated.window_tokens)
            .map(|stated| output_limit::room(stated.window_tokens, stated.prompt_tokens));
        if refusal.error.is(ErrorKind::ContextOverflow)
            && shorter.is_some()
            && lessons.max_output_tokens.is_none()
        {
            refusal.lesson = Some(Lessons { max_output_tokens: shorter, ..lessons });
        } else if classify::refuses_empty_tools(status, &body) && !lessons.refuses_empty_tools {
            refusal.lesson = Some(Lessons { refuses_empty_tools: true, ..lessons });
        }
        refusal
    }

    /// Reads a reply to its end.
    async fn read(
        &self,
        response: Response,
        fold: &mut Fold<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<End, ModelError> {
        let url = response.url().clone();
        let kind = content_type(&response);
        if !matches!(
            kind.as_str(),
            "" | "text/event-stream"
                | "application/x-ndjson"
                | "text/plain"
                | "application/json"
                | "application/octet-stream"
        ) {
            let said = classify::readable(&http::error_body(response).await);
            return Err(ModelError {
                kinds: Vec::new(),
                ..ModelError::new(
                    ErrorKind::Transient,
                    format!(
                        "`{}` answered with `{kind}` instead of an event stream; check the base URL: {said}",
                        http::place(&url)
                    ),
                )
            });
        }
        watch.start().await;
        let mut decoder =
            if kind == "application/json" { Decoder::of_json() } else { Decoder::default() };
        let mut bytes = response.bytes_stream();
        let mut payloads = Vec::new();
        let mut silence = Silence::new(self.timeouts);
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
                    return Ok(self
                        .payloads(&mut payloads, fold, watch)
                        .await?
                        .unwrap_or(End::Closed));
                }
                Ok(Some(Err(_))) | Err(_) if fold.has_finish_reason() => return Ok(End::Closed),
                Ok(Some(Err(error))) => return Err(http::transport(error, &url)),
                Err(_) => return Err(silent("fell silent in the middle of a reply", &self.model)),
            };
            decoder.push(&chunk, &mut payloads).map_err(|error| ModelError {
                kinds: Vec::new(),
                ..ModelError::new(
                    ErrorKind::Transient,
                    format!("`{}`: {error}", self.model.reference()),
                )
            })?;
            silence.heard(!payloads.is_empty());
            if let Some(end) = self.payloads(&mut payloads, fold, watch).await? {
                return Ok(end);
            }
        }
    }

    async fn payloads(
        &self,
        payloads: &mut Vec<String>,
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
                        format!(
                            "`{}` sent a piece of a reply that is not JSON",
                            self.model.reference()
                        ),
                    ));
                }
                Err(_) => Err(Value::from(payload)),
            };
            watch.send_all(events).await;
            if let Err(error) = heard {
                let error = classify::in_band(&error, jiff::Timestamp::now());
                // A line of text that tells of no failure is noise of a gateway.
                if !error.kinds.is_empty() || payload.starts_with('{') {
                    let key = self.key.lock().await.clone().flatten();
                    return Err(redacted(error, key.as_deref()));
                }
                tracing::debug!(model = %self.model.reference(), "ignoring a line that is not JSON");
            }
        }
        Ok(None)
    }

    async fn key(&self) -> Option<String> {
        let mut held = self.key.lock().await;
        if held.is_none() {
            *held = Some(self.credentials.key(&self.model.reference()).await);
        }
        held.clone().flatten()
    }

    /// The key after one was refused: asked for again, unless another request has already done so.
    async fn refresh_key(&self, refused: Option<&str>) -> Option<String> {
        let mut held = self.key.lock().await;
        if held.as_ref().is_some_and(|held| held.as_deref() == refused) {
            *held = Some(self.credentials.key(&self.model.reference()).await);
        }
        held.clone().flatten()
    }
}

fn new_call_id() -> ToolCallId {
    format!("call_{}", uuid::Uuid::new_v4().simple()).into()
}

fn silent(what: &str, model: &Model) -> ModelError {
    ModelError {
        kinds: vec![ErrorKind::Transient, ErrorKind::Timeout],
        ..ModelError::new(ErrorKind::Timeout, format!("`{}` {what}", model.reference()))
    }
}

fn redacted(mut error: ModelError, key: Option<&str>) -> ModelError {
    error.text = http::redact(&error.text, key);
    error
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
struct Watch<'a> {
    events: &'a mpsc::Sender<StreamEvent>,
    has_started: bool,
    first_output: Option<i64>,
    clock: &'a dyn Clock,
}

impl Watch<'_> {
    async fn start(&mut self) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.send(StreamEvent::Start).await;
        }
    }

    async fn send_all(&mut self, events: Vec<StreamEvent>) {
        for event in events {
            if self.first_output.is_none() {
                self.first_output = Some(self.clock.now_millis());
            }
            self.send(event).await;
        }
    }

    async fn send(&self, event: StreamEvent) {
        // The receiver lives in the same stream as this future: while one is polled, both are there.
        let _ = self.events.send(event).await;
    }
}
