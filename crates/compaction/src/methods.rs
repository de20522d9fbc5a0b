//! The ways to make a context shorter. One file a method.

mod soft;

pub use soft::SoftMethod;
