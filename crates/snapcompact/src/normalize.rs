//! Text reduced to characters that a font prints.
//!
//! Terminal escapes go, white space collapses, typography and compatibility forms become their plain equivalents, pictures become
//! words or vanish, and what no font has becomes `?`. Linear in the text; the result normalises to itself.

mod escapes;
mod folds;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::glyphs::{self, Glyphs};
use crate::{DIM_OFF, DIM_ON, LINE_END};

/// Most characters, as a part of all, that may have no glyph before a text is unsafe to print.
const SAFE_SHARE: f64 = 0.05;

/// Normalised text, and how much of it could not be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalized {
    /// The text: printable characters, [`LINE_END`], and the ink switches.
    pub text: String,
    /// Characters of the source that ask for ink or a blank.
    pub graphics: usize,
    /// Those of them that no font has, printed as `?`.
    pub fallbacks: usize,
}

impl Normalized {
    /// Part of the characters that no font has, between 0 and 1.
    pub fn unsafe_share(&self) -> f64 {
        if self.graphics == 0 { 0.0 } else { self.fallbacks as f64 / self.graphics as f64 }
    }

    /// Whether so few characters are lost that the text can be printed.
    pub fn is_safe(&self) -> bool {
        self.unsafe_share() <= SAFE_SHARE
    }
}

/// What becomes of blanks at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indent {
    /// They go: a line end takes one cell with all white space around it.
    #[default]
    Dropped,
    /// Up to eight stay, in pairs, for languages in which they matter.
    Kept,
}

/// Blanks at the start of a line that are kept at most.
const MOST_INDENT: usize = 8;

/// Normalises text for a font, without indentation.
pub fn normalize(text: &str, glyphs: &Glyphs) -> Normalized {
    normalize_indented(text, glyphs, Indent::Dropped)
}

/// Normalises text for a font.
pub fn normalize_indented(text: &str, glyphs: &Glyphs, indent: Indent) -> Normalized {
    normalize_for(text, &|c| glyphs.supports(c), indent)
}

/// Normalises text for any font, of which `supports` tells what it has beyond Latin-1.
pub fn normalize_for(text: &str, supports: &dyn Fn(char) -> bool, indent: Indent) -> Normalized {
    let text = escapes::strip(text);
    let mut printer = Printer::new(supports, indent, text.len());
    let mut rest: &str = &text;
    while !rest.is_empty() {
        let word = rest.bytes().position(|b| !b.is_ascii_graphic()).unwrap_or(rest.len());
        if word > 0 {
            printer.word(&rest[..word]);
            rest = &rest[word..];
            continue;
        }
        let c = rest.chars().next().unwrap_or(LINE_END);
        if printer.knows(c) {
            printer.itself(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let blank = Blank::read(rest);
        if blank.bytes > 0 {
            printer.blank(&blank);
            rest = &rest[blank.bytes..];
            continue;
        }
        printer.other(c);
        rest = &rest[c.len_utf8()..];
    }
    printer.finish()
}

/// Whether so much of a text is wide characters that a shape of square cells reads better: at least eight, and a quarter.
pub fn is_cjk_heavy(text: &str) -> bool {
    let text = escapes::strip(text);
    let (mut wide, mut all) = (0_usize, 0_usize);
    for c in text.chars() {
        if c.is_ascii() {
            all += usize::from(c.is_ascii_graphic());
            continue;
        }
        let is_hidden = c == LINE_END
            || is_space(c)
            || matches!(
                c.general_category(),
                GeneralCategory::Format
                    | GeneralCategory::Control
                    | GeneralCategory::NonspacingMark
                    | GeneralCategory::EnclosingMark
            );
        if !is_hidden {
            all += 1;
            wide += usize::from(glyphs::is_wide(c));
        }
    }
    wide >= 8 && wide * 4 >= all
}

/// A run of white space and characters without any form.
struct Blank {
    bytes: usize,
    has_line_end: bool,
    has_space: bool,
    /// Blanks after the last line end; a tab counts as two.
    indent: usize,
}

impl Blank {
    fn read(text: &str) -> Self {
        let mut blank = Self { bytes: 0, has_line_end: false, has_space: false, indent: 0 };
        for c in text.chars() {
            let is_space = is_space(c);
            if !is_space && !is_format(c) {
                break;
            }
            blank.bytes += c.len_utf8();
            match c {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => {
                    blank.has_line_end = true;
                    blank.indent = 0;
                }
                '\t' => blank.indent += 2,
                ' ' => blank.indent += 1,
                _ => {}
            }
            // A byte order mark is both, and leaves nothing when it stands alone.
            blank.has_space |= is_space && c != '\u{feff}';
        }
        blank
    }
}

fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}'
        | '\u{3000}' | '\u{feff}')
}

fn is_format(c: char) -> bool {
    !c.is_ascii() && c.general_category() == GeneralCategory::Format
}

