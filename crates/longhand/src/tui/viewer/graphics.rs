//! How pictures are drawn in this terminal. Decided from what it answers, never from `TERM` alone.

use longhand_coding_agent::environment::Environment;

use super::query::{Answers, KittyPictures};

/// Pixels of a half block's cell: one beside another none, two on top of each other.
const HALF_BLOCK_PX: (u16, u16) = (1, 2);

/// How pictures are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Graphics {
    /// Not at all: the user wants none, or there are no colours to draw them with.
    Off,
    /// As cells of two colours each.
    HalfBlocks(Colours),
    /// As pixels.
    Pixels(Pixels),
}

/// Which colours cells can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Colours {
    /// All.
    True,
    /// The 256 of the common palette.
    #[default]
    Indexed,
}

/// A protocol for pictures, and the size of a cell in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pixels {
    /// How pictures are sent.
    pub(crate) protocol: Protocol,
    /// Width and height of a cell.
    pub(crate) cell_px: (u16, u16),
}

/// How pictures are sent to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Kitty graphics, placed by characters.
    Kitty {
        /// Whether pictures may come compressed.
        inflates: bool,
    },
    /// Inline images of iTerm2.
    Iterm2,
    /// Sixels.
    Sixel,
}

impl Graphics {
    /// The same with cells of another size: the user has changed the font.
    pub(crate) fn resized(self, cell_px: (u16, u16)) -> Self {
        match self {
            Self::Pixels(Pixels { protocol, .. }) => Self::Pixels(Pixels { protocol, cell_px }),
            Self::Off | Self::HalfBlocks(_) => self,
        }
    }

    /// Pixels of a cell.
    pub(crate) fn cell_px(self) -> (u16, u16) {
        match self {
            Self::Off | Self::HalfBlocks(_) => HALF_BLOCK_PX,
            Self::Pixels(pixels) => pixels.cell_px,
        }
    }
}

/// What the environment says of the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hints {
    /// A multiplexer stands between the program and the terminal. It keeps no pictures.
    pub(crate) is_multiplexed: bool,
    /// The terminal calls itself one that knows inline images.
    names_iterm2: bool,
    /// It is known to answer for more of the kitty protocol than it draws.
    overstates_kitty: bool,
    colours: Colours,
}

impl Hints {
    /// Reads the environment.
    pub(crate) fn of(environment: &Environment) -> Self {
        let var = |name: &str| environment.var(name).unwrap_or_default();
        let is_set = |name: &str| environment.var(name).is_some();
        let term = var("TERM");
        let major = |version: &str| version.split('.').next().and_then(|n| n.parse::<u64>().ok());
        // The oldest that places a picture without moving the cursor.
        let is_iterm2 = (var("TERM_PROGRAM") == "iTerm.app"
            && major(var("TERM_PROGRAM_VERSION")).is_some_and(|version| version >= 3))
            || var("LC_TERMINAL") == "iTerm2"
                && major(var("LC_TERMINAL_VERSION")).is_some_and(|version| version >= 3);
        let overstates_kitty = is_set("WEZTERM_EXECUTABLE") || is_set("KONSOLE_VERSION");
        Self {
            is_multiplexed: is_set("TMUX")
                || is_set("STY")
                || is_set("ZELLIJ")
                || term.starts_with("tmux")
                || term.starts_with("screen"),
            names_iterm2: is_iterm2 || overstates_kitty,
            overstates_kitty,
            colours: match var("COLORTERM") {
                "truecolor" | "24bit" => Colours::True,
                _ => Colours::Indexed,
            },
        }
    }

    /// How pictures are drawn where nothing is known of the terminal.
    pub(crate) fn half_blocks(&self) -> Graphics {
        Graphics::HalfBlocks(self.colours)
    }

    /// How pictures are drawn. `cell_px` is the size of a cell that the operating system knows; without any size only half blocks
    /// can be laid out.
    pub(crate) fn choose(&self, answers: &Answers, cell_px: Option<(u16, u16)>) -> Graphics {
        let Some(cell_px) = cell_px.or(answers.cell_px) else { return self.half_blocks() };
        let name = answers.name.as_deref().unwrap_or_default();
        let overstates_kitty = match name {
            "" => self.overstates_kitty,
            name => name.starts_with("WezTerm") || name.starts_with("Konsole"),
        };
        let names_iterm2 = match name {
            "" => self.names_iterm2,
            name => overstates_kitty || name.starts_with("iTerm2"),
        };
        let protocol = match answers.kitty {
            KittyPictures::Plain if !overstates_kitty => Protocol::Kitty { inflates: false },
            KittyPictures::Compressed if !overstates_kitty => Protocol::Kitty { inflates: true },
            _ if names_iterm2 => Protocol::Iterm2,
            _ if answers.has_sixel => Protocol::Sixel,
            _ => return self.half_blocks(),
        };
        Graphics::Pixels(Pixels { protocol, cell_px })
    }
}
