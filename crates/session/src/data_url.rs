//! Base64 data URLs in text, replaced by a short note: a model reads nothing in them, and they are most of a page.
//!
//! Linear in the text. A Markdown link or picture around a URL goes with it.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What is known of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Intact. A short and malformed payload is somebody's text about data URLs, and stays.
    Source,
    /// Cut by earlier code, at any place. Everything that looks like a data URL goes.
    Archive,
}

/// A payload of this length is one, even where it is not whole groups of four.
const SURE_PAYLOAD: usize = 40;

static DATA_URL: LazyLock<Regex> = LazyLock::new(|| {
    let token = r"[A-Za-z0-9_!#$%&'*+.^|~-]+";
    let payload = "[A-Za-z0-9+/=]*";
    let marker = r"\s*\[(?:…|\.\.\.)(?<cut>[0-9]+)ch elided(?:…|\.\.\.)\]\s*";
    Regex::new(&format!(
        r"[Dd][Aa][Tt][Aa]:(?<mime>[A-Za-z][A-Za-z0-9_.+-]*/[A-Za-z0-9_.+-]+(?:;{token}={token})*);[Bb][Aa][Ss][Ee]64,(?<head>{payload})(?:{marker}(?<tail>{payload}))?(?<close>\s*\))?"
    ))
    .expect("a fixed pattern")
});

/// The text with a note in the place of each data URL.
pub fn elide(text: &str, origin: Origin) -> Cow<'_, str> {
    let mut out = String::new();
    let mut emitted = 0;
    for url in DATA_URL.captures_iter(text) {
        if origin == Origin::Source && !is_payload(&url) {
            continue;
        }
        let whole = url.get(0).expect("group 0 is the match");
        let close = url.name("close");
        let opener = close.and_then(|_| opener(&text[emitted..whole.start()]));
        let (start, end) = match opener {
            Some(opener) => (emitted + opener, whole.end()),
            None => (whole.start(), close.map_or(whole.end(), |close| close.start())),
        };
        out.push_str(&text[emitted..start]);
        push_note(&mut out, &url);
        emitted = end;
    }
    if emitted == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[emitted..]);
    Cow::Owned(out)
}

fn is_payload(url: &Captures<'_>) -> bool {
    let payload = &url["head"];
    url.name("cut").is_some() || payload.len() >= SURE_PAYLOAD || is_canonical(payload)
}

fn is_canonical(payload: &str) -> bool {
    let digits = payload.trim_end_matches('=');
    !digits.is_empty()
        && payload.len().is_multiple_of(4)
        && payload.len() - digits.len() <= 2
        && !digits.contains('=')
}

fn push_note(out: &mut String, url: &Captures<'_>) {
    let length = |name| url.name(name).map_or(0, |part| part.as_str().len() as u64);
    let cut = url.name("cut").and_then(|cut| cut.as_str().parse().ok()).unwrap_or(0_u64);
    let chars = (length("head") + length("tail")).saturating_add(cut);
    let _ = write!(out, "[data URL omitted: {}, {chars} base64 chars]", &url["mime"]);
}

/// Where a Markdown link or picture starts whose target comes directly after `before`.
fn opener(before: &str) -> Option<usize> {
    let label = before.trim_end().strip_suffix("](")?;
    let line_start = label.rfind(['\n', '\r', ']']).map_or(0, |at| at + 1);
    let bracket = line_start + label[line_start..].find('[')?;
    Some(if label[..bracket].ends_with('!') { bracket - 1 } else { bracket })
}
