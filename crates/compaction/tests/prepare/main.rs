//! What of a branch is replaced, and what is kept.

mod properties;
mod table;
#[path = "../vectors/mod.rs"]
mod vectors;
