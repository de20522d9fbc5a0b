//! Texts that golden data describes by length and seed.

/// The words of generated texts.
pub(crate) const WORDS: [&str; 16] = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "lazy",
    "dog.",
    "error:",
    "at",
    "src/main.rs:42",
    "0x1F",
    "and",
    "{",
    "}",
    "=>",
];

/// Words in an order that the seed fixes, a line end after each twelfth, cut to `length` characters.
pub(crate) fn text(length: usize, seed: u64) -> String {
    let mut state = seed;
    let mut out = String::new();
    let mut chars = 0;
    let mut count = 0;
    while chars < length {
        state = (state.wrapping_mul(1_103_515_245) + 12_345) & 0x7fff_ffff;
        let word = WORDS[(state >> 16) as usize % WORDS.len()];
        count += 1;
        out.push_str(word);
        out.push(if count % 12 == 0 { '\u{2588}' } else { ' ' });
        chars += word.chars().count() + 1;
    }
    out.chars().take(length).collect()
}
