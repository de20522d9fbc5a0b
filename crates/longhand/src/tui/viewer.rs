//! The frame viewer: what a compaction printed, picture by picture, as the model gets it.
//!
//! An archive is read when the viewer opens, and let go when it closes. Everything slow (reading, reading back, scaling, encoding) is
//! done by workers; the viewer draws what is there.

mod draw;
pub(crate) mod files;
pub(crate) mod graphics;
pub(crate) mod picture;
pub(crate) mod pictures;
pub(crate) mod query;
pub(crate) mod reel;
pub(crate) mod source;
mod state;
pub(crate) mod workers;

use files::Outlet;
use graphics::Hints;
use source::Shelf;

pub(crate) use state::{Step, Viewer, Wanted};

/// What the viewer is told besides the archive.
#[derive(Debug, Clone)]
pub(crate) struct ViewerOptions {
    /// Where archives lie.
    pub(crate) shelf: Shelf,
    /// Where files go.
    pub(crate) outlet: Outlet,
    /// What the environment says of the terminal.
    pub(crate) hints: Hints,
    /// Whether the user wants pictures.
    pub(crate) images: Images,
}

/// Whether pictures are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Images {
    /// As well as the terminal can.
    Shown,
    /// Not at all.
    Off,
}

/// What is done first when an archive is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Its parts are listed.
    List,
    /// Its text is read.
    Text,
    /// Its newest frame is shown by the user's program for pictures.
    File,
}
