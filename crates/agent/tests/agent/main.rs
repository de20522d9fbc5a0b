//! How a session behaves, through its handle, with a scripted model, a store in memory and the paused clock.

mod abort;
mod approval;
mod commits;
mod listeners;
mod live_messages;
mod maintenance;
mod persistence;
mod queue;
mod support;
mod tools;
mod turn;
