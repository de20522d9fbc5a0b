//! Counting tokens: the seam, and the estimate that needs no vocabulary.

use std::sync::Arc;

use crate::image_bill::{Family, PictureSize};

/// A piece of a message, by what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fragment<'a> {
    /// Text of the user, the model or a tool.
    Text(&'a str),
    /// Reasoning as text.
    Thinking(&'a str),
    /// Signatures and encrypted reasoning.
    Opaque(&'a str),
    /// Name of a called tool.
    ToolName(&'a str),
    /// Arguments of a call, as compact JSON.
    ToolArguments(&'a str),
    /// A picture.
    Image,
    /// A frame of a bitmap archive, with its size where that is known.
    Frame(Option<PictureSize>),
}

/// Tokens of a picture, where nothing better is known.
pub const IMAGE_TOKENS: u64 = 1_200;

/// Tokens of a frame of a bitmap archive, where nothing better is known.
pub const FRAME_TOKENS: u64 = 5_024;

/// Counts tokens for one model. Immutable once made.
pub trait TokenCounter: Send + Sync {
    /// Tokens of one fragment.
    fn count(&self, fragment: Fragment<'_>) -> u64;
}

/// A quarter of the UTF-8 bytes, rounded up: an estimate for every model.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteEstimate;

impl TokenCounter for ByteEstimate {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        match fragment {
            Fragment::Text(text)
            | Fragment::Thinking(text)
            | Fragment::Opaque(text)
            | Fragment::ToolName(text)
            | Fragment::ToolArguments(text) => (text.len() as u64).div_ceil(4),
            Fragment::Image => IMAGE_TOKENS,
            Fragment::Frame(_) => FRAME_TOKENS,
        }
    }
}

/// The UTF-8 bytes: no vocabulary makes more tokens of a text.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteBound;

impl TokenCounter for ByteBound {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        match fragment {
            Fragment::Text(text)
            | Fragment::Thinking(text)
            | Fragment::Opaque(text)
            | Fragment::ToolName(text)
            | Fragment::ToolArguments(text) => text.len() as u64,
            Fragment::Image => IMAGE_TOKENS,
            Fragment::Frame(_) => FRAME_TOKENS,
        }
    }
}

/// Another counter, with frames at what an API bills for their size.
#[derive(Clone)]
pub struct BilledFrames {
    counter: Arc<dyn TokenCounter>,
    family: Family,
}

impl BilledFrames {
    /// Counts frames as `family` bills them, and everything else with `counter`.
    pub fn new(counter: Arc<dyn TokenCounter>, family: Family) -> Self {
        Self { counter, family }
    }
}

impl TokenCounter for BilledFrames {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        match fragment {
            Fragment::Frame(Some(size)) => self.family.frame_tokens(size.width_px, size.height_px),
            other => self.counter.count(other),
        }
    }
}
