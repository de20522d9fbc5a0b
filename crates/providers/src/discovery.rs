//! Asks a provider which models it serves, and how large their context window is as served.
//!
//! Ends soon: a provider that does not answer is an error that the caller may show and go on from.

mod answers;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future;
use longhand_agent::{ErrorKind, ModelError};
use reqwest::{Method, Url};
use serde_json::{Value, json};

pub(crate) use self::answers::Found;
use crate::endpoint::Endpoint;
use crate::http::{self, Http, Reach};

/// A server on this machine answers in milliseconds or is busy with something else; one that is not there refuses at once.
const LOOPBACK_TIMEOUT: Duration = Duration::from_secs(1);

/// Any other server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of an answer. The longest list of models, that of a router, has under a megabyte.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Most models that are asked about one by one.
const MAX_DETAILS: usize = 64;

/// A provider to ask.
pub(crate) struct Target<'a> {
    pub(crate) provider: &'a str,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) key: Option<&'a str>,
    pub(crate) http: &'a Http,
}

/// The models that a provider serves.
///
/// # Errors
/// The provider cannot be reached, refuses, or answers something else.
pub(crate) async fn discover(target: &Target<'_>) -> Result<Vec<Found>, ModelError> {
    match target.provider {
        "ollama" => ollama(target).await,
        "lm-studio" => match target.get(target.endpoint.beside_version("api/v0/models")).await {
            Ok(answer) => Ok(answers::lm_studio(&answer)),
            Err(_) => listed(target).await,
        },
        _ => listed(target).await,
    }
}

/// The list that all servers of this protocol have, and what llama.cpp tells beside it.
async fn listed(target: &Target<'_>) -> Result<Vec<Found>, ModelError> {
    let url = target.endpoint.join("models");
    let answer = target.get(url.clone()).await?;
    let Some(mut found) = answers::listed(&answer) else {
        return Err(ModelError::unclassified(format!(
            "`{}` did not answer with a list of models",
            http::place(&url)
        )));
    };
    if target.provider == "llama.cpp" || answers::is_llama_cpp(&answer) {
        // Without it the list still has the window as it was configured or trained.
        if let Ok(props) = target.get(target.endpoint.beside_version("props")).await {
            answers::add_llama_cpp_props(&mut found, &props);
        }
        answers::fall_back_to_trained_window(&mut found, &answer);
    }
    Ok(found)
}

async fn ollama(target: &Target<'_>) -> Result<Vec<Found>, ModelError> {
    let at = |path: &str| target.endpoint.beside_version(path);
    let tags = target.get(at("api/tags")).await?;
    let names = answers::ollama_names(&tags);
    let running = target.get(at("api/ps")).await.unwrap_or_default();
    let details = names.iter().take(MAX_DETAILS).map(async |name| {
        let body = json!({ "model": name });
        target.ask(Method::POST, at("api/show"), Some(body)).await.unwrap_or_default()
    });
    let details = future::join_all(details).await;
    let details = details.into_iter().chain(std::iter::repeat(Value::Null));
    Ok(names
        .iter()
        .zip(details)
        .map(|(name, show)| answers::ollama(name, &show, &running))
        .collect())
}

impl Target<'_> {
    async fn get(&self, url: Url) -> Result<Value, ModelError> {
        self.ask(Method::GET, url, None).await
    }

    async fn ask(
        &self,
        method: Method,
        url: Url,
        body: Option<Value>,
    ) -> Result<Value, ModelError> {
        let limit = if self.endpoint.is_loopback() { LOOPBACK_TIMEOUT } else { TIMEOUT };
        let error = match tokio::time::timeout(limit, self.answer(method, &url, body)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => ModelError {
                kinds: vec![ErrorKind::Transient, ErrorKind::Timeout],
                ..ModelError::unclassified(format!(
                    "`{}` did not answer within {} s",
                    http::place(&url),
                    limit.as_secs()
                ))
            },
        };
        Err(ModelError { text: http::redact(&error.text, self.key), ..error })
    }

    async fn answer(
        &self,
        method: Method,
        url: &Url,
        body: Option<Value>,
    ) -> Result<Value, ModelError> {
        let client = self.http.client(Reach::of(self.endpoint.is_local()))?;
        let mut request = client.request(method, url.clone());
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        if let Some(key) = self.key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let mut response = request.send().await.map_err(|error| http::transport(error, url))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = http::error_body(response).await;
            return Err(crate::classify::refusal(
                status.as_u16(),
                &headers,
                &body,
                jiff::Timestamp::now(),
            ));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| http::transport(error, url))?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER_BYTES {
                return Err(ModelError::unclassified(format!(
                    "the answer of `{}` is longer than 16 MiB",
                    http::place(url)
                )));
            }
        }
        serde_json::from_slice(&bytes).map_err(|_| {
            ModelError::unclassified(format!(
                "the answer of `{}` is not JSON; check the base URL",
                http::place(url)
            ))
        })
    }
}
