//! Models over HTTP: requests out, event streams and clear errors in.
//!
//! [`OpenAiChat`] is a model behind any OpenAI-compatible server; [`Catalogue`] finds models by name and asks servers what they
//! serve. Nothing here reads the environment or a settings file: keys come
//! through [`longhand_agent::Credentials`], and never reach an error or a log.

pub mod classify;
pub mod cost;
pub mod hint;

mod arguments;
mod catalogue;
mod discovery;
mod endpoint;
mod event_stream;
mod http;
mod openai_chat;
mod output_limit;
mod retry;
mod sse;
mod think_tags;
mod well_known;

pub use catalogue::{Catalogue, Discovery, ModelConfig, ProviderConfig};
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use http::Http;
pub use openai_chat::{OpenAiChat, Timeouts};
pub use well_known::{WellKnown, well_known};
