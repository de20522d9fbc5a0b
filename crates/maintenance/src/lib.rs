//! When a session's context is made shorter, with which method, and what happens when that fails.
//!
//! [`Maintainer`] is the [`Maintenance`](longhand_agent::Maintenance) of a session. It knows methods only through their trait,
//! measures and decides with the pure functions of [`longhand_compaction`], and changes a session only through
//! [`commit`](longhand_agent::SessionHandle::commit).
//!
//! A pass starts when the user asks for it, and when the context is over its threshold after a run or before a prompt. A failed or
//! cut-off reply, the middle of a turn and idle time start none.

mod automatic;
mod drafting;
mod maintainer;
mod manual;
mod measure;
mod notices;
mod order;
mod progress;
mod rescue;

pub use maintainer::{Maintainer, Wiring};
pub use manual::nothing_to_do;
pub use measure::Measure;
