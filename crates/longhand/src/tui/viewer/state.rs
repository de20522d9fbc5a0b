//! What the viewer shows, and what keys do to it. Keys and results go in, a drawing and a wish come out.

use std::collections::HashMap;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

use super::graphics::Graphics;
use super::picture::{Layout, Zoom};
use super::pictures::{Key, Made, Order, Pictures};
use super::reel::{Part, PartKind, Reel};
use crate::tui::app::Press;
use crate::tui::theme::Theme;
use crate::tui::wrap::Row;

/// What a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing outside the viewer.
    Stay,
    /// Go back to the transcript.
    Back,
    /// Draw everything anew.
    Repaint,
    /// Give the terminal back until the program is resumed.
    Suspend,
    /// Show a part with the user's program for such files.
    Open(usize),
    /// Write a part to a file.
    Save(usize),
    /// Read a text.
    Read(Wanted),
}

/// A text that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// That of a part.
    Part(usize),
    /// That of the whole archive.
    Source,
}

/// A text that is read.
pub(super) struct Reading {
    pub(super) wanted: Wanted,
    /// `None` until it is there.
    pub(super) text: Option<Result<String, String>>,
    /// The first row that is shown.
    pub(super) from: usize,
    /// Its rows, and the columns that they were laid out for.
    pub(super) laid_out: Option<(usize, Vec<Row>)>,
}

/// The viewer.
pub(crate) struct Viewer {
    pub(super) theme: Theme,
    /// `None` until the archive was read.
    pub(super) reel: Option<Arc<Reel>>,
    /// How frames begin, by part, as far as they were read back.
    pub(super) words: HashMap<usize, String>,
    /// What pictures can be drawn with; `None` until that is known.
    pub(super) graphics: Option<Graphics>,
    /// A place among the parts.
    pub(super) chosen: usize,
    /// The first part on the screen.
    pub(super) first: usize,
    pub(super) zoom: Zoom,
    /// Where the picture's part that is seen begins, in its own pixels.
    pub(super) pan: (u32, u32),
    pub(super) reading: Option<Reading>,
    pub(super) pictures: Pictures,
    /// The picture that the screen shows or waits for.
    pub(super) shown: Option<Key>,
    /// Rows of text or list that fit, as they were last drawn.
    pub(super) page: usize,
    pub(super) notice: Option<String>,
    /// Keys that came before the archive.
    early: Vec<KeyEvent>,
}

impl Viewer {
    /// A viewer of an archive that is being read.
    pub(crate) fn new(theme: &Theme, graphics: Option<Graphics>) -> Self {
        Self {
            theme: *theme,
            reel: None,
            words: HashMap::new(),
            graphics,
            chosen: 0,
            first: 0,
            zoom: Zoom::default(),
            pan: (0, 0),
            reading: None,
            pictures: Pictures::default(),
            shown: None,
            page: 1,
            notice: None,
            early: Vec::new(),
        }
    }

    /// Takes the archive. The newest frame is chosen: it is the one that is looked for most. Gives the keys that came too early, which
    /// are to be pressed again.
    pub(crate) fn take_reel(&mut self, reel: Arc<Reel>) -> Vec<KeyEvent> {
        self.chosen = reel.newest_frame().unwrap_or(0);
        if reel.frame_count() == 0 {
            self.tell("this archive is all text; it has no frames");
        }
        self.reel = Some(reel);
        std::mem::take(&mut self.early)
    }

    /// Takes how a part begins.
    pub(crate) fn take_words(&mut self, part: usize, words: String) {
        self.words.insert(part, words);
    }

    /// Takes a text that was wanted.
    pub(crate) fn take_text(&mut self, wanted: Wanted, text: Result<String, String>) {
        if let Some(reading) = &mut self.reading
            && reading.wanted == wanted
        {
            reading.text = Some(text);
            reading.laid_out = None;
        }
    }

    /// Takes what pictures can be drawn with.
    pub(crate) fn take_graphics(&mut self, graphics: Graphics) {
        self.graphics = Some(graphics);
    }

    /// The picture to make now.
    pub(crate) fn order(&mut self) -> Option<Order> {
        let shown = self.shown.filter(|key| key.graphics != Graphics::Off)?;
        self.pictures.order(shown)
    }

    /// Takes a picture that was ordered.
    pub(crate) fn take_picture(&mut self, order: Order, made: Made) {
        self.pictures.take(order, made);
    }

    /// The terminal has forgotten its pictures.
    pub(crate) fn forget_pictures(&mut self) {
        self.pictures.forget();
    }

