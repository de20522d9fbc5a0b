//! Sends requests and turns the answers into event streams.
//!
//! One reply is one `POST`. Before anything of it was heard, passing failures are tried again within bounds; afterwards the partial
//! reply goes to the caller with the error. Cancelling closes the connection and keeps what came.

use std::sync::Arc;

use longhand_agent::request::{EventStream, Request, Retry};
use longhand_agent::{Credentials, ErrorKind, ModelClient, ModelError, StreamEvent};
use longhand_session::image_bill::Family;
use longhand_session::json::Number;
use longhand_session::time::{Clock, SystemClock};
use longhand_session::{
    AssistantMessage, BilledFrames, ByteEstimate, Model, TokenCounter, ToolCallId,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::reply::{self, Timeouts, Watch};
use super::request::{self, Lessons};
use super::stream::{End, Fold};
use crate::endpoint::Endpoint;
use crate::http::{self, Http, Reach};
use crate::retry::{Stage, Tries};
use crate::{classify, event_stream, output_limit};

/// Least that a stated overflow must leave for a second try with a shorter reply.
const LEAST_ROOM_TOKENS: u64 = 4_096;

/// A prompt that our count puts below this share of the window does not fill it, whatever an empty refusal may mean.
const PLAUSIBLE_OVERFLOW_PERCENT: u64 = 50;

/// The key that stands for none.
const NO_KEY: &str = "N/A";

/// A model behind an OpenAI-compatible server.
#[derive(Clone)]
pub struct OpenAiChat(Arc<Inner>);

struct Inner {
    model: Arc<Model>,
    counter: Arc<dyn TokenCounter>,
    credentials: Arc<dyn Credentials>,
    /// The key in use; asked for once, and again when it is refused.
    key: Mutex<Key>,
    http: Http,
    timeouts: Timeouts,
    clock: Arc<dyn Clock>,
}

/// The key that a client uses.
#[derive(Default, PartialEq)]
enum Key {
    /// Nobody has asked for one yet.
    #[default]
    Unasked,
    /// There is none.
    Absent,
    /// This one.
    Held(String),
}

impl Key {
    fn new(key: Option<String>) -> Self {
        key.map_or(Self::Absent, Self::Held)
    }

    fn as_deref(&self) -> Option<&str> {
        if let Self::Held(key) = self { Some(key) } else { None }
    }
}

impl OpenAiChat {
    /// A client for a model. Nothing is sent, and no key is asked for, before the first request.
    pub fn new(model: Arc<Model>, credentials: Arc<dyn Credentials>, http: Http) -> Self {
        Self(Arc::new(Inner {
            counter: billed(Arc::new(ByteEstimate), &model),
            key: Mutex::default(),
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
        inner.counter = billed(counter, &inner.model);
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
            key: Mutex::default(),
            http: inner.http.clone(),
            timeouts: inner.timeouts,
            clock: Arc::clone(&inner.clock),
        }
    }
}

/// Frames cost what the API bills for them, whoever counts the words.
fn billed(counter: Arc<dyn TokenCounter>, model: &Model) -> Arc<dyn TokenCounter> {
    Arc::new(BilledFrames::new(counter, Family::of_api(model.api.as_str())))
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
    /// Whether the failure passes, but not soon.
    lasts_long: bool,
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self { error, lesson: None, lasts_long: false }
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
        let mut watch = Watch::new(events, &*self.clock);
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
        message.ttft = watch.first_output().map(|at| Number((at - started) as f64));
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
            let response = self.send(request, lessons, &mut stage).await?;
            stage = Stage::Reply;
            reply::read(response, &self.model, self.timeouts, &mut fold, watch).await
        };
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => End::Failed(ModelError::aborted()),
            end = reply => match end {
                Ok(end) => end,
                Err(error) => End::Failed(redacted(error, self.key.lock().await.as_deref())),
            },
        };
        let has_output = fold.has_output();
        let mut rest = Vec::new();
        let (message, error) = fold.finish(end, &mut rest, &new_call_id);
        Outcome { message, error, rest, stage, has_output }
    }

    /// Sends the request, with a fresh key or in another form where the server's refusal asks for that.
    async fn send(
        &self,
        request: &Request,
        lessons: &mut Lessons,
        stage: &mut Stage,
    ) -> Result<Response, ModelError> {
        let prompt_tokens = request::prompt_tokens(request, &*self.counter);
        let endpoint = Endpoint::parse(&self.model.base_url).map_err(|error| {
            ModelError::unclassified(format!("model `{}`: {error}", self.model.reference()))
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
            if refusal.lasts_long {
                *stage = Stage::RefusedForLong;
            }
            return Err(self.judged(refusal.error, prompt_tokens));
        }
    }

    /// The error of a refusal, with what only the client knows.
    fn judged(&self, mut error: ModelError, prompt_tokens: u64) -> ModelError {
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
                reply::silent(&format!("did not answer within {} s", limit.as_secs()), &self.model)
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
        refusal.lasts_long = classify::is_parallel_limit(&headers, &body);
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

    async fn key(&self) -> Option<String> {
        let mut held = self.key.lock().await;
        if *held == Key::Unasked {
            *held = Key::new(self.credentials.key(&self.model.reference()).await);
        }
        held.as_deref().map(str::to_owned)
    }

    /// The key after one was refused: asked for again, unless another request has already done so.
    async fn refresh_key(&self, refused: Option<&str>) -> Option<String> {
        let mut held = self.key.lock().await;
        if held.as_deref() == refused {
            *held = Key::new(self.credentials.key(&self.model.reference()).await);
        }
        held.as_deref().map(str::to_owned)
    }
}

fn new_call_id() -> ToolCallId {
    format!("call_{}", uuid::Uuid::new_v4().simple()).into()
}

fn redacted(mut error: ModelError, key: Option<&str>) -> ModelError {
    error.text = http::redact(&error.text, key);
    error
}
