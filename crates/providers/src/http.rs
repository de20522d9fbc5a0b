//! HTTP as all clients of this crate use it: connections, keys in headers, bodies of bounded size, errors without secrets.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use longhand_agent::{ErrorKind, ModelError};
use longhand_session::redaction;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, Url};

use crate::classify;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that sends a request on more often sends it in a circle.
const MAX_REDIRECTS: usize = 5;

/// Most bytes of an error's body that are read: messages have a few hundred, pages a few thousand.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// How long the body of an error may take.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections, made when they are first needed and shared by clones.
#[derive(Clone, Default)]
pub struct Http(Arc<Clients>);

#[derive(Default)]
struct Clients {
    near: OnceLock<Result<Client, ModelError>>,
    far: OnceLock<Result<Client, ModelError>>,
}

/// Whether a server is reached directly or through the system's proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This machine or a private network.
    Near,
    /// Anywhere else.
    Far,
}

impl Reach {
    pub(crate) fn of(is_local: bool) -> Self {
        if is_local { Self::Near } else { Self::Far }
    }
}

impl Http {
    /// Connections that are made when they are first needed.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn client(&self, reach: Reach) -> Result<&Client, ModelError> {
        let cell = match reach {
            Reach::Near => &self.0.near,
            Reach::Far => &self.0.far,
        };
        cell.get_or_init(|| {
            // Fails only where the program has chosen another provider already, which serves as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let builder = Client::builder()
                .connect_timeout(CONNECT_TIMEOUT)
                .redirect(Policy::custom(within_host))
                .user_agent(concat!("longhand/", env!("CARGO_PKG_VERSION")));
            let builder = if reach == Reach::Near { builder.no_proxy() } else { builder };
            builder.build().map_err(|error| {
                ModelError::unclassified(format!("cannot set up HTTPS: {}", chain(&error)))
            })
        })
        .as_ref()
        .map_err(Clone::clone)
    }
}

/// Follows redirects of a server to itself, or from HTTP to HTTPS. A conversation, and the headers that the user set for one server,
/// go to no other.
fn within_host(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let Some(from) = attempt.previous().last() else { return attempt.stop() };
    let to = attempt.url();
    let is_same =
        from.host() == to.host() && from.scheme() == to.scheme() && from.port() == to.port();
    let is_secured = from.host() == to.host() && from.scheme() == "http" && to.scheme() == "https";
    if attempt.previous().len() > MAX_REDIRECTS {
        attempt.error("too many redirects")
    } else if is_same || is_secured {
        attempt.follow()
    } else {
        let text = format!("it redirects to `{}`, which is another server", place(to));
        attempt.error(text)
    }
}

/// A failure on the way to a server or back, as told by the connection and not by the server.
pub(crate) fn transport(error: reqwest::Error, url: &Url) -> ModelError {
    let is_timeout = error.is_timeout();
    let is_connect = error.is_connect();
    let is_redirect = error.is_redirect();
    let error = error.without_url();
    let lower = chain(&error).to_ascii_lowercase();
    // A wrong certificate stays wrong, and a redirect the same.
    let is_certificate = lower.contains("certificate") || lower.contains("unknown issuer");
    let mut kinds = Vec::new();
    if !is_certificate && !is_redirect {
        kinds.push(ErrorKind::Transient);
        if is_timeout {
            kinds.push(ErrorKind::Timeout);
        }
    }
    let what = if is_connect || is_redirect { "cannot reach" } else { "lost the connection to" };
    ModelError {
        kinds,
        status: None,
        hint: None,
        text: format!("{what} `{}`: {}", place(url), root(&error)),
    }
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    classify::one_line(&text)
}

/// The innermost cause: those around it only say that something failed.
fn root(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    classify::one_line(&innermost.to_string())
}

/// An address for people: no credentials, no query.
pub(crate) fn place(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Both fail only for addresses without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

/// The body of a refusal, as far as it comes soon and is not too long.
pub(crate) async fn error_body(response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        let mut chunks = response.bytes_stream();
        while let Some(Ok(chunk)) = chunks.next().await {
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_ERROR_BODY_BYTES {
                break;
            }
        }
    };
    // What came in time is enough: the status says the rest.
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    body.truncate(MAX_ERROR_BODY_BYTES);
    String::from_utf8_lossy(&body).into_owned()
}

/// Takes a key out of a text, and whatever else in it looks like one.
pub(crate) fn redact(text: &str, key: Option<&str>) -> String {
    let text = match key.filter(|key| key.len() >= 4) {
        Some(key) => text.replace(key, redaction::MARKER),
        None => text.to_owned(),
    };
    redaction::redact(&text).into_owned()
}
