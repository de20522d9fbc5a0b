//! What a provider takes of pictures: no more than it allows, and none that it cannot read.
//!
//! Rewrites of a request; the session keeps every picture. The last of all rewrites.

mod clamp;
mod undecodable;

pub use clamp::ImageClamp;
pub use undecodable::UndecodableImages;
