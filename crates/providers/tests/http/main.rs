//! Clients against a server on loopback that plays transcripts byte for byte.

mod support;
mod vectors;
