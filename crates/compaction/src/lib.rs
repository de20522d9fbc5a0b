//! Compaction of a session: when it is due, what is cut and what is kept, and the methods that put something shorter in the place
//! of history.
//!
//! Nothing here decides that a pass runs, and nothing here writes to a session.
//!
//! ```
//! use longhand_compaction::prepare::{Terms, prepare};
//! use longhand_compaction::{Options, threshold};
//! use longhand_session::ByteEstimate;
//!
//! let mut options = Options::default();
//! options.threshold_percent = 50.0;
//! assert!(threshold::should_compact(120_000, 200_000, &options));
//!
//! let terms = Terms { options: &options, model: None, non_message_tokens: 0, counter: &ByteEstimate };
//! assert_eq!(prepare(&[], &terms), None, "an empty branch has nothing to replace");
//! ```

pub mod cut_point;
pub mod dialect;
pub mod inline_imaging;
pub mod methods;
pub mod options;
pub mod outgoing_images;
pub mod prepare;
pub mod projection;
pub mod serialize;
pub mod summary;
pub mod threshold;

pub use methods::{SnapcompactMethod, SoftMethod};
pub use options::Options;
pub use prepare::Preparer;
