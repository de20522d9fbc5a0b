//! Work on sessions that starts no agent: one file a command.

pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod export;
mod frame_shapes;
pub(crate) mod frames;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod named_session;
pub(crate) mod sessions;
pub(crate) mod tree;
