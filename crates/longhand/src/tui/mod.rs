//! The interactive terminal: full screen, with its own scrolling.
//!
//! A view, and nothing more: [`view_state`] is a pure fold over the session's events, [`app`] turns keys into effects, [`render`] draws
//! cells, and [`mod@run`] is the thin shell that owns terminal, clock and session. No maintenance decision, token count or session file is
//! touched here.

mod app;
mod approval;
mod commands;
mod completion;
mod courier;
mod divider;
mod draft;
mod editor;
mod farewell;
mod first_run;
mod help;
mod input;
mod key_reader;
mod keys;
mod late_answers;
mod look;
mod markdown;
mod moment;
mod pace;
mod panel;
mod picker;
mod render;
mod run;
mod sanitize;
mod status_line;
mod symbols;
mod terminal;
mod theme;
mod tokens;
mod tool_card;
mod view_state;
mod viewer;
mod width;
mod wrap;

#[cfg(test)]
mod tests;

pub(crate) use draft::KeptDraft;
pub(crate) use farewell::print as print_farewell;
pub(crate) use first_run::{Choice, FirstRunOptions, KeyState, first_run};
pub(crate) use key_reader::KeyReader;
pub(crate) use picker::{Desk, Picked, pick};
pub(crate) use run::{Next, TuiOptions, run};
pub(crate) use status_line::{Surroundings, folder_name};
pub(crate) use terminal::Screen;
pub(crate) use theme::{Palette, SymbolSet, Theme};
pub(crate) use viewer::files::Outlet;
pub(crate) use viewer::graphics::Hints;
pub(crate) use viewer::source::Shelf;
pub(crate) use viewer::{Images, ViewerOptions};
