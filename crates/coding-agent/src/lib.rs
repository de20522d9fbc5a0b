//! A headless coding agent: tools, settings, system prompt, a demo provider, and the wiring of all of them into one session.
//!
//! Nothing here draws or reads a terminal, and nothing asks the operating system for its environment: the binary hands it over
//! as an [`Environment`].

pub mod agent;
pub mod approval;
mod catalogue;
pub mod context_dump;
pub mod context_files;
pub mod conversion;
pub mod credentials;
pub mod demo;
pub mod environment;
pub mod export;
mod fallback_font;
pub mod frames;
pub mod import;
pub mod inspect;
mod opened_store;
pub mod places;
mod prompt_files;
mod savings;
pub mod session_file;
pub mod sessions;
pub mod settings;
pub mod stores;
pub mod system_prompt;
pub mod tools;
pub mod tree_rows;

pub use agent::{CodingAgent, OpenRequest, Opened, Setup};
pub use environment::Environment;
pub use places::Places;
pub use session_file::SessionFile;
pub use settings::Settings;
