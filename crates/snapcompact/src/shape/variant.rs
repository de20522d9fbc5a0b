//! The shapes that have a name.

use std::fmt;
use std::str::FromStr;

use super::{FontName, Ink, Shape};
use crate::billing::{self, Family};
use crate::error::Error;

macro_rules! variants {
    ($( $(#[$meta:meta])* $variant:ident = $name:literal, )*) => {
        /// A shape that has a name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each says what its name says: font or cell, ink, dimming")]
        pub enum Variant { $( $(#[$meta])* $variant, )* }

        impl Variant {
            /// All of them, in the order in which settings list them.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// Its name in settings.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }
        }
    };
}

variants! {
    Repeated8x8Black = "8x8r-bw",
    Repeated8x8Sentences = "8x8r-sent",
    Single8x8Black = "8x8u-bw",
    Single8x8Sentences = "8x8u-sent",
    Shrunk6x6Black = "6x6u-bw",
    Shrunk6x6Sentences = "6x6u-sent",
    Fixed5x8Black = "5x8-bw",
    Fixed5x8Sentences = "5x8-sent",
    Fixed6x12Dim = "6x12-dim",
    Fixed8x13Black = "8x13-bw",
    Wide8On16 = "8on16-bw",
    Wide8On22 = "8on22-bw",
    Wide11On16 = "11on16-bw",
    Silver16 = "silver16-bw",
    Columns8On16 = "doc-8on16-bw",
    Columns8On16Sentences = "doc-8on16-sent",
    Columns8On16SentencesDim = "doc-8on16-sent-dim",
}

/// A second name that is accepted for [`Variant::Silver16`].
const WIDE_ALIAS: &str = "wide16-bw";

/// Geometry of a shape, without what it is billed.
struct Look {
    font: FontName,
    cell: (usize, usize),
    stretch: Option<bool>,
    ink: Ink,
    stopword_dim: bool,
    columns: usize,
    line_repeat: usize,
}

impl Variant {
    /// The shape with its own frame size, billed as `family` bills it.
    pub fn shape(self, family: Family) -> Shape {
        self.sized(family, self.frame_size())
    }

    /// The shape with frames of `frame_size` pixels.
    pub fn sized(self, family: Family, frame_size: usize) -> Shape {
        let look = self.look();
        Shape {
            font: look.font,
            cell_width: look.cell.0,
            cell_height: look.cell.1,
            stretch: look.stretch,
            ink: look.ink,
            stopword_dim: look.stopword_dim,
            columns: look.columns,
            line_repeat: look.line_repeat,
            frame_size,
            frame_token_estimate: family.frame_tokens(frame_size, frame_size),
            image_detail: billing::image_detail(family),
        }
    }

    /// Edge of a full frame, in pixels.
    pub fn frame_size(self) -> usize {
        match self {
            Self::Fixed5x8Black | Self::Fixed5x8Sentences => 2576,
            _ => 1568,
        }
    }

    fn look(self) -> Look {
        let plain = |font: FontName, ink| Look {
            font,
            cell: font.natural_cell(),
            stretch: None,
            ink,
            stopword_dim: false,
            columns: 1,
            line_repeat: 1,
        };
        let spaced =
            |cell, ink| Look { cell, stretch: Some(false), ..plain(FontName::Fixed8x13, ink) };
        match self {
            Self::Repeated8x8Black => {
                Look { line_repeat: 2, ..plain(FontName::Unscii8, Ink::Black) }
            }
            Self::Repeated8x8Sentences => {
                Look { line_repeat: 2, ..plain(FontName::Unscii8, Ink::Sentences) }
            }
            Self::Single8x8Black => plain(FontName::Unscii8, Ink::Black),
            Self::Single8x8Sentences => plain(FontName::Unscii8, Ink::Sentences),
            Self::Shrunk6x6Black => Look { cell: (6, 6), ..plain(FontName::Unscii8, Ink::Black) },
            Self::Shrunk6x6Sentences => {
                Look { cell: (6, 6), ..plain(FontName::Unscii8, Ink::Sentences) }
            }
            Self::Fixed5x8Black => plain(FontName::Fixed5x8, Ink::Black),
            Self::Fixed5x8Sentences => plain(FontName::Fixed5x8, Ink::Sentences),
            Self::Fixed6x12Dim => {
                Look { stopword_dim: true, ..plain(FontName::Fixed6x12, Ink::Black) }
            }
            Self::Fixed8x13Black => plain(FontName::Fixed8x13, Ink::Black),
            Self::Wide8On16 => spaced((8, 16), Ink::Black),
            Self::Wide8On22 => spaced((8, 22), Ink::Black),
            Self::Wide11On16 => spaced((11, 16), Ink::Black),
            Self::Silver16 => plain(FontName::Silver, Ink::Black),
            Self::Columns8On16 => Look { columns: 2, ..spaced((8, 16), Ink::Black) },
            Self::Columns8On16Sentences => Look { columns: 2, ..spaced((8, 16), Ink::Sentences) },
            Self::Columns8On16SentencesDim => {
                Look { columns: 2, stopword_dim: true, ..spaced((8, 16), Ink::Sentences) }
            }
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if name == WIDE_ALIAS {
            return Ok(Self::Silver16);
        }
        let found = Self::ALL.iter().find(|variant| variant.as_str() == name);
        found.copied().ok_or_else(|| Error::UnknownShape(name.to_owned()))
    }
}

/// Which shape to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ShapeChoice {
    /// The one that the model reads best, by its id and the text.
    #[default]
    Auto,
    /// This one.
    Fixed(Variant),
}

impl FromStr for ShapeChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if name == "auto" { Ok(Self::Auto) } else { name.parse().map(Self::Fixed) }
    }
}
