//! The one place that knows what foreign services say when they refuse: status and text in, kinds of failure out.
//!
//! Pure. Each row stands for real messages; the strings themselves are in the tests. Nothing else matches texts of a service.

use std::sync::LazyLock;

use jiff::Timestamp;
use longhand_agent::{ErrorKind, ModelError};
use regex::{Regex, RegexSet};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::hint;

/// Most characters of a provider's message that are kept.
const MAX_TEXT_CHARS: usize = 4_000;

/// The prompt is too long for the model, said in so many words. Wins over everything else that the text says.
const OVERFLOW: &[&str] = &[
    r"prompt is too long",
    r"request_too_large[^\n]*\btokens?\b",
    r"\btokens?\b[^\n]*request_too_large",
    r"input length and `?max_tokens`? exceed context limit",
    r"input is too long for requested model",
    r"exceeds the context window",
    r"context[_ ]length[_ ]exceeded",
    r"maximum context length (is|of) [\d,]+",
    r"too large for model with [\d,]+ maximum context length",
    r"input tokens exceed the configured limit of [\d,]+ tokens",
    r"input token count[^\n]*exceeds the maximum",
    r"maximum prompt length is [\d,]+",
    r"reduce the length of the messages",
    r"request too large for model[^\n]*reduce your message size",
    r"input or output tokens must be reduced",
    r"longer than the maximum model length of [\d,]+",
    r"exceeds? the available context size",
    r"exceed_context_size_error",
    r"requested tokens?[^\n]*(exceed|greater than)[^\n]*(context|n_ctx)",
    r"greater than the context length",
    r"reached context length",
    r"context (window|length|size)[^.\n]{0,40}(exceed|overflow|too small)",
    r"(prompt|input)[^\n]{0,80}too (long|large)[^\n]{0,80}(context|n_ctx)",
    r"exceed(s|ed)?( the)? max(imum)? context length",
    r"prompt filled the context window",
    r"exceeded model token limit",
    r"model_context_window_exceeded",
    r"exceeds the \d+-message limit",
    r"`inputs` tokens \+ `max_new_tokens` must be <=",
    r"range of input length should be \[",
    "上下文过长|上下文超出|上下文长度超|请压缩上下文",
];

/// The same in words that also occur elsewhere: counts only without talk of rates, bytes or pictures.
const PERHAPS_OVERFLOW: &[&str] =
    &[r"too many tokens", r"token limit exceeded", r"exceeds the limit of [\d,]+"];

const RATE: &[&str] = &[
    r"(tokens|requests) per (min|minute|hour|day)|per[- ]minute|\bTPM\b|\bRPM\b",
    r"rate[-_ ]?limit|throttl|too many requests",
    r"error-code#token-limit",
];

/// What is too much is bytes or pictures, not tokens.
const MEDIA: &[&str] = &[
    r"exceeds? the (limit|maximum)[^.\n]*?[\d,]+\s*([kmg]i?b|bytes|images?|pixels|files)\b",
    r"\b(images?|files?|pixels?|dimensions?)\b[^.\n]{0,60}(exceed|too (large|many|big))",
    r"too many (images|files)",
];

const PAYLOAD: &[&str] = &[
    r"request_too_large",
    r"(payload|entity) too large",
    r"413[^\n]*(request|payload|entity|body)[^\n]*(exceed|too large|limit)",
    r"request exceeds the maximum (size|number of bytes)",
];

const AUTH: &[&str] = &[
    r"unauthorized|forbidden|authentication|invalid[_ ]api[_ ]key|incorrect api key|api key not valid",
    r"no auth available|auth_unavailable",
];

/// A quota, before talk of rates is looked for.
const QUOTA: &[&str] = &[
    r"account's rate limit",
    r"free-models-per-day",
    r"usage credits are required",
    "使用上限|额度已|配额|余额不足",
];

/// A quota, where there is no talk of rates, concurrency or load.
const PERHAPS_QUOTA: &[&str] = &[
    r"quota|exhausted|usage[_ ]limit|limit will reset",
    r"out of credits|insufficient[_ ](balance|credits|quota)|credit balance is too low",
    r"(spend|spending) limit|billing[_ ]hard[_ ]limit",
];

const BUSY: &[&str] = &[
    r"overloaded|no_capacity|insufficient capacity|exhausted your capacity|peak load|service unavailable",
    r"concurrent|parallel request",
];

const TIMEOUT: &[&str] = &[r"timed? ?out|timeout|stream stall"];

/// Failures of the way to the service, and of the service itself, that have no status.
const PASSING: &[&str] = &[
    r"fetch failed|socket hang up|socket connection was closed|connection (refused|reset|closed)",
    r"unable to connect|^terminated$|network[_ ]error|server_error|internal (server )?error",
    r"stream_read_error|peer closed connection|streamreset|stream disconnected|stream closed before",
    r"stream envelope error|bad record mac|http/?2 stream",
    r"json parse error|unterminated string|unexpected end of json",
    r"malformed function call|provider returned error finish_reason|insufficient_system_resource",
    r"thought-only response",
];

