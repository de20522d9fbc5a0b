//! Which part of a file a call asks for: the text after the last `:` of the path.
//!
//! Knows nothing of files: whether a `:` belongs to the name of a file is asked of the caller.

/// How the grammar is told to the model.
pub(super) const GRAMMAR: &str = "use :N or :N- (from line N), :N-M, :N+K (K lines), :-N (the last N), :N-M,P-Q, :raw, :raw:N-M, or :N@S+K (K characters of line N after the first S)";

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Its start.
    Start,
    /// Lines from this one.
    From(u64),
    /// Lines, both ends included, in rising order and apart from each other.
    Lines(Vec<(u64, u64)>),
    /// The last lines.
    Last(u64),
    /// Characters of one line.
    Characters { line: u64, skip: u64, take: u64 },
}

impl Part {
    /// The first line that must be there.
    pub(super) fn first_line(&self) -> u64 {
        match self {
            Self::Start | Self::Last(_) => 1,
            Self::From(line) | Self::Characters { line, .. } => *line,
            Self::Lines(ranges) => ranges.first().map_or(1, |(from, _)| *from),
        }
    }
}

/// A path and what of it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selected<'a> {
    pub(super) path: &'a str,
    pub(super) part: Part,
    /// Whether lines come without numbers.
    pub(super) is_raw: bool,
}

/// Text that looks like a selector and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) String);

/// Splits a path from its selector. A path that `exists` as it stands has none.
pub(super) fn split(
    argument: &str,
    exists: impl Fn(&str) -> bool,
) -> Result<Selected<'_>, Malformed> {
    let whole = Selected { path: argument, part: Part::Start, is_raw: false };
    let Some((outer, last)) = split_last(argument) else { return Ok(whole) };
    if exists(argument) {
        return Ok(whole);
    }
    let inner = split_last(outer).filter(|_| !exists(outer));
    match (inner, is_raw(last)) {
        (Some((path, before)), false) if is_raw(before) && looks_like_part(last) => {
            Ok(Selected { path, part: part(last)?, is_raw: true })
        }
        (Some((path, before)), true) if looks_like_part(before) => {
            Ok(Selected { path, part: part(before)?, is_raw: true })
        }
        (_, true) => Ok(Selected { path: outer, part: Part::Start, is_raw: true }),
        (_, false) if looks_like_part(last) => {
            Ok(Selected { path: outer, part: part(last)?, is_raw: false })
        }
        _ => Ok(whole),
    }
}

fn split_last(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once(':').filter(|(before, _)| !before.is_empty())
}

fn is_raw(chunk: &str) -> bool {
    chunk.eq_ignore_ascii_case("raw")
}

fn looks_like_part(chunk: &str) -> bool {
    chunk.bytes().any(|byte| byte.is_ascii_digit())
        && chunk.bytes().all(|byte| byte.is_ascii_digit() || b",-+@.Ll".contains(&byte))
}

fn part(chunk: &str) -> Result<Part, Malformed> {
    parsed(chunk).ok_or_else(|| Malformed(chunk.to_owned()))
}

fn parsed(chunk: &str) -> Option<Part> {
    if let Some(count) = chunk.strip_prefix('-') {
        return Some(Part::Last(number(count)?)).filter(|_| number(count) > Some(0));
    }
    if let Some((line, window)) = chunk.split_once('@') {
        let (skip, take) = window.split_once('+')?;
        return Some(Part::Characters {
            line: line_number(line)?,
            skip: number(skip)?,
            take: number(take).filter(|take| *take > 0)?,
        });
    }
    if let Some(from) = chunk.strip_suffix('-').or_else(|| chunk.strip_suffix("..")) {
        return line_number(from).map(Part::From);
    }
    if let Some(from) = line_number(chunk) {
        return Some(Part::From(from));
    }
    let mut ranges = chunk.split(',').map(range).collect::<Option<Vec<_>>>()?;
    ranges.sort_unstable();
    Some(Part::Lines(merged(&ranges)))
}

fn range(chunk: &str) -> Option<(u64, u64)> {
    if let Some((from, count)) = chunk.split_once('+') {
        let (from, count) = (line_number(from)?, number(count)?);
        return Some((from, from.checked_add(count.checked_sub(1)?)?));
    }
    let (from, to) = match chunk.split_once("..").or_else(|| chunk.split_once('-')) {
        Some((from, to)) => (line_number(from)?, line_number(to)?),
        None => (line_number(chunk)?, line_number(chunk)?),
    };
    (from <= to).then_some((from, to))
}

/// The ranges of a sorted list with those that touch made one.
pub(super) fn merged(sorted: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for &(from, to) in sorted {
        match out.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = (*end).max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

fn line_number(text: &str) -> Option<u64> {
    number(text.strip_prefix(['L', 'l']).unwrap_or(text)).filter(|line| *line > 0)
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_says_which_lines_and_how() {
        let lines = |ranges: &[(u64, u64)]| Part::Lines(ranges.to_vec());
        for (argument, path, part, is_raw) in [
            ("a.rs", "a.rs", Part::Start, false),
            ("a.rs:10", "a.rs", Part::From(10), false),
            ("a.rs:10-", "a.rs", Part::From(10), false),
            ("a.rs:L10-L20", "a.rs", lines(&[(10, 20)]), false),
            ("a.rs:10..20", "a.rs", lines(&[(10, 20)]), false),
            ("a.rs:10+5", "a.rs", lines(&[(10, 14)]), false),
            ("a.rs:-60", "a.rs", Part::Last(60), false),
            ("a.rs:9,1-3,4", "a.rs", lines(&[(1, 4), (9, 9)]), false),
            ("a.rs:raw", "a.rs", Part::Start, true),
            ("a.rs:raw:2-4", "a.rs", lines(&[(2, 4)]), true),
            ("a.rs:2-4:RAW", "a.rs", lines(&[(2, 4)]), true),
            ("a.rs:8@0+400", "a.rs", Part::Characters { line: 8, skip: 0, take: 400 }, false),
            ("artifact://3:5-6", "artifact://3", lines(&[(5, 6)]), false),
            ("a.rs:abc", "a.rs:abc", Part::Start, false),
            (":10", ":10", Part::Start, false),
        ] {
            assert_eq!(
                split(argument, |_| false),
                Ok(Selected { path, part, is_raw }),
                "{argument}"
            );
        }
    }

    #[test]
    fn what_only_looks_like_a_selector_is_malformed() {
        for argument in
            ["a:0", "a:9-3", "a:1-2-3", "a:5,", "a:-0", "a:3@4", "a:1+0", "a:99999999999999999999"]
        {
            let chunk = argument.strip_prefix("a:").unwrap();
            assert_eq!(split(argument, |_| false), Err(Malformed(chunk.into())), "{argument}");
        }
    }

    #[test]
    fn a_file_of_that_name_wins() {
        assert_eq!(split("a:1", |path| path == "a:1").unwrap().path, "a:1");
        assert_eq!(split("a:raw:1-2", |path| path == "a:raw").unwrap().path, "a:raw");
    }
}