/// Collects what is printed.
struct Printer<'a> {
    supports: &'a dyn Fn(char) -> bool,
    indent: Indent,
    out: String,
    graphics: usize,
    fallbacks: usize,
    /// Spaces since the last character that is neither space nor line end. They count only if another one follows.
    open_spaces: usize,
    has_begun: bool,
    /// Characters that were printed as themselves, each in the place of its low bits. Text repeats its characters, and the
    /// tables are slow: with this, a megabyte of Chinese takes 17 ms instead of 144.
    known: [char; KNOWN],
}

/// Places for characters that were printed as themselves.
const KNOWN: usize = 1024;

impl<'a> Printer<'a> {
    fn new(supports: &'a dyn Fn(char) -> bool, indent: Indent, bytes: usize) -> Self {
        Self {
            supports,
            indent,
            out: String::with_capacity(bytes),
            graphics: 0,
            fallbacks: 0,
            open_spaces: 0,
            has_begun: false,
            known: ['\0'; KNOWN],
        }
    }

    fn knows(&self, c: char) -> bool {
        c != '\0' && self.known[c as usize % KNOWN] == c
    }

    fn itself(&mut self, c: char) {
        self.begin();
        self.graphics += 1;
        self.out.push(c);
    }

    fn begin(&mut self) {
        self.has_begun = true;
        self.graphics += std::mem::take(&mut self.open_spaces);
    }

    fn word(&mut self, word: &str) {
        self.begin();
        self.graphics += word.len();
        self.out.push_str(word);
    }

    fn blank(&mut self, blank: &Blank) {
        if !self.has_begun {
            return;
        }
        if blank.has_line_end {
            self.out.push(LINE_END);
        }
        if self.indent == Indent::Kept && self.out.ends_with(LINE_END) {
            let spaces = blank.indent.min(MOST_INDENT) / 2 * 2;
            self.open_spaces += spaces;
            self.out.extend(std::iter::repeat_n(' ', spaces));
        } else if !blank.has_line_end && blank.has_space {
            self.open_spaces += 1;
            self.space();
        }
    }

    /// One space, unless there is one.
    fn space(&mut self) {
        if !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }

    fn other(&mut self, c: char) {
        if c == LINE_END {
            if self.has_begun {
                self.out.push(c);
            }
            return;
        }
        self.begin();
        if c == DIM_ON || c == DIM_OFF {
            self.out.push(c);
            return;
        }
        let Some(printed) = print(c, self.supports) else { return };
        self.graphics += 1;
        match printed {
            Printed::Itself => {
                self.known[c as usize % KNOWN] = c;
                self.out.push(c);
            }
            Printed::Fixed(text) => self.out.push_str(text),
            Printed::Folded(text) => text.chars().for_each(|c| match c {
                ' ' => self.space(),
                c => self.out.push(c),
            }),
            Printed::Missing => {
                self.fallbacks += 1;
                self.out.push('?');
            }
        }
    }

    fn finish(self) -> Normalized {
        let text = self.out.trim_matches([' ', LINE_END]);
        let text = if text.len() == self.out.len() { self.out } else { text.to_owned() };
        Normalized { text, graphics: self.graphics, fallbacks: self.fallbacks }
    }
}

/// What a character becomes.
enum Printed {
    Itself,
    Fixed(&'static str),
    Folded(String),
    /// No font has it.
    Missing,
}

/// What a character becomes that is neither ASCII nor white space; `None` where it leaves nothing.
fn print(c: char, supports: &dyn Fn(char) -> bool) -> Option<Printed> {
    if matches!(c, '\u{a1}'..='\u{ff}') {
        return Some(Printed::Itself);
    }
    if let Some(text) = folds::table(c) {
        return Some(Printed::Fixed(text));
    }
    if folds::is_modifier(c) || c.general_category() == GeneralCategory::Control {
        return None;
    }
    if is_kept_mark(c) && supports(c) {
        return Some(Printed::Itself);
    }
    if let Some(text) = compatible(c) {
        return Some(Printed::Folded(text));
    }
    if folds::is_pictographic(c) {
        return None;
    }
    Some(if supports(c) { Printed::Itself } else { Printed::Missing })
}

/// The plain characters that a character stands for, without marks; `None` if it stands for itself or for something that is not
/// plain. Marks stand for nothing.
fn compatible(c: char) -> Option<String> {
    let mut out = String::new();
    let mut is_changed = false;
    for part in std::iter::once(c).nfkd() {
        is_changed |= part != c;
        if part.general_category_group() == GeneralCategoryGroup::Mark {
            is_changed = true;
            continue;
        }
        match folds::table(part) {
            _ if matches!(part, ' '..='~' | '\u{a0}'..='\u{ff}') => out.push(part),
            Some(text) if !folds::is_label(part) => out.push_str(text),
            _ => return None,
        }
    }
    is_changed.then_some(out)
}

/// Whether a mark belongs to letters that cannot be read without it. The marks of Latin, Greek and Cyrillic letters, of symbols
/// and of the choice of a form go.
fn is_kept_mark(c: char) -> bool {
    let is_common = matches!(u32::from(c),
        0x300..=0x36F | 0x483..=0x489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F
        | 0xE_0100..=0xE_01EF);
    !is_common && glyphs::is_overlay(c)
}
