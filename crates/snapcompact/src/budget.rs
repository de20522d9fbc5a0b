//! How many pictures a request may carry, and how many frames an archive may have.

use std::collections::BTreeMap;

use crate::shape::{FontName, Ink, Shape};

/// Most frames of an archive.
pub const MAX_FRAMES: usize = 80;

/// Most base64 bytes of frames that one request carries.
pub const REQUEST_FRAME_BYTES: u64 = 3_000_000;

/// Tokens of a request that are set aside for what is no frame: guide, file list, rules between blocks.
const GUIDE_TOKENS: u64 = 2_000;

/// Tokens of text edges are estimated a little high.
const EDGE_MARGIN: f64 = 1.15;

/// Pictures that one request to a provider may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageBudget {
    /// How many.
    pub images: usize,
    /// Their base64 bytes together.
    pub bytes: u64,
}

/// Budgets that a user set, by provider id. What is not set is the provider's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImageBudgets {
    /// Most pictures, by provider id.
    pub images: BTreeMap<String, usize>,
    /// Most base64 bytes, by provider id.
    pub bytes: BTreeMap<String, u64>,
}

impl ImageBudgets {
    /// The budget of a provider.
    pub fn of(&self, provider: &str) -> ImageBudget {
        ImageBudget {
            images: self.images.get(provider).copied().unwrap_or_else(|| images_of(provider)),
            bytes: self.bytes.get(provider).copied().unwrap_or(REQUEST_FRAME_BYTES),
        }
    }
}

/// Pictures that a provider takes in one request. Nothing is known of most: few are safe.
fn images_of(provider: &str) -> usize {
    match provider {
        // The demo sends nothing anywhere; it shows what a large provider takes.
        "anthropic" | "amazon-bedrock" | "openrouter" | "demo" => 90,
        "openai" | "openai-codex" | "google" | "google-vertex" | "google-gemini-cli" => 200,
        "umans" => 10,
        _ => 5,
    }
}

/// What limits the frames of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Context window of the model in tokens, if it is known.
    pub window: Option<u64>,
    /// Tokens of it that are left to the reply.
    pub reserve: u64,
    /// Tokens of everything that is kept beside the archive: system prompt, tools, newest messages.
    pub kept: u64,
    /// What the provider takes.
    pub provider: ImageBudget,
}

/// How many frames of a shape an archive may have; 0 where what is kept fills the window alone.
pub fn frame_budget(shape: &Shape, room: &Room) -> usize {
    let by_count =
        MAX_FRAMES.min(room.provider.images).min(frames_of_bytes(shape, room.provider.bytes));
    let Some(window) = room.window.filter(|window| *window > 0) else { return by_count };
    let total = window.saturating_sub(room.reserve);
    if room.kept >= total {
        return 0;
    }
    let free = (total - room.kept).saturating_sub(edge_tokens(shape));
    let by_tokens = usize::try_from(free / shape.frame_token_estimate.max(1)).unwrap_or(usize::MAX);
    by_tokens.min(by_count).max(1)
}

/// Tokens of the two text edges of an archive and of its guide, where a character is a quarter of a token.
pub fn edge_tokens(shape: &Shape) -> u64 {
    let capacity = shape.grid().map_or(0, crate::shape::Grid::capacity);
    (2.0 * capacity as f64 * EDGE_MARGIN / 4.0).ceil() as u64 + GUIDE_TOKENS
}

fn frames_of_bytes(shape: &Shape, bytes: u64) -> usize {
    usize::try_from(bytes / frame_bytes(shape)).unwrap_or(usize::MAX).max(1)
}

/// Base64 bytes of a full frame of history, on average. Measured with two long sessions; frames differ by about a tenth. What has
/// not been measured is taken by its pixels.
pub fn frame_bytes(shape: &Shape) -> u64 {
    let per_pixel = match (shape.font, shape.ink, shape.cell_height) {
        _ if shape.is_stretched() => 0.14,
        (FontName::Fixed5x8, Ink::Black, _) => 0.066,
        (FontName::Fixed5x8, Ink::Sentences, _) => 0.104,
        (FontName::Unscii8, Ink::Sentences, _) => 0.085,
        (FontName::Unscii8, Ink::Black, _) => 0.054,
        (FontName::Fixed6x12, ..) => 0.060,
        (FontName::Fixed8x13, Ink::Sentences, _) => 0.053,
        (FontName::Fixed8x13, Ink::Black, 22..) => 0.031,
        (FontName::Fixed8x13, Ink::Black, _) => 0.044,
        (FontName::Silver, ..) => 0.036,
    };
    (per_pixel * (shape.frame_size * shape.frame_size) as f64).ceil().max(1.0) as u64
}
