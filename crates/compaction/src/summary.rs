//! Summaries of history, written by a model.
//!
//! [`Summarizer`] asks one model. What does not fit its window is summarized window by window, each with the summary of those
//! before it; passing failures are waited out; a reply that is cut off, empty or not a text is never taken for a summary. No
//! session is read or written here, and nothing is sent or taken without its keys redacted.

mod budget;
mod fold;
mod layout;
mod reply;
mod retry;
mod summarizer;

pub use budget::{Caps, effort, input_budget};
pub use layout::Material;
pub use retry::Patience;
pub use summarizer::{Failure, Summarizer, Tally, Task, headline};
