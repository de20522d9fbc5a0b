//! Which large texts of a request are worth sending as pictures. Decides from numbers only.

/// A tool result that could become pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its call.
    pub id: String,
    /// Tokens of its text.
    pub text_tokens: u64,
    /// Frames that the text would become; 0 where it was not laid out.
    pub frames: usize,
    /// Whether the tool failed: its words are then worth more than their tokens.
    pub is_error: bool,
}

/// What may become pictures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// Whether tool results may.
    pub tool_results: bool,
    /// Whether the system prompt, or a part of it, may.
    pub system_prompt: bool,
    /// Tokens that a frame is billed at.
    pub frame_tokens: u64,
    /// Pictures that the request still has room for.
    pub budget: usize,
    /// Whether there is a message of the user, before which frames of the system prompt can stand.
    pub has_user_message: bool,
}

/// A text that becomes pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The call; `None` is the system prompt.
    pub id: Option<String>,
    /// Tokens of its text.
    pub text_tokens: u64,
    /// Frames that it becomes.
    pub frames: usize,
}

/// Results with fewer tokens stay text.
pub const MIN_RESULT_TOKENS: u64 = 3_000;

/// Most frames of a system prompt.
pub const MAX_SYSTEM_FRAMES: usize = 6;

/// Frames must cost less than this part of the text.
const MARGIN: f64 = 0.9;

/// Whether frames are enough cheaper than their text.
pub fn is_worth_it(frames: usize, frame_tokens: u64, text_tokens: u64) -> bool {
    frames as f64 * frame_tokens as f64 <= MARGIN * text_tokens as f64
}

/// What becomes pictures: tool results, oldest first, never the newest; then the system prompt with what is left of the budget.
/// A result that does not fit is passed over.
pub fn plan(results: &[Candidate], system: Option<&Candidate>, terms: &Terms) -> Vec<Swap> {
    let mut budget = terms.budget;
    let mut swaps = Vec::new();
    let older = results.split_last().map_or(&[][..], |(_, older)| older);
    for result in older.iter().filter(|_| terms.tool_results) {
        let fits = result.frames > 0 && result.frames <= budget;
        let is_large = result.text_tokens >= MIN_RESULT_TOKENS && !result.is_error;
        if fits && is_large && is_worth_it(result.frames, terms.frame_tokens, result.text_tokens) {
            budget -= result.frames;
            swaps.push(Swap {
                id: Some(result.id.clone()),
                text_tokens: result.text_tokens,
                frames: result.frames,
            });
        }
    }
    if let Some(system) = system.filter(|_| terms.system_prompt && terms.has_user_message) {
        let fits = system.frames > 0 && system.frames <= budget.min(MAX_SYSTEM_FRAMES);
        if fits && is_worth_it(system.frames, terms.frame_tokens, system.text_tokens) {
            swaps.push(Swap { id: None, text_tokens: system.text_tokens, frames: system.frames });
        }
    }
    swaps
}
