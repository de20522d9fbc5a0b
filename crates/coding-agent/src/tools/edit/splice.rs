//! What stands in the place of a matched region: the new text, with the old bytes of every line that the edit leaves as it is.
//!
//! New lines get the ending of the line they replace, else that of the lines around them, so that a file with mixed endings stays as it
//! was wherever it was not touched.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::tools::line_style::Ending;

/// The bytes to put in the place of `region`, which was found for `old`.
pub(super) fn replacement(
    content: &[u8],
    region: &Range<usize>,
    old: &[u8],
    new: &[u8],
) -> Vec<u8> {
    let region_lines = lines(&content[region.clone()]);
    let (old_lines, new_lines) = (lines(old), lines(new));
    let around = ending_around(content, region, &region_lines);
    if region_lines.len() != old_lines.len() {
        // A match has as many lines as what it was found for; this is for a text that ends within an ending.
        return with_ending(new, around);
    }
    let bodies = |lines: &[&[u8]]| lines.iter().map(|line| body(line).to_vec()).collect::<Vec<_>>();
    let is_last = |index: usize, lines: &[&[u8]]| index + 1 == lines.len();
    let mut out = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &bodies(&old_lines), &bodies(&new_lines)) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                for n in 0..len {
                    let (kept, given) = (region_lines[old_index + n], new_lines[new_index + n]);
                    let has_same_end =
                        Ending::of_line(kept).is_some() == Ending::of_line(given).is_some();
                    if has_same_end {
                        out.extend_from_slice(kept);
                    } else if is_last(old_index + n, &region_lines)
                        || is_last(new_index + n, &new_lines)
                    {
                        out.extend(with_ending(given, around));
                    } else {
                        out.extend_from_slice(kept);
                    }
                }
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } => {
                for line in &new_lines[new_index..new_index + new_len] {
                    out.extend(with_ending(line, around));
                }
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                for n in 0..new_len {
                    let replaced =
                        (n < old_len).then(|| Ending::of_line(region_lines[old_index + n]));
                    out.extend(with_ending(
                        new_lines[new_index + n],
                        replaced.flatten().or(around),
                    ));
                }
            }
        }
    }
    out
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A line without its ending.
fn body(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line)
}

/// The text with all endings made `ending`. Endings that the model wrote as `\r\n` are meant.
fn with_ending(text: &[u8], ending: Option<Ending>) -> Vec<u8> {
    match ending {
        Some(Ending::CrLf) => Ending::CrLf.applied_to(text),
        Some(Ending::Lf) | None => text.to_vec(),
    }
}

/// How lines end in the region, else right after it, else right before it.
fn ending_around(content: &[u8], region: &Range<usize>, region_lines: &[&[u8]]) -> Option<Ending> {
    let first =
        |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').next().and_then(Ending::of_line);
    let before = &content[..region.start];
    region_lines
        .iter()
        .find_map(|line| Ending::of_line(line))
        .or_else(|| first(&content[region.end..]))
        .or_else(|| {
            before
                .iter()
                .rposition(|byte| *byte == b'\n')
                .and_then(|end| Ending::of_line(&before[..=end]))
        })
}
