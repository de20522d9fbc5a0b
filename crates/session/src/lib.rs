//! Sessions of a coding agent: what is remembered, and what of it a model sees.

pub mod archive;
pub mod block;
pub mod breadcrumbs;
pub mod context;
pub mod conversion;
pub mod counter;
mod damaged_line;
pub mod data_url;
pub mod database_error;
pub mod digits;
pub mod entry;
pub mod file_lists;
pub mod header;
pub mod id_source;
pub mod ids;
pub mod import;
pub mod json;
pub mod jsonl;
pub mod listing;
pub mod llm;
pub mod lookup;
pub mod memory_store;
pub mod message;
pub mod model;
pub mod pairing;
pub mod pins;
pub mod place;
pub mod redaction;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod stale_state;
pub mod store;
mod stored_object;
pub mod tiktoken;
pub mod time;
pub mod title_slot;
pub mod tokens;
pub mod tree;
pub mod usage;

pub use counter::{ByteEstimate, Fragment, TokenCounter};
pub use database_error::DatabaseError;
pub use entry::{Entry, EntryKind};
pub use file_lists::{FileLists, FileOperations};
pub use header::Header;
pub use id_source::{IdSource, SequentialIds, SystemIds};
pub use ids::{ArtifactId, EntryId, Epoch, Generation, MethodId, SessionId, ToolCallId};
pub use json::Json;
pub use jsonl::JsonlStore;
pub use memory_store::MemoryStore;
pub use message::{AssistantMessage, Block, Content, Message};
pub use model::{Api, Model, ModelRef};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{EntryReader, SessionStore, StoreError};
pub use tree::Tree;
pub use usage::Usage;
