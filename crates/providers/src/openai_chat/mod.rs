//! Chat Completions: the protocol that most servers of language models speak, hosted or of one's own.

mod calls;
mod client;
mod dialect;
mod messages;
mod reply;
mod request;
mod stream;
mod usage;

pub use client::OpenAiChat;
pub use reply::Timeouts;
