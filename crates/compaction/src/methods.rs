//! The ways to make a context shorter. One file a method.

mod snapcompact;
mod soft;

pub use snapcompact::SnapcompactMethod;
pub use soft::SoftMethod;
