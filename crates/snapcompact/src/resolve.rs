//! The shape for a model and a text.
//!
//! What is legible depends on the model, what it costs on the API that carries the request: a model behind a foreign gateway keeps
//! its shape and is billed as the gateway bills.

use crate::billing::Family;
use crate::glyphs::Fonts;
use crate::model_class::{ModelClass, Revision};
use crate::normalize::{is_cjk_heavy, normalize};
use crate::shape::{FontName, Shape, ShapeChoice, Variant};

/// Largest square that stays under 2,000 px and under the cap on patches of 28 px.
const LARGE_FRAME_PX: usize = 1932;

/// Largest square that Google's models see without being scaled.
const GOOGLE_FRAME_PX: usize = 2048;

/// Since when Opus reads large frames.
const LARGE_SINCE: Revision = Revision(4, 7, 0);

/// The shape for a model: the chosen one, or the one that the model reads best; billed as the API bills.
pub fn resolve(api: &str, model_id: &str, choice: ShapeChoice) -> Shape {
    let family = Family::of_api(api);
    match choice {
        ShapeChoice::Fixed(variant) => variant.shape(family),
        ShapeChoice::Auto => {
            let (variant, frame_px) = ideal(model_id).unwrap_or((default_of(family), None));
            variant.sized(family, frame_px.unwrap_or_else(|| variant.frame_size()))
        }
    }
}

/// The shape for a model and a text. Where nothing is chosen, text that the model's own shape cannot print, or that is mostly wide
/// characters, gets square cells, unless the shape prints wide characters in full size anyway.
pub fn resolve_for_text(
    text: &str,
    api: &str,
    model_id: &str,
    choice: ShapeChoice,
    fonts: &Fonts,
) -> Shape {
    let own = resolve(api, model_id, choice);
    if choice != ShapeChoice::Auto || own.font == FontName::Silver {
        return own;
    }
    let is_safe = |font| normalize(text, &fonts.glyphs(font)).is_safe();
    let wants_squares = !is_safe(own.font) || is_cjk_heavy(text) && !prints_wide_in_full(&own);
    if wants_squares && is_safe(FontName::Silver) {
        return Variant::Silver16.shape(Family::of_api(api));
    }
    own
}

/// Edge of a wide glyph, in pixels.
const WIDE_GLYPH_PX: usize = 16;

/// Whether two cells hold a wide glyph as it is. Square cells would then hold no more of them, and fewer of everything else.
fn prints_wide_in_full(shape: &Shape) -> bool {
    2 * shape.cell_width >= WIDE_GLYPH_PX && shape.cell_height >= WIDE_GLYPH_PX
}

/// The denser shape for the middle of a long history; the shape itself where it is as dense already.
pub fn low_companion(high: &Shape, family: Family) -> Shape {
    let low = Variant::Wide8On16.sized(family, high.frame_size);
    let capacity = |shape: &Shape| shape.grid().map_or(0, crate::shape::Grid::capacity);
    let is_alike = high.columns == 1 && high.font != FontName::Silver;
    if is_alike && capacity(&low) > capacity(high) { low } else { high.clone() }
}

/// The API of a model of which only the id is known, by its maker; its name in sessions, or nothing.
pub fn likely_api(model_id: &str) -> &'static str {
    let id = model_id.to_ascii_lowercase();
    if ModelClass::of(&id).is_anthropic {
        "anthropic-messages"
    } else if id.contains("gemini") {
        "google-generative-ai"
    } else if ["gpt", "codex", "openai"].iter().any(|name| id.contains(name)) {
        "openai-responses"
    } else if ["kimi", "glm", "qwen"].iter().any(|name| id.contains(name)) {
        "openai-completions"
    } else {
        ""
    }
}

/// What a model reads best, by its id: the shape, and the edge of its frames where it is not the shape's own.
pub fn ideal(model_id: &str) -> Option<(Variant, Option<usize>)> {
    let class = ModelClass::of(model_id);
    let reads_large = match class.line {
        Some("fable" | "mythos") => true,
        Some("opus") => class.revision.is_some_and(|revision| revision >= LARGE_SINCE),
        _ => false,
    };
    let large = (Variant::Wide11On16, Some(LARGE_FRAME_PX));
    if class.is_anthropic && reads_large {
        return Some(large);
    }
    let id = model_id.to_ascii_lowercase();
    let after_claude = id.split_once("claude").map(|(_, rest)| rest);
    if let Some(rest) = after_claude {
        let is_large = rest.contains("fable") || rest.contains("mythos");
        return Some(if is_large { large } else { (Variant::Wide11On16, None) });
    }
    let rules: [(&str, (Variant, Option<usize>)); 5] = [
        ("gemini", (Variant::Wide8On22, Some(GOOGLE_FRAME_PX))),
        ("gpt", (Variant::Wide8On22, None)),
        ("codex", (Variant::Wide8On22, None)),
        ("kimi", (Variant::Wide8On16, None)),
        ("glm", (Variant::Wide8On16, None)),
    ];
    rules.into_iter().find(|(name, _)| id.contains(name)).map(|(_, ideal)| ideal)
}

fn default_of(family: Family) -> Variant {
    match family {
        Family::Anthropic | Family::Unknown => Variant::Wide11On16,
        Family::Openai | Family::Google => Variant::Wide8On22,
    }
}
