//! What the editor's text is made of: pieces that the cursor never enters.

use std::sync::Arc;

use super::paste::Paste;
use crate::tui::width;

/// Columns of a tab: its real stops would move with every key.
const TAB: &str = "    ";

/// A piece of the text that the cursor and deletion take whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unit {
    /// A grapheme cluster.
    Cluster(Box<str>),
    /// A line end.
    Break,
    /// A long paste, shown as a token.
    Paste(Arc<Paste>),
}

/// What a unit is to word moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    Word,
    /// Signs, each kind for itself; a paste is a sign of its own.
    Sign,
}

impl Unit {
    /// As it is drawn; a line end draws nothing.
    pub(super) fn shown(&self) -> &str {
        match self {
            Self::Cluster(text) if &**text == "\t" => TAB,
            Self::Cluster(text) => text,
            Self::Break => "",
            Self::Paste(paste) => paste.label(),
        }
    }

    /// Columns as it is drawn.
    pub(super) fn columns(&self) -> usize {
        width::of(self.shown())
    }

    /// As it is sent.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Cluster(text) => text,
            Self::Break => "\n",
            Self::Paste(paste) => paste.text(),
        }
    }

    pub(super) fn class(&self) -> Class {
        match self {
            Self::Break => Class::Blank,
            Self::Paste(_) => Class::Sign,
            Self::Cluster(text) => match text.chars().next() {
                Some(c) if c.is_whitespace() => Class::Blank,
                Some(c) if c.is_alphanumeric() || c == '_' => Class::Word,
                _ => Class::Sign,
            },
        }
    }
}

/// Text as units. Line ends of all kinds become one; other controls but tabs are left out.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    width::clusters(&text)
        .filter_map(|cluster| match cluster {
            "\n" => Some(Unit::Break),
            "\t" => Some(Unit::Cluster(cluster.into())),
            _ if cluster.starts_with(char::is_control) => None,
            _ => Some(Unit::Cluster(cluster.into())),
        })
        .collect()
}

/// Units as they are sent.
pub(super) fn text(units: &[Unit]) -> String {
    units.iter().map(Unit::text).collect()
}
