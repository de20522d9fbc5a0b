//! Secrets in text, replaced by a marker before the text goes to a summarizer, into a summary or out of the session.
//!
//! Knows the shapes of common keys, and names that are given to secrets. It is careful: what merely looks random, such as a
//! hash, an id or base64, stays, and so do references to a secret (`$TOKEN`, `os.environ["TOKEN"]`). It is no proof that a text
//! holds no secret. Linear in the text; doing it again changes nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

/// Stands in the place of a secret.
pub const MARKER: &str = "[redacted]";

/// Keys by their own shape. Where a pattern has a group `secret`, only that goes.
const SHAPES: &[&str] = &[
    r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?<secret>.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
    // OpenAI, Anthropic, OpenRouter, DeepSeek, Stripe.
    r"\b(?<secret>sk-[A-Za-z0-9_-]{20,})",
    r"\b(?<secret>[sr]k_(?:live|test)_[A-Za-z0-9]{16,})",
    // GitHub, GitLab.
    r"\b(?<secret>gh[pousr]_[A-Za-z0-9]{30,})\b",
    r"\b(?<secret>github_pat_[A-Za-z0-9_]{30,})",
    r"\b(?<secret>glpat-[A-Za-z0-9_-]{20,})",
    // AWS key ids, Google API keys and OAuth tokens.
    r"\b(?<secret>(?:AKIA|ASIA)[A-Z0-9]{16})\b",
    r"\b(?<secret>AIza[A-Za-z0-9_-]{35})",
    r"\b(?<secret>ya29\.[A-Za-z0-9_-]{20,})",
    // Slack, npm, PyPI, Hugging Face, Groq, xAI, Perplexity, Replicate, SendGrid, crates.io.
    r"\b(?<secret>xox[abeoprs]-[A-Za-z0-9-]{10,})",
    r"\b(?<secret>npm_[A-Za-z0-9]{36})\b",
    r"\b(?<secret>pypi-[A-Za-z0-9_-]{32,})",
    r"\b(?<secret>hf_[A-Za-z0-9]{30,})\b",
    r"\b(?<secret>gsk_[A-Za-z0-9]{40,})\b",
    r"\b(?<secret>xai-[A-Za-z0-9]{40,})\b",
    r"\b(?<secret>pplx-[A-Za-z0-9]{40,})\b",
    r"\b(?<secret>r8_[A-Za-z0-9]{37})\b",
    r"\b(?<secret>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    r"\b(?<secret>cio[A-Za-z0-9]{32})\b",
    // JSON web tokens: header and claims are objects.
    r"\b(?<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    // What a request says of who sends it.
    r#"(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+(?<secret>[A-Za-z0-9._~+/=-]{8,})"#,
    r"(?i)\bbearer\s+(?<secret>[A-Za-z0-9._~+/-]{20,}=*)",
    // A password within a URL.
    r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:(?<secret>[^\s/:@"'<>]{3,})@"#,
];

/// `NAME=value`, `name: "value"` and the like, where the name says that the value is a secret.
const NAMED: &str = r#"(?i)(?<name>[A-Z0-9_.-]*(?:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|token|passwd|password|passphrase))["']?[ \t]{0,4}(?:=|:)[ \t]{0,4}(?:"(?<double>[^"\r\n]*)"|'(?<single>[^'\r\n]*)'|(?<bare>[^\s"',;)}\]]+))"#;

/// A shorter value is a placeholder, a number of tokens or a word.
const SHORTEST_VALUE: usize = 8;

struct Patterns {
    any: RegexSet,
    shapes: Vec<Regex>,
    named: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    any: RegexSet::new(SHAPES.iter().chain([&NAMED])).expect("fixed patterns"),
    shapes: SHAPES.iter().map(|shape| Regex::new(shape).expect("a fixed pattern")).collect(),
    named: Regex::new(NAMED).expect("a fixed pattern"),
});

/// The text with [`MARKER`] in the place of each secret. Borrowed where there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let found = PATTERNS.any.matches(text);
    let mut redacted = Cow::Borrowed(text);
    for index in &found {
        let pattern = PATTERNS.shapes.get(index).unwrap_or(&PATTERNS.named);
        if let Some(shorter) = replace(pattern, &redacted) {
            redacted = Cow::Owned(shorter);
        }
    }
    redacted
}

/// A JSON text with its secrets replaced, in its strings and where a member's name says that its value is one. It stays JSON, and
/// all else in it stays as it lies. Text that is no JSON is redacted as text.
pub fn redact_json(text: &str) -> Cow<'_, str> {
    if serde_json::from_str::<&serde_json::value::RawValue>(text).is_err() {
        return redact(text);
    }
    let strings = redact_strings(text);
    // A name and its value are two strings; what is found across them must not break the text.
    if let Cow::Owned(across) = redact(&strings)
        && serde_json::from_str::<&serde_json::value::RawValue>(&across).is_ok()
    {
        return across.into();
    }
    strings
}

fn redact_strings(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut copied = 0;
    let mut rest = 0;
    while let Some(start) = memchr::memchr(b'"', &text.as_bytes()[rest..]).map(|at| rest + at) {
        let end = end_of_string(text.as_bytes(), start);
        let string = serde_json::from_str::<Cow<'_, str>>(&text[start..end]);
        if let Ok(string) = &string
            && let Cow::Owned(replaced) = redact(string)
        {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(&serde_json::Value::from(replaced).to_string());
            copied = end;
        }
        rest = end;
    }
    if copied == 0 {
        return text.into();
    }
    redacted.push_str(&text[copied..]);
    redacted.into()
}

/// The end of the JSON string that starts at `start`, its quotation mark included.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        at += 1;
        if at >= text.len() {
            break;
        }
    }
    text.len()
}

fn replace(pattern: &Regex, text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for found in pattern.captures_iter(text) {
        let Some(secret) = secret(&found) else { continue };
        out.push_str(&text[copied..secret.start()]);
        out.push_str(MARKER);
        copied = secret.end();
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// The part of a match that goes.
fn secret<'t>(found: &Captures<'t>) -> Option<regex::Match<'t>> {
    if let Some(secret) = found.name("secret") {
        return (secret.as_str() != MARKER).then_some(secret);
    }
    let quoted = found.name("double").or_else(|| found.name("single"));
    let is_quoted = quoted.is_some();
    let value = quoted.or_else(|| found.name("bare"))?;
    is_secret_value(&found["name"], value.as_str(), is_quoted).then_some(value)
}

/// Whether the value of a name for secrets is one, and not a reference to it, a type, a placeholder or code.
fn is_secret_value(name: &str, value: &str, is_quoted: bool) -> bool {
    if value.len() < SHORTEST_VALUE
        || value.contains(MARKER)
        || value.starts_with(['$', '<', '{', '%', '&', '*'])
    {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_all_digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-. ".contains(&byte));
    let is_constant = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_code =
        !is_quoted && value.contains(['(', '[', '<', '{', '|', '&']) || value.contains("::");
    let is_path = value.starts_with(['/', '.', '~']) || value.contains("://");
    let is_password = name.to_ascii_lowercase().contains("pass");
    if is_all_digits || is_code || is_path {
        return false;
    }
    // A password may be a phrase; a key has a digit in it and is no word.
    if is_password && is_quoted { !is_constant } else { has_digit && !is_word && !is_constant }
}
