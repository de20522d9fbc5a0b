//! Compaction of a session: when it is due, what is cut and what is kept, and the methods that put something shorter in the place
//! of history.
//!
//! Nothing here decides that a pass runs, and nothing here writes to a session.

pub mod cut_point;
pub mod dialect;
pub mod methods;
pub mod options;
pub mod prepare;
pub mod projection;
pub mod serialize;
pub mod summary;
pub mod threshold;

pub use methods::SoftMethod;
pub use options::Options;
pub use prepare::Preparer;
