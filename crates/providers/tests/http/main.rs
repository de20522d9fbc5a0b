//! Clients against a server on loopback that plays transcripts byte for byte.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

mod catalogue;
mod failures;
mod requests;
mod support;
mod vectors;
