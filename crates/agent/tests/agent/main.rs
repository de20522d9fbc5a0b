//! How a session behaves, through its handle, with a scripted model, a store in memory and the paused clock.

mod live_messages;
mod support;
mod turn;
