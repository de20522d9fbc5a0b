//! Rewrites of outgoing requests: what is sent as pictures, and what a provider takes of pictures.

mod images;
mod inline;
mod sent;