struct Table {
    overflow: RegexSet,
    perhaps_overflow: RegexSet,
    rate: RegexSet,
    media: RegexSet,
    payload: RegexSet,
    auth: RegexSet,
    quota: RegexSet,
    perhaps_quota: RegexSet,
    busy: RegexSet,
    timeout: RegexSet,
    passing: RegexSet,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table {
    overflow: rows(OVERFLOW),
    perhaps_overflow: rows(PERHAPS_OVERFLOW),
    rate: rows(RATE),
    media: rows(MEDIA),
    payload: rows(PAYLOAD),
    auth: rows(AUTH),
    quota: rows(QUOTA),
    perhaps_quota: rows(PERHAPS_QUOTA),
    busy: rows(BUSY),
    timeout: rows(TIMEOUT),
    passing: rows(PASSING),
});

fn rows(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns.iter().map(|pattern| format!("(?i){pattern}")))
        .expect("constant patterns")
}

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a constant pattern")
}

/// The failure that an HTTP answer tells of. `body` is the answer as it came.
pub fn refusal(status: u16, headers: &HeaderMap, body: &str, now: Timestamp) -> ModelError {
    ModelError {
        kinds: kinds(Some(status), body),
        status: Some(status),
        hint: hint::wait(headers, body, now),
        text: match readable(body) {
            said if said.is_empty() => format!("{status} (no body)"),
            said if said.starts_with(&status.to_string()) => said,
            said => format!("{status} {said}"),
        },
    }
}

/// The failure that an error object or a line of text inside a successful answer tells of.
pub fn in_band(error: &Value, now: Timestamp) -> ModelError {
    let body = match error {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let status = error
        .get("code")
        .or_else(|| error.get("status"))
        .and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code))
        .or_else(|| leading_status(&body))
        .or_else(|| match error.get("type").and_then(Value::as_str) {
            Some("rate_limit_error") => Some(429),
            Some("overloaded_error") => Some(529),
            Some("server_error" | "api_error") => Some(500),
            _ => None,
        });
    let hint = hint::from_text(&body, now);
    let text = readable(&body);
    match status {
        Some(status) => {
            let prefix = status.to_string();
            let text = if text.starts_with(&prefix) { text } else { format!("{prefix} {text}") };
            ModelError { kinds: kinds(Some(status), &body), status: Some(status), hint, text }
        }
        None => ModelError { kinds: kinds(None, &body), status: None, hint, text },
    }
}

/// What kind of failure a text tells of, with or without the status that it came with.
pub fn kinds(status: Option<u16>, text: &str) -> Vec<ErrorKind> {
    let table = &*TABLE;
    let status = status.filter(|status| *status != 0);
    if text.to_ascii_lowercase().contains("content_filter") {
        return vec![ErrorKind::ContentBlocked];
    }
    if let Some(bodiless) = bodiless(status, text) {
        return if bodiless == 413 {
            vec![ErrorKind::ContextOverflow, ErrorKind::PayloadRejected]
        } else {
            vec![ErrorKind::ContextOverflow]
        };
    }
    let is_rate = table.rate.is_match(text);
    let is_media = table.media.is_match(text);
    if table.overflow.is_match(text)
        || (table.perhaps_overflow.is_match(text) && !is_rate && !is_media && !says_body(text))
    {
        return vec![ErrorKind::ContextOverflow];
    }
    if status == Some(413) || is_media || table.payload.is_match(text) {
        return vec![ErrorKind::PayloadRejected];
    }
    let mut kinds = Vec::new();
    if is_passing(status, text) {
        kinds.push(ErrorKind::Transient);
        if status == Some(408) || table.timeout.is_match(text) {
            kinds.push(ErrorKind::Timeout);
        }
    }
    if is_usage_limit(status, text) {
        kinds.push(ErrorKind::UsageLimit);
    }
    if matches!(status, Some(401 | 403)) || table.auth.is_match(text) {
        kinds.push(ErrorKind::AuthFailed);
    }
    if text.to_ascii_lowercase().contains("provider returned error finish_reason") {
        kinds.push(ErrorKind::ProviderFinishError);
    }
    if text.to_ascii_lowercase().contains("thought-only response") {
        kinds.push(ErrorKind::EmptyResponse);
    }
    kinds
}

/// A length limit of the body that a gateway buffers, in words that would otherwise be about tokens.
fn says_body(text: &str) -> bool {
    text.to_ascii_lowercase().contains("request body")
}

