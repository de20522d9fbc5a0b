//! Paths as tools take them: a line range or a view may follow after a colon, and some are URLs.

use std::sync::LazyLock;

use regex::Regex;

/// `10`, `L10-L20`, `10-`, `10..`, `10+5`, and lists of them.
static RANGES: LazyLock<Regex> = LazyLock::new(|| {
    let range = r"L?[0-9]+(?:(?:-|\.\.)(?:L?[0-9]+)?|\+L?[0-9]+)?";
    Regex::new(&format!("(?i)^{range}(?:,{range})*$")).expect("a fixed pattern")
});

static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[A-Za-z][A-Za-z0-9+.-]*://").expect("a fixed pattern"));

#[derive(Clone, Copy, PartialEq, Eq)]
enum Selector {
    Ranges,
    Raw,
    Conflicts,
}

impl Selector {
    fn of(chunk: &str) -> Option<Self> {
        if chunk.eq_ignore_ascii_case("raw") {
            Some(Self::Raw)
        } else if chunk.eq_ignore_ascii_case("conflicts") {
            Some(Self::Conflicts)
        } else {
            RANGES.is_match(chunk).then_some(Self::Ranges)
        }
    }

    /// Whether both may follow one path.
    fn completes(self, other: Self) -> bool {
        matches!((self, other), (Self::Raw, Self::Ranges) | (Self::Ranges, Self::Raw))
    }
}

/// Whether a URL begins anywhere in the path: such a path names no file.
pub fn is_url(path: &str) -> bool {
    SCHEME.is_match(path)
}

/// Splits what a read asks for into the path and its selector: `a.rs:1-50:raw` is `a.rs` and `1-50:raw`.
pub fn split_selector(path: &str) -> (&str, Option<&str>) {
    let Some((rest, last)) = split_chunk(path) else { return (path, None) };
    let path_end = match split_chunk(rest) {
        Some((shorter, before)) if before.completes(last) => shorter.len(),
        _ => rest.len(),
    };
    (&path[..path_end], Some(&path[path_end + 1..]))
}

fn split_chunk(path: &str) -> Option<(&str, Selector)> {
    let (rest, chunk) = path.rsplit_once(':')?;
    if rest.is_empty() {
        return None;
    }
    Some((rest, Selector::of(chunk)?))
}
