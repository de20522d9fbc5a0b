//! What a picture is billed at, by the API that carries it, and how large a picture is.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// Width and height of a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// Width.
    pub width_px: usize,
    /// Height.
    pub height_px: usize,
}

impl PictureSize {
    /// The size that a PNG file in base64 states in its first bytes; `None` if it is no PNG. Looks at nothing else.
    pub fn of_png(base64: &str) -> Option<Self> {
        const HEADER_CHARS: usize = 32;
        let header = BASE64_STANDARD.decode(base64.get(..HEADER_CHARS)?).ok()?;
        let (signature, rest) = header.split_at_checked(8)?;
        if signature != b"\x89PNG\r\n\x1a\n" || rest.get(4..8)? != b"IHDR" {
            return None;
        }
        let number = |at: usize| {
            let bytes: [u8; 4] = rest.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        Some(Self { width_px: number(8)?, height_px: number(12)? })
    }
}

/// APIs that bill pictures in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Patches of 28 px, at most 4,784 of them.
    Anthropic,
    /// Patches of 32 px, at most 10,000 of them.
    Openai,
    /// One price a picture.
    Google,
    /// Not known. Billed as Anthropic bills, which is the dearest.
    Unknown,
}

impl Family {
    /// The family of an API, by the name stored in sessions.
    pub fn of_api(api: &str) -> Self {
        match api {
            "anthropic-messages" | "bedrock-converse-stream" => Self::Anthropic,
            "openai-completions"
            | "openai-responses"
            | "openai-codex-responses"
            | "azure-openai-responses" => Self::Openai,
            "google-generative-ai" | "google-gemini-cli" | "google-vertex" => Self::Google,
            _ => Self::Unknown,
        }
    }

    /// Tokens that a picture is billed at. The factors come from measured bills of square pictures: 5 % over the patches for
    /// Anthropic, 20 % for `OpenAI`.
    pub fn frame_tokens(self, width_px: usize, height_px: usize) -> u64 {
        let patches = |edge: usize, most: usize| {
            width_px.div_ceil(edge).saturating_mul(height_px.div_ceil(edge)).min(most) as f64
        };
        match self {
            Self::Google => 1120,
            Self::Openai => (patches(32, 10_000) * 1.2).ceil() as u64,
            Self::Anthropic | Self::Unknown => (patches(28, 4_784) * 1.05).ceil() as u64,
        }
    }
}