fn is_passing(status: Option<u16>, text: &str) -> bool {
    let table = &*TABLE;
    if text.to_ascii_lowercase().contains("failed to parse tool call arguments as json") {
        return false;
    }
    match status.or_else(|| leading_status(text)) {
        Some(408 | 429 | 500..=599) => true,
        Some(400) => text.contains("Floating point NaN"),
        Some(_) => false,
        None => {
            table.passing.is_match(text)
                || table.timeout.is_match(text)
                || table.busy.is_match(text)
                || (table.rate.is_match(text) && !table.quota.is_match(text))
        }
    }
}

fn is_usage_limit(status: Option<u16>, text: &str) -> bool {
    let table = &*TABLE;
    match status {
        Some(402) => return true,
        Some(429) if is_opaque(text) => return true,
        Some(404 | 408 | 409 | 500..=599) => return false,
        _ => {}
    }
    table.quota.is_match(text)
        || (table.perhaps_quota.is_match(text)
            && !table.rate.is_match(text)
            && !table.busy.is_match(text))
}

/// Whether a text says nothing beyond its status.
pub(crate) fn is_opaque(text: &str) -> bool {
    static SILENT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\s*(\{\s*\})?((http )?\d{3}( status code)?( \(no body\))?( error)?)?\s*$")
    });
    SILENT.is_match(text) || text.trim_start().starts_with('<')
}

/// The status of a 400 or 413 that came without a word: some services answer an overlong prompt like that.
pub(crate) fn bodiless(status: Option<u16>, text: &str) -> Option<u16> {
    static NO_BODY: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*(400|413)( status code)? \(no body\)\s*$"));
    if let Some(found) = NO_BODY.captures(text) {
        return found[1].parse().ok();
    }
    status.filter(|status| matches!(status, 400 | 413) && text.trim().is_empty())
}

/// The status that a text begins with, such as `429 Too Many Requests`.
fn leading_status(text: &str) -> Option<u16> {
    static LEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:http )?([45]\d\d)\b"));
    LEADING.captures(text)?[1].parse().ok()
}

/// A limit on parallel requests that lasts as long as the other requests do: waiting here only adds to the queue.
pub(crate) fn is_parallel_limit(headers: &HeaderMap, body: &str) -> bool {
    headers.get("rate_limit_type").is_some_and(|kind| kind == "max_parallel_requests")
        || body.contains("max_parallel_requests")
}

/// Whether a server refuses an empty list of tools.
pub(crate) fn refuses_empty_tools(status: u16, body: &str) -> bool {
    static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"tools[^\n]{0,80}(must not be empty|non-?empty|at least (1|one)|too short|empty array)|\[\] is too short[^\n]{0,40}tools",
        )
    });
    matches!(status, 400 | 422) && EMPTY.is_match(body)
}

/// Sizes that an overflow message states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatedOverflow {
    pub(crate) prompt_tokens: u64,
    pub(crate) window_tokens: u64,
}

/// The sizes in a message whose prompt fits but leaves too little for the reply that was asked for.
pub(crate) fn stated_overflow(body: &str) -> Option<StatedOverflow> {
    static SUM: LazyLock<Regex> = LazyLock::new(|| pattern(r"([\d,]+) \+ [\d,]+ > ([\d,]+)"));
    static PARTS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"maximum context length is ([\d,]+) tokens[^\n]*?\(([\d,]+) in the messages, [\d,]+ in the completion\)",
        )
    });
    let number = |text: &str| text.replace(',', "").parse().ok();
    if let Some(found) = SUM.captures(body) {
        return Some(StatedOverflow {
            prompt_tokens: number(&found[1])?,
            window_tokens: number(&found[2])?,
        });
    }
    let found = PARTS.captures(body)?;
    Some(StatedOverflow { prompt_tokens: number(&found[2])?, window_tokens: number(&found[1])? })
}

/// One line for people out of a body: the message of an error object, the title of a page, or the text itself.
pub(crate) fn readable(body: &str) -> String {
    let said = match serde_json::from_str::<Value>(body) {
        Ok(Value::Object(object)) if object.is_empty() => String::new(),
        Ok(json) => message_of(&json).unwrap_or_else(|| json.to_string()),
        Err(_) if body.trim_start().starts_with('<') => page_text(body),
        Err(_) => body.to_owned(),
    };
    one_line(&said)
}

/// White space folded, and cut to a sane length.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_TEXT_CHARS * 4 {
            break;
        }
    }
    match line.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn message_of(json: &Value) -> Option<String> {
    let error = json.get("error").unwrap_or(json);
    let said = [error.get("message"), Some(error), json.get("message"), json.get("detail")]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)?;
    // A router's own message says little; what its upstream said is beside it.
    match error.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(raw) => Some(format!("{said}: {}", readable(raw))),
        None => Some(said.to_owned()),
    }
}

fn page_text(page: &str) -> String {
    static TITLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)<title[^>]*>(.*?)</title>"));
    static TAG: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)<(script|style)\b.*?</(script|style)>|<[^>]*>"));
    match TITLE.captures(page) {
        Some(found) => found[1].to_owned(),
        None => TAG.replace_all(page, " ").into_owned(),
    }
}
