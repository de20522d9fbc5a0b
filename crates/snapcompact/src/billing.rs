//! What a picture is billed at, by the API that carries it.

use serde::{Deserialize, Serialize};

use crate::shape::ImageDetail;

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
            (width_px.div_ceil(edge) * height_px.div_ceil(edge)).min(most) as f64
        };
        match self {
            Self::Google => 1120,
            Self::Openai => (patches(32, 10_000) * 1.2).ceil() as u64,
            Self::Anthropic | Self::Unknown => (patches(28, 4_784) * 1.05).ceil() as u64,
        }
    }

    /// How finely to ask the model to look.
    pub fn image_detail(self) -> Option<ImageDetail> {
        (self == Self::Openai).then_some(ImageDetail::Original)
    }
}
