//! A headless coding agent: tools, settings, system prompt, a demo provider, and the wiring of all of them into one session.
//!
//! Nothing here draws or reads a terminal, and nothing asks the operating system for its environment: the binary hands it over
//! as an [`Environment`].

pub mod approval;
pub mod context_dump;
pub mod context_files;
pub mod credentials;
pub mod demo;
pub mod environment;
pub mod inspect;
pub mod places;
pub mod session_file;
pub mod settings;
pub mod system_prompt;
pub mod tools;

pub use environment::Environment;
pub use places::Places;
pub use session_file::SessionFile;
pub use settings::Settings;
