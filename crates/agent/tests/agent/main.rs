//! How a session behaves, through its handle, with a scripted model, a store in memory and the paused clock.
#![expect(clippy::unwrap_used, reason = "a test fails where a value is missing")]

mod abort;
mod approval;
mod commits;
mod edits;
mod interruption;
mod listeners;
mod live_messages;
mod maintenance;
mod message_builder;
mod persistence;
mod queue;
mod shared_session;
mod support;
mod tools;
mod turn;
