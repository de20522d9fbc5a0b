//! Clients against a server on loopback that plays transcripts byte for byte.

mod catalogue;
mod failures;
mod support;
mod vectors;
