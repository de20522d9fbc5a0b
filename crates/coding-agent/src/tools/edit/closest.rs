//! Finds the lines of a file that come closest to a text which does not occur in it, so that the model can see what it got wrong.
//!
//! Lines are compared by the pairs of bytes in them, as sets of 256 bits: cheap enough for a file of 100,000 lines.

/// Most lines of the text that are compared; the rest moves with them.
const MAX_COMPARED_LINES: usize = 64;

/// Below this the closest region says nothing.
const LEAST_LIKENESS: f64 = 0.4;

/// A region of lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    /// First line, from 1.
    pub(super) first: usize,
    /// Last line, included.
    pub(super) last: usize,
    /// From 0 to 1.
    pub(super) likeness: f64,
}

/// The region of `content` that is most like `old`; `None` where nothing is.
pub(super) fn region(content: &str, old: &str) -> Option<Region> {
    let file: Vec<_> = content.lines().map(Pairs::of).collect();
    let wanted: Vec<_> = old.lines().map(Pairs::of).collect();
    let span = wanted.len().min(file.len());
    let compared = span.min(MAX_COMPARED_LINES);
    if compared == 0 {
        return None;
    }
    let mut best = Region { first: 0, last: 0, likeness: 0.0 };
    for (at, window) in file.windows(span).enumerate() {
        let sum: f64 = window.iter().zip(&wanted[..compared]).map(|(a, b)| a.likeness(b)).sum();
        let likeness = sum / compared as f64;
        if likeness > best.likeness {
            best = Region { first: at + 1, last: at + span, likeness };
        }
    }
    (best.likeness >= LEAST_LIKENESS).then_some(best)
}

/// The pairs of neighbouring bytes of a line, without its indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pairs([u64; 4]);

impl Pairs {
    fn of(line: &str) -> Self {
        let mut bits = [0; 4];
        for pair in line.trim().as_bytes().windows(2) {
            let slot = (usize::from(pair[0]) * 31 + usize::from(pair[1]) * 7) % 256;
            bits[slot / 64] |= 1 << (slot % 64);
        }
        Self(bits)
    }

    /// The share of pairs that both have.
    fn likeness(&self, other: &Self) -> f64 {
        let count = |bits: [u64; 4]| bits.iter().map(|word| word.count_ones()).sum::<u32>();
        let all = count(self.0) + count(other.0);
        if all == 0 {
            return 1.0;
        }
        let both = std::array::from_fn(|n| self.0[n] & other.0[n]);
        f64::from(2 * count(both)) / f64::from(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_that_differs_least_is_named() {
        let content = "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\n";
        let found = region(content, "fn two() {\n    sekond();\n}").unwrap();
        assert_eq!((found.first, found.last), (5, 7));
        assert!(found.likeness > 0.8 && found.likeness < 1.0, "{}", found.likeness);
    }

    #[test]
    fn where_nothing_is_alike_nothing_is_named() {
        assert_eq!(region("abc\ndef\n", "xyz xyz"), None);
        assert_eq!(region("", "x"), None);
    }

    #[test]
    fn a_text_longer_than_the_file_is_compared_as_far_as_it_goes() {
        let found = region("alpha\nbeta\n", "alpha\nbeta\ngamma\n").unwrap();
        assert_eq!((found.first, found.last, found.likeness), (1, 2, 1.0));
    }
}
