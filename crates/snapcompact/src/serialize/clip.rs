//! Long text cut in its middle.

/// At most `most` characters of a text, from both ends, with a note on how many are missing between them. `head_ratio` is the part
/// that comes from the start, 0 to 1.
pub fn clip(text: &str, most: usize, head_ratio: f64) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let chars = text.chars().count();
    let Some(missing) = chars.checked_sub(most).filter(|missing| *missing > 0) else {
        return text.to_owned();
    };
    let head = (most as f64 * head_ratio.clamp(0.0, 1.0) + 0.5).floor() as usize;
    let head_end = place_of(text, head);
    let tail_start = place_of(text, head + missing);
    format!("{} […{missing}ch elided…] {}", &text[..head_end], &text[tail_start..])
}

/// Where a character begins, by its number.
fn place_of(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}
