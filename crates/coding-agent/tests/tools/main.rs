//! What the tools do, through the door a model uses.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

mod arguments;
mod bash;
mod desk;
mod edit;
mod glob;
mod grep;
mod ls;
mod read;
mod todo;
mod write;
