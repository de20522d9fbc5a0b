//! Texts to print: prose, code, output of a search, hex ids, Chinese and Japanese. The same for the same seed.

use fastrand::Rng;

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    Code,
    Search,
    HexIds,
    Cjk,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Prose, Self::Code, Self::Search, Self::HexIds, Self::Cjk];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Code => "code",
            Self::Search => "search output",
            Self::HexIds => "hex ids",
            Self::Cjk => "CJK",
        }
    }
}

/// A text, and the spellings in it that must be exact.
pub(super) struct Sample {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) identifiers: Vec<String>,
}

/// One sample of each kind, of about `chars` characters.
pub(super) fn samples(seed: u64, chars: usize) -> Vec<Sample> {
    Kind::ALL.iter().map(|kind| sample(*kind, seed, chars)).collect()
}

fn sample(kind: Kind, seed: u64, chars: usize) -> Sample {
    let mut rng = Rng::with_seed(seed ^ kind as u64);
    let mut sample = Sample { kind, text: String::new(), identifiers: Vec::new() };
    while sample.text.chars().count() < chars {
        let line = line(kind, &mut rng, &mut sample.identifiers);
        sample.text.push_str(&line);
        sample.text.push('\n');
    }
    sample
}

const WORDS: &[&str] = &[
    "the", "parser", "reads", "every", "line", "before", "it", "stops", "because", "an", "error",
    "in", "a", "buffer", "would", "cost", "what", "follows", "we", "kept", "two", "tests", "and",
    "changed", "their", "order", "so", "that", "nothing", "is", "lost", "when", "session", "ends",
    "early", "queue", "jumps", "over",
];

const NAMES: &[&str] = &[
    "cursor", "frame", "buffer", "token", "index", "reader", "limit", "queue", "entry", "width",
    "hash", "batch",
];

const HAN: &str = "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长";

const KANA: &str = "ひらがなとカタカナをまぜてよみますアイウエオさしすせそ";

fn line(kind: Kind, rng: &mut Rng, identifiers: &mut Vec<String>) -> String {
    match kind {
        Kind::Prose => sentence(rng),
        Kind::Code => {
            let (name, other) = (identifier(rng), identifier(rng));
            let line =
                format!("let {name} = self.{other}.get({})? & 0x{:x};", rng.u16(..), rng.u32(..));
            identifiers.extend([name, other]);
            line
        }
        Kind::Search => {
            let path = format!("src/{}/{}.rs", pick(rng, NAMES), identifier(rng));
            let line =
                format!("{path}:{}:{}: {}", rng.u16(1..2_000), rng.u8(1..100), sentence(rng));
            identifiers.push(path);
            line
        }
        Kind::HexIds => {
            let (long, short) = (format!("{:032x}", rng.u128(..)), format!("{:08x}", rng.u32(..)));
            let line = format!("{long} {short} {}", pick(rng, NAMES));
            identifiers.extend([long, short]);
            line
        }
        Kind::Cjk => {
            let all: Vec<char> = if rng.u8(..3) == 0 { KANA } else { HAN }.chars().collect();
            let count = rng.usize(10..40);
            (0..count).map(|_| all[rng.usize(..all.len())]).collect::<String>() + "。"
        }
    }
}

fn sentence(rng: &mut Rng) -> String {
    let words: Vec<&str> = (0..rng.usize(6..16)).map(|_| pick(rng, WORDS)).collect();
    words.join(" ") + "."
}

fn identifier(rng: &mut Rng) -> String {
    format!("{}_{}{}", pick(rng, NAMES), pick(rng, NAMES), rng.u8(10..100))
}

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.usize(..of.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_text_and_its_identifiers_stand_in_it() {
        let (first, again) = (samples(7, 500), samples(7, 500));
        for (sample, other) in first.iter().zip(&again) {
            assert_eq!(sample.text, other.text, "{}", sample.kind.as_str());
            for identifier in &sample.identifiers {
                assert!(sample.text.contains(identifier), "{identifier}");
            }
        }
    }
}
