//! The seams of a coding agent, the data that crosses them, the session's owner task and the turn loop.
//!
//! No threshold, no cut and no policy lives here: see [`maintenance`] and [`compaction`] for the seams where they are plugged in.

pub mod branch;
pub mod client;
pub mod command;
pub mod commit;
pub mod compaction;
pub mod error;
pub mod event;
pub mod handle;
pub mod maintenance;
pub mod request;
pub mod subscription;
pub mod tool;
pub mod transform;

pub use branch::Branch;
pub use client::{Credentials, ModelClient, Models};
pub use command::UserInput;
pub use compaction::CompactionMethod;
pub use error::{ErrorKind, ModelError};
pub use event::{Sequenced, SessionEvent};
pub use handle::SessionHandle;
pub use maintenance::Maintenance;
pub use request::{Request, StreamEvent, ToolSpec};
pub use subscription::Subscription;
pub use tool::{Tool, ToolOutput};
pub use transform::RequestTransform;
