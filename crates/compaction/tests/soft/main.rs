//! The method `soft`.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

mod failures;
mod requests;
mod scripted;
#[path = "../vectors/mod.rs"]
mod vectors;
