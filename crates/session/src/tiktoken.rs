//! Exact token counts with the `o200k_base` vocabulary.
//!
//! The vocabulary is built on first use, which takes some tens of milliseconds. Time is linear in the text, whatever it is.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

use crate::counter::{FRAME_TOKENS, Fragment, IMAGE_TOKENS, TokenCounter};

/// Longest run without a change between white space and other text that is handed to the tokenizer whole.
///
/// Splitter and pair merger take more than linear time in the run, and the splitter refuses one that makes it try too often.
/// Tool output has such runs: base64, minified JSON, a line of dashes. A cut shifts the count by about a token.
const MAX_RUN_BYTES: usize = 4096;

static VOCABULARY: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// Counts with `o200k_base`; images and frames cost their fixed estimate.
#[derive(Debug, Clone, Copy, Default)]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        match fragment {
            Fragment::Text(text)
            | Fragment::Thinking(text)
            | Fragment::Opaque(text)
            | Fragment::ToolName(text)
            | Fragment::ToolArguments(text) => count_text(text),
            Fragment::Image => IMAGE_TOKENS,
            Fragment::Frame(_) => FRAME_TOKENS,
        }
    }
}

/// Tokens of a text. Without a vocabulary, its bytes, which are never fewer.
fn count_text(text: &str) -> u64 {
    let Some(vocabulary) = &*VOCABULARY else { return text.len() as u64 };
    Pieces { rest: text }.map(|piece| vocabulary.count_ordinary(piece) as u64).sum()
}

/// The text, cut inside runs that are too long and nowhere else.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = *self.rest.as_bytes().first()?;
        let mut is_space = first.is_ascii_whitespace();
        let mut run_start = 0;
        let mut end = self.rest.len();
        for (at, byte) in self.rest.bytes().enumerate() {
            if byte.is_ascii_whitespace() != is_space {
                is_space = !is_space;
                run_start = at;
            } else if at - run_start >= MAX_RUN_BYTES && self.rest.is_char_boundary(at) {
                end = at;
                break;
            }
        }
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(piece)
    }
}
