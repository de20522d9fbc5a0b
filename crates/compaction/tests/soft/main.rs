//! The method `soft`.

mod failures;
mod requests;
mod scripted;
#[path = "../vectors/mod.rs"]
mod vectors;
