//! What is known of a model: plain data, no client.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A model's name: `provider/id`, split at the first `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelRef {
    /// Scope of credentials and identity, such as `openai` or `llama.cpp`.
    pub provider: String,
    /// Id within the provider. May contain `/`.
    pub id: String,
}

impl ModelRef {
    /// Names a model.
    pub fn new(provider: impl Into<String>, id: impl Into<String>) -> Self {
        Self { provider: provider.into(), id: id.into() }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

/// A name that lacks a provider or an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model name; write `provider/id`")]
pub struct InvalidModelRef(String);

impl FromStr for ModelRef {
    type Err = InvalidModelRef;

    fn from_str(name: &str) -> Result<Self, InvalidModelRef> {
        match name.split_once('/') {
            Some((provider, id)) if !provider.is_empty() && !id.is_empty() => {
                Ok(Self::new(provider, id))
            }
            _ => Err(InvalidModelRef(name.into())),
        }
    }
}

/// The wire protocol that a model speaks. The names are those stored in session files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Api {
    /// `POST /chat/completions`.
    #[default]
    OpenaiCompletions,
    /// `POST /responses`.
    OpenaiResponses,
    /// Responses through Azure.
    AzureOpenaiResponses,
    /// Responses through the Codex backend.
    OpenaiCodexResponses,
    /// `POST /v1/messages`.
    AnthropicMessages,
    /// Google Generative Language.
    GoogleGenerativeAi,
    /// The scripted provider that is compiled in.
    Demo,
}

impl Api {
    /// The name stored in session files and settings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::OpenaiCompletions => "openai-completions",
            Self::OpenaiResponses => "openai-responses",
            Self::AzureOpenaiResponses => "azure-openai-responses",
            Self::OpenaiCodexResponses => "openai-codex-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GoogleGenerativeAi => "google-generative-ai",
            Self::Demo => "demo",
        }
    }
}

/// A kind of input that a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// Text.
    Text,
    /// Images.
    Image,
}

/// How hard a model is asked to think, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Least.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More.
    Xhigh,
    /// Most.
    Max,
}

impl Effort {
    /// The name in files and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Uncached prompt tokens.
    pub input: f64,
    /// Reply tokens.
    pub output: f64,
    /// Prompt tokens read from cache.
    pub cache_read: f64,
    /// Prompt tokens written to cache.
    pub cache_write: f64,
}

/// A model as a provider offers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Scope of credentials and identity.
    pub provider: String,
    /// Id within the provider.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Wire protocol.
    pub api: Api,
    /// Endpoint root, without a trailing `/`.
    pub base_url: String,
    /// Id sent on the wire where it differs from `id`.
    pub request_model_id: Option<String>,
    /// Total tokens of prompt and reply; `None` is unknown, and never makes a threshold.
    pub context_window: Option<u64>,
    /// Most tokens of one reply; `None` is unknown.
    pub max_output_tokens: Option<u64>,
    /// Kinds of input.
    pub input: Vec<InputKind>,
    /// Efforts that the model supports; empty where it does not reason.
    pub efforts: Vec<Effort>,
    /// Prices; `None` is unknown.
    pub price: Option<Price>,
    /// Further request headers.
    pub headers: BTreeMap<String, String>,
    /// Whether the server runs on this machine or in a private network: needs no key, has no timeout before the first token.
    pub is_local: bool,
}

impl Model {
    /// A text model of which only the names and the endpoint are known.
    pub fn new(name: ModelRef, api: Api, base_url: impl Into<String>) -> Self {
        Self {
            name: name.id.clone(),
            provider: name.provider,
            id: name.id,
            api,
            base_url: base_url.into(),
            request_model_id: None,
            context_window: None,
            max_output_tokens: None,
            input: vec![InputKind::Text],
            efforts: Vec::new(),
            price: None,
            headers: BTreeMap::new(),
            is_local: false,
        }
    }

    /// `provider/id`.
    pub fn reference(&self) -> ModelRef {
        ModelRef::new(self.provider.clone(), self.id.clone())
    }

    /// Whether the model takes images.
    pub fn has_vision(&self) -> bool {
        self.input.contains(&InputKind::Image)
    }

    /// The effort to send for a wish: the wish itself, else the highest supported one below it, else the lowest; `None` where
    /// the model does not reason.
    pub fn clamp_effort(&self, wish: Effort) -> Option<Effort> {
        let below = self.efforts.iter().copied().filter(|effort| *effort <= wish).max();
        below.or_else(|| self.efforts.iter().copied().min())
    }
}
