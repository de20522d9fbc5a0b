//! The seams of a coding agent, the data that crosses them, the session's owner task and the turn loop.
//!
//! No threshold, no cut and no policy lives here: see [`maintenance`] and [`compaction`] for the seams where they are plugged in.

mod active_branch;
mod answer;
pub mod branch;
mod broadcast;
pub mod client;
pub mod command;
pub mod commit;
pub mod compaction;
pub mod edit;
pub mod ending;
pub mod error;
pub mod event;
mod grace;
pub mod handle;
mod interruption;
mod journal;
pub mod live;
mod mail;
pub mod maintenance;
pub mod message_builder;
mod owner;
mod queue;
pub mod request;
mod run;
pub mod shared_list;
pub mod start;
pub mod subscription;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tool;
mod tool_calls;
pub mod transform;
mod window;

pub use branch::Branch;
pub use client::{Credentials, ModelClient, Models};
pub use command::UserInput;
pub use compaction::CompactionMethod;
pub use edit::{EditError, LeftBranch, Navigated, Navigation};
pub use ending::Ending;
pub use error::{ErrorKind, ModelError};
pub use event::{Sequenced, SessionEvent};
pub use handle::SessionHandle;
pub use maintenance::Maintenance;
pub use request::{Request, StreamEvent, ToolSpec};
pub use start::{AgentSession, Asking, SessionConfig, StartError};
pub use subscription::Subscription;
pub use tool::{Tool, ToolOutput};
pub use transform::{Recipient, RequestTransform};
