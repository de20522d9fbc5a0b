//! OpenAI Chat Completions, as spoken by OpenAI, OpenRouter, llama.cpp, Ollama, vLLM, LM Studio and many more.

mod calls;
mod client;
mod dialect;
mod messages;
mod request;
mod stream;
mod usage;

pub use client::{OpenAiChat, Timeouts};
