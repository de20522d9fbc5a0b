//! Colours by role. Code that draws names what a thing is; only this file knows how that looks.
//!
//! Colours are the sixteen that every terminal's own palette defines, and the default foreground is left alone, so a light terminal
//! and a dark one both look right. No meaning rests on a colour alone: signs and words carry it too.

use ratatui::style::{Color, Modifier, Style};

use super::symbols::{self, Symbols};

/// What a piece of the screen is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Plain text.
    Text,
    /// Text of less weight.
    Muted,
    /// Text that may be skipped.
    Dim,
    /// What the eye should find first.
    Accent,
    /// Rules and boxes.
    Border,
    /// Something went well.
    Success,
    /// Something may need attention.
    Warning,
    /// Between a warning and an error: the context is nearly full.
    High,
    /// Something failed.
    Error,
    /// What the user said.
    UserMessage,
    /// Messages of extensions.
    CustomMessage,
    /// The model's reasoning.
    Thinking,
    /// The chosen row of a list.
    Selected,
    /// The name of a tool.
    ToolName,
    /// An added line.
    DiffAdd,
    /// A removed line.
    DiffRemove,
    /// A heading.
    Heading,
    /// A link's text.
    Link,
    /// Code.
    Code,
    /// A quote.
    Quote,
}

/// Which palette is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Palette {
    /// For light text on a dark background.
    #[default]
    Dark,
    /// For dark text on a light background.
    Light,
    /// No colours: `NO_COLOR` is set, or the user asked for none.
    Mono,
}

/// Which glyphs are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SymbolSet {
    /// Unicode.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// How everything looks. Two themes that are equal draw equal frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    palette: Palette,
    /// The glyphs.
    pub(crate) symbols: Symbols,
}

impl Theme {
    /// A palette with a set of glyphs.
    pub(crate) fn new(palette: Palette, symbols: SymbolSet) -> Self {
        let symbols = match symbols {
            SymbolSet::Unicode => symbols::UNICODE,
            SymbolSet::Ascii => symbols::ASCII,
        };
        Self { palette, symbols }
    }

    /// Whether there are colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.palette != Palette::Mono
    }

    /// Whether glyphs beyond ASCII are drawn.
    pub(crate) fn has_unicode(&self) -> bool {
        self.symbols == symbols::UNICODE
    }

    /// The style of a role.
    pub(crate) fn style(&self, role: Role) -> Style {
        match self.palette {
            Palette::Dark => colour(role, DARK),
            Palette::Light => colour(role, LIGHT),
            Palette::Mono => mono(role),
        }
    }
}

/// The colours in which two palettes of the same shape differ.
#[derive(Clone, Copy)]
struct Hues {
    muted: Color,
    dim: Color,
    accent: Color,
    warning: Color,
    high: Color,
    code: Color,
}

const DARK: Hues = Hues {
    muted: Color::Gray,
    dim: Color::DarkGray,
    accent: Color::Cyan,
    warning: Color::Yellow,
    high: Color::LightRed,
    code: Color::LightBlue,
};

/// Yellow and the light colours vanish on white.
const LIGHT: Hues = Hues {
    muted: Color::DarkGray,
    dim: Color::DarkGray,
    accent: Color::Blue,
    warning: Color::Magenta,
    high: Color::Red,
    code: Color::Blue,
};

fn colour(role: Role, hues: Hues) -> Style {
    let plain = Style::new();
    match role {
        Role::Text => plain,
        Role::Muted => plain.fg(hues.muted),
        Role::Dim | Role::Border => plain.fg(hues.dim),
        Role::Accent | Role::CustomMessage => plain.fg(hues.accent),
        Role::Success | Role::DiffAdd => plain.fg(Color::Green),
        Role::Warning => plain.fg(hues.warning),
        Role::High => plain.fg(hues.high),
        Role::Error => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        Role::DiffRemove => plain.fg(Color::Red),
        Role::UserMessage | Role::ToolName => plain.add_modifier(Modifier::BOLD),
        Role::Thinking => plain.fg(hues.dim).add_modifier(Modifier::ITALIC),
        Role::Selected => plain.add_modifier(Modifier::REVERSED),
        Role::Heading => plain.fg(hues.accent).add_modifier(Modifier::BOLD),
        Role::Link => plain.fg(hues.accent).add_modifier(Modifier::UNDERLINED),
        Role::Code => plain.fg(hues.code),
        Role::Quote => plain.fg(hues.muted).add_modifier(Modifier::ITALIC),
    }
}

fn mono(role: Role) -> Style {
    let plain = Style::new();
    match role {
        Role::Text
        | Role::Muted
        | Role::Code
        | Role::DiffAdd
        | Role::DiffRemove
        | Role::CustomMessage
        | Role::Success => plain,
        Role::Dim | Role::Border => plain.add_modifier(Modifier::DIM),
        Role::Accent
        | Role::Warning
        | Role::High
        | Role::Error
        | Role::UserMessage
        | Role::ToolName
        | Role::Heading => plain.add_modifier(Modifier::BOLD),
        Role::Thinking | Role::Quote => plain.add_modifier(Modifier::ITALIC),
        Role::Selected => plain.add_modifier(Modifier::REVERSED),
        Role::Link => plain.add_modifier(Modifier::UNDERLINED),
    }
}
