//! What of a branch is replaced, and what is kept.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

mod properties;
mod table;
#[path = "../vectors/mod.rs"]
mod vectors;