    /// Says something until the next key.
    pub(crate) fn tell(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// The text that is read.
    pub(crate) fn wanted_text(&self) -> Option<Wanted> {
        self.reading.as_ref().map(|reading| reading.wanted)
    }

    /// Whether pictures can be drawn as half blocks: these are nothing without colours, and no ASCII.
    pub(crate) fn draws_half_blocks(&self) -> bool {
        self.theme.has_colours() && self.theme.has_unicode()
    }

    /// Begins to read a text.
    pub(crate) fn read(&mut self, wanted: Wanted) {
        self.reading = Some(Reading { wanted, text: None, from: 0, laid_out: None });
    }

    /// Takes what the user did.
    pub(crate) fn press(&mut self, press: &Press) -> Step {
        match press {
            Press::Key(key) => self.key(*key),
            Press::Wheel(rows) => {
                let code = if *rows > 0 { KeyCode::Up } else { KeyCode::Down };
                self.move_by(code);
                Step::Stay
            }
            Press::Paste(_) => Step::Stay,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Step {
        self.notice = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Step::Back,
                KeyCode::Char('l') => Step::Repaint,
                KeyCode::Char('z') => Step::Suspend,
                _ => Step::Stay,
            };
        }
        if key.modifiers.contains(KeyModifiers::ALT) {
            return Step::Stay;
        }
        match key.code {
            KeyCode::Esc => self.back(),
            _ if self.reel.is_none() => {
                self.early.push(key);
                Step::Stay
            }
            KeyCode::Enter => self.enter(),
            KeyCode::Char('o') if self.has_parts() => Step::Open(self.chosen),
            KeyCode::Char('s') if self.has_parts() => Step::Save(self.chosen),
            KeyCode::Char('t') if self.reading.is_none() && self.has_parts() => self.text(),
            code => {
                self.move_by(code);
                Step::Stay
            }
        }
    }

    fn has_parts(&self) -> bool {
        self.reel.as_ref().is_some_and(|reel| !reel.parts.is_empty())
    }

    /// The chosen part.
    pub(super) fn part(&self) -> Option<&Part> {
        self.reel.as_ref()?.parts.get(self.chosen)
    }

    /// Closes what is on top.
    fn back(&mut self) -> Step {
        match self.reading.take() {
            Some(Reading { wanted: Wanted::Source, .. }) => return Step::Back,
            Some(Reading { wanted: Wanted::Part(_), .. }) => {}
            None if self.zoom == Zoom::Whole => return Step::Back,
            None => self.set_zoom(Zoom::Whole),
        }
        Step::Stay
    }

    fn text(&mut self) -> Step {
        let wanted = Wanted::Part(self.chosen);
        self.read(wanted);
        Step::Read(wanted)
    }

    fn enter(&mut self) -> Step {
        if self.reading.is_some() {
            return Step::Stay;
        }
        match self.part().map(|part| &part.kind) {
            Some(PartKind::Head | PartKind::Tail) => return self.text(),
            Some(PartKind::Frame { size_px: Ok(_), .. }) => {}
            Some(PartKind::Frame { .. }) | None => return Step::Stay,
        }
        match self.graphics {
            Some(Graphics::Off) => self.tell("pictures are not drawn here; o opens this one"),
            Some(Graphics::HalfBlocks(_) | Graphics::Pixels(_)) | None => {
                self.set_zoom(match self.zoom {
                    Zoom::Whole => Zoom::Width,
                    Zoom::Width => Zoom::Pixels,
                    Zoom::Pixels => Zoom::Whole,
                });
            }
        }
        Step::Stay
    }

    fn set_zoom(&mut self, zoom: Zoom) {
        self.zoom = zoom;
        if zoom == Zoom::Whole {
            self.pan = (0, 0);
        }
    }

    /// Scrolls the text, pans the picture, or chooses another part.
    fn move_by(&mut self, code: KeyCode) {
        if let Some(reading) = &mut self.reading {
            reading.from = moved(reading.from, code, self.page);
        } else if self.zoom == Zoom::Whole {
            let parts = self.reel.as_ref().map_or(0, |reel| reel.parts.len());
            self.chosen = moved(self.chosen, code, self.page).min(parts.saturating_sub(1));
        } else if let Some(Key { layout, .. }) = self.shown {
            self.pan = panned(&layout, code);
        }
    }

    /// How the chosen picture lies in a box of cells; `None` where there is none, or nothing is known yet.
    pub(super) fn lay_out(&self, room: Size) -> Option<Key> {
        let PartKind::Frame { number, size_px: Ok(size), .. } = &self.part()?.kind else {
            return None;
        };
        let graphics = self.graphics?;
        let layout = Layout::new(*size, room, graphics.cell_px(), self.zoom, self.pan)?;
        Some(Key { number: *number, layout, graphics })
    }
}

/// A place in a list or text after a key. The end is found when it is drawn.
fn moved(place: usize, code: KeyCode, page: usize) -> usize {
    match code {
        KeyCode::Up => place.saturating_sub(1),
        KeyCode::Down => place + 1,
        KeyCode::PageUp => place.saturating_sub(page),
        KeyCode::PageDown => place + page,
        KeyCode::Home => 0,
        // Far beyond every end, and far from the end of numbers.
        KeyCode::End => usize::MAX / 2,
        _ => place,
    }
}

/// Where what is seen begins after a key: arrows move by a quarter of it. Too far is put right when it is drawn.
fn panned(layout: &Layout, code: KeyCode) -> (u32, u32) {
    let [left, top, width, height] = layout.seen;
    let (across, down) = (width.div_ceil(4), height.div_ceil(4));
    match code {
        KeyCode::Left => (left.saturating_sub(across), top),
        KeyCode::Right => (left.saturating_add(across), top),
        KeyCode::Up => (left, top.saturating_sub(down)),
        KeyCode::Down => (left, top.saturating_add(down)),
        KeyCode::PageUp => (left, top.saturating_sub(height)),
        KeyCode::PageDown => (left, top.saturating_add(height)),
        KeyCode::Home => (0, 0),
        KeyCode::End => (left, u32::MAX),
        _ => (left, top),
    }
}
