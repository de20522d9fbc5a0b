//! What a model's id says of the model: whether Anthropic made it, its line, its revision.
//!
//! Ids only: the provider that serves a model is not asked.

/// A revision of up to three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u8, pub u8, pub u8);

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelClass {
    /// Whether it is one of Anthropic's.
    pub is_anthropic: bool,
    /// Its line, where it is one of Anthropic's.
    pub line: Option<&'static str>,
    /// Its revision, where the id names one after `claude-`.
    pub revision: Option<Revision>,
}

/// Lines of Anthropic's models.
const LINES: [&str; 5] = ["opus", "sonnet", "haiku", "fable", "mythos"];

/// Names of other makers' models. An id that begins with one of them is not Anthropic's, whatever namespace it is in.
const OTHERS: [&str; 14] = [
    "gemma", "gemini", "glm", "gpt", "chatgpt", "codex", "kimi", "qwen", "deepseek", "llama",
    "mistral", "grok", "minimax", "nova",
];

impl ModelClass {
    /// Reads an id, in any case.
    pub fn of(model_id: &str) -> Self {
        let id = model_id.trim().to_ascii_lowercase();
        let bare = id.rsplit('/').next().unwrap_or_default();
        let is_anthropic = is_anthropic(&id, bare);
        let line = LINES.into_iter().find(|line| is_anthropic && bare.contains(line));
        let revision = bare.split_once("claude-").and_then(|(_, rest)| revision(rest));
        Self { is_anthropic, line, revision: revision.filter(|_| is_anthropic) }
    }
}

fn is_anthropic(id: &str, bare: &str) -> bool {
    if begins_with(bare, "claude") || begins_with(bare, "anthropic") {
        return true;
    }
    let is_other = OTHERS.into_iter().any(|other| begins_with(bare, other));
    let mut parts = id.split(['/', '.', ':']);
    !is_other && parts.any(|part| part == "claude" || begins_with(part, "anthropic"))
}

/// Whether a text is a word, or goes on after it with a digit or a mark that ends words.
fn begins_with(text: &str, word: &str) -> bool {
    let Some(rest) = text.strip_prefix(word) else { return false };
    rest.is_empty()
        || rest.starts_with(['-', '_', '.', ':'])
        || rest.starts_with(|c: char| c.is_ascii_digit())
}

/// The first run of numbers in a text, parted by `.` or `-`. A number that is too large, or that runs into a letter, is none: what
/// follows is a date or a size.
fn revision(text: &str) -> Option<Revision> {
    let mut rest = &text[text.find(|c: char| c.is_ascii_digit())?..];
    let mut numbers = [0_u8; 3];
    for (at, number) in numbers.iter_mut().enumerate() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let after = &rest[digits..];
        let is_cut = after.starts_with(|c: char| c.is_ascii_alphabetic());
        match rest[..digits].parse() {
            Ok(parsed) if !is_cut => *number = parsed,
            _ if at == 0 => return None,
            _ => break,
        }
        match after.strip_prefix(['.', '-']) {
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
            _ => break,
        }
    }
    Some(Revision(numbers[0], numbers[1], numbers[2]))
}
