//! How the viewer is drawn: the list over the chosen picture, the picture alone, or a text.

use longhand_session::time::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Color;
use ratatui::widgets::Widget;
use ratatui_image::Image;

use super::graphics::{Colours, Graphics};
use super::picture::Zoom;
use super::pictures::Key;
use super::reel::{Class, Part, PartKind, Reel};
use super::state::{Reading, Viewer, Wanted};
use crate::tui::look::{Detail, Look};
use crate::tui::panel::Panel;
use crate::tui::render::Frame;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::tokens;
use crate::tui::width;
use crate::tui::wrap::{self, Indent, Row};

/// A screen smaller than this shows nothing but that it is.
const MIN_COLUMNS: u16 = 20;
const MIN_ROWS: u16 = 6;

/// Rows of the box besides list and picture: edges, the rule between the two, the rule above the keys, the keys.
const OTHER_ROWS: usize = 5;

/// Rows of the box besides a text.
const TEXT_OTHER_ROWS: usize = 4;

/// A picture of fewer rows shows nothing; the list takes its room.
const LEAST_PICTURE_ROWS: usize = 4;

/// The part of the screen that the list takes where there is a picture below it: one in this many.
const LIST_SHARE: usize = 3;

/// Columns below which sizes and first words go.
const NARROW: usize = 60;

/// Columns of the edge of the box, and of the blank beside it.
const EDGE: u16 = 2;

impl Viewer {
    /// Draws the viewer, and learns what fits on the screen.
    pub(crate) fn frame(&mut self, area: Rect) -> Frame {
        let mut buffer = Buffer::empty(area);
        self.shown = None;
        if area.width < MIN_COLUMNS || area.height < MIN_ROWS {
            wrap::draw(&mut buffer, 0, 0, &Row::from("terminal too small"));
            return Frame { buffer, cursor: None };
        }
        let theme = self.theme;
        let columns = usize::from(area.width);
        let look = Look { theme: &theme, columns, detail: Detail::Collapsed, phase: 0 };
        if self.reading.is_some() {
            self.draw_text(&mut buffer, &look);
        } else if self.zoom == Zoom::Whole {
            self.draw_list(&mut buffer, &look);
        } else {
            self.draw_zoomed(&mut buffer, &look);
        }
        Frame { buffer, cursor: None }
    }

    fn draw_list(&mut self, buffer: &mut Buffer, look: &Look<'_>) {
        let body = usize::from(buffer.area.height) - OTHER_ROWS;
        let (list_rows, below_rows) = self.share(body);
        self.scroll(list_rows);
        let mut panel = Panel::new(self.title(), look);
        let columns = panel.inner_columns();
        for row in self.list(list_rows, look, columns) {
            panel.push(row);
        }
        let mut picture_top = None;
        if below_rows > 0 {
            panel.rule();
            picture_top = Some(panel.len() + 1);
            let below = self.below(below_rows, look, columns);
            let blank = below_rows - below.len();
            panel.extend(below);
            panel.extend(std::iter::repeat_n(Row::default(), blank));
        }
        panel.rule();
        panel.push(self.bottom(look, columns));
        draw_rows(buffer, &panel.finish());
        if let Some(top) = picture_top {
            let room = Rect::new(EDGE, top as u16, columns as u16, below_rows as u16);
            self.draw_picture(buffer, room, look);
        }
    }

    /// Rows of the list, and of what is below it. Without room for a picture the list takes it, and the rule that would part them.
    fn share(&self, body: usize) -> (usize, usize) {
        let parts = self.reel.as_ref().map_or(1, |reel| reel.parts.len().max(1));
        let list = parts.min((body / LIST_SHARE).max(2));
        match body.checked_sub(list) {
            Some(below) if below >= LEAST_PICTURE_ROWS => (list, below),
            _ => (body + 1, 0),
        }
    }

    fn title(&self) -> String {
        let dot = format!(" {} ", self.theme.symbols.dot);
        let mut parts = vec!["Frames".to_owned()];
        if let Some(reel) = &self.reel {
            parts.push(reel.entry.to_string());
            // Minutes are enough: `2026-11-28 14:03`.
            let time = Timestamp::from_millis(reel.at_millis).to_string();
            parts.push(time.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect());
        }
        parts.join(&dot)
    }

    fn list(&self, rows: usize, look: &Look<'_>, columns: usize) -> Vec<Row> {
        let mut list: Vec<Row> = match &self.reel {
            None => vec![Row::from(vec![look.piece("reading the archive…", Role::Dim)])],
            Some(reel) => {
                let seen = reel.parts.iter().enumerate().skip(self.first).take(rows);
                seen.map(|(at, part)| self.row(reel, at, part, look, columns)).collect()
            }
        };
        list.resize(rows, Row::default());
        list
    }

    fn row(&self, reel: &Reel, at: usize, part: &Part, look: &Look<'_>, columns: usize) -> Row {
        let symbols = &look.theme.symbols;
        let is_chosen = at == self.chosen;
        let mark = if is_chosen { symbols.chosen } else { " " };
        let role = if is_chosen { Role::Selected } else { Role::Text };
        let digits = reel.parts.len().to_string().len();
        let is_wide = columns >= NARROW;
        let name = format!("{mark} {:>digits$} {:<9}", at + 1, name(part, reel.frame_count()));
        let mut pieces = vec![look.piece(name, role)];
        if let PartKind::Frame { size_px: Err(why), .. } = &part.kind {
            pieces.push(look.piece(format!(" {}", sanitize::one_line(why)), Role::Warning));
            return wrap::fit(pieces, columns);
        }
        let price = part.tokens.map_or_else(String::new, |n| format!("{} tok", tokens::grouped(n)));
        let (size, class) = match &part.kind {
            PartKind::Frame { size_px: Ok((width, height)), class, .. } => {
                (format!("{width}{}{height}", symbols.times), class_name(*class))
            }
            PartKind::Frame { .. } | PartKind::Head | PartKind::Tail => (String::new(), ""),
        };
        let facts = if is_wide {
            format!(" {size:<9}  {class:<2} {price:>10}  ")
        } else {
            format!(" {size:<9} {class:<2} {price}")
        };
        pieces.push(look.piece(facts, Role::Muted));
        if is_wide {
            let words = match &part.kind {
                PartKind::Head => "oldest edge, verbatim".to_owned(),
                PartKind::Tail => "newest edge, verbatim".to_owned(),
                PartKind::Frame { .. } => {
                    let words = self.words.get(&at).map(|words| sanitize::one_line(words));
                    words.map_or_else(String::new, |words| format!("\"{words}\""))
                }
            };
            pieces.push(look.piece(words, Role::Dim));
        }
        wrap::fit(pieces, columns)
    }

    /// What stands below the list where there is no picture.
    fn below(&self, rows: usize, look: &Look<'_>, columns: usize) -> Vec<Row> {
        let Some((reel, part)) = self.reel.as_ref().zip(self.part()) else { return Vec::new() };
        let (text, role) = match &part.kind {
            PartKind::Head | PartKind::Tail => {
                // More could not be shown, and all of it may be long.
                let text = reel.text(&part.kind).unwrap_or_default();
                (text.chars().take(rows * columns).collect(), Role::Text)
            }
            PartKind::Frame { size_px: Err(why), .. } => (why.clone(), Role::Warning),
            PartKind::Frame { .. } => {
                (self.instead_of_picture(part).unwrap_or_default(), Role::Muted)
            }
        };
        let text = sanitize::text(&text);
        let mut below = wrap::wrap_text(&text, look.style(role), columns, &Indent::default());
        below.truncate(rows);
        below
    }

    /// A line that stands for a picture where none is drawn.
    fn instead_of_picture(&self, part: &Part) -> Option<String> {
        let PartKind::Frame { size_px: Ok((width, height)), .. } = &part.kind else { return None };
        let times = self.theme.symbols.times;
        let dot = self.theme.symbols.dot;
        (self.graphics == Some(Graphics::Off)).then(|| {
            let price = tokens::grouped(part.tokens.unwrap_or(0));
            format!("[image {width}{times}{height} png, {price} tok {dot} o open {dot} s save]")
        })
    }

    fn draw_picture(&mut self, buffer: &mut Buffer, room: Rect, look: &Look<'_>) {
        let Some(key) = self.lay_out(Size::new(room.width, room.height)) else { return };
        if key.graphics == Graphics::Off {
            return;
        }
        self.shown = Some(key);
        let [left, top, ..] = key.layout.seen;
        self.pan = if self.zoom == Zoom::Whole { (0, 0) } else { (left, top) };
        let cells = key.layout.cells;
        let place = Rect::new(room.x, room.y, cells.width, cells.height);
        match self.pictures.get(&key) {
            Some(Ok(Some(picture))) => {
                Image::new(picture).render(place, buffer);
                settle_colours(buffer, place, &key);
            }
            Some(Err(why)) => {
                let text = format!("the picture cannot be drawn: {}", sanitize::one_line(why));
                let row = wrap::fit(vec![look.piece(text, Role::Warning)], room.width.into());
                wrap::draw(buffer, room.x, room.y, &row);
            }
            Some(Ok(None)) | None => {
                let blank = look.theme.symbols.bar[1].repeat(cells.width.into());
                let row = Row::from(vec![look.piece(blank, Role::Dim)]);
                for y in place.top()..place.bottom() {
                    wrap::draw(buffer, place.x, y, &row);
                }
            }
        }
    }

    fn draw_zoomed(&mut self, buffer: &mut Buffer, look: &Look<'_>) {
        let area = buffer.area;
        let room = Rect::new(0, 0, area.width, area.height - 1);
        self.page = usize::from(room.height);
        self.draw_picture(buffer, room, look);
        let row = self.bottom(look, look.columns);
        wrap::draw(buffer, 0, area.height - 1, &row);
    }

    fn draw_text(&mut self, buffer: &mut Buffer, look: &Look<'_>) {
        let height = usize::from(buffer.area.height);
        let Some(reading) = &mut self.reading else { return };
        let of = match (&self.reel, reading.wanted) {
            (Some(reel), Wanted::Part(at)) => name(&reel.parts[at], reel.frame_count()),
            (_, Wanted::Source | Wanted::Part(_)) => "source".to_owned(),
        };
        let mut panel = Panel::new(format!("Text {} {of}", look.theme.symbols.dot), look);
        let columns = panel.inner_columns();
        let shown = height - TEXT_OTHER_ROWS;
        self.page = shown;
        let from = reading.from;
        let rows = reading.rows(columns, look);
        let from = from.min(rows.len().saturating_sub(shown));
        let count = rows.len();
        panel.extend(rows.iter().skip(from).take(shown).cloned());
        reading.from = from;
        let place = if count > shown { format!("{}/{count}", from + 1) } else { String::new() };
        while panel.len() < shown {
            panel.push(Row::default());
        }
        panel.rule();
        panel.push(self.bottom_with(&place, look, columns));
        draw_rows(buffer, &panel.finish());
    }

    fn bottom(&self, look: &Look<'_>, columns: usize) -> Row {
        let parts = self.reel.as_ref().map_or(0, |reel| reel.parts.len());
        let place = if parts > 0 { format!("{}/{parts}", self.chosen + 1) } else { String::new() };
        self.bottom_with(&place, look, columns)
    }

    /// The keys, or what is to be said instead of them.
    fn bottom_with(&self, place: &str, look: &Look<'_>, columns: usize) -> Row {
        if let Some(notice) = &self.notice {
            let notice = sanitize::one_line(notice).into_owned();
            return wrap::fit(vec![look.piece(notice, Role::Warning)], columns);
        }
        let arrows = look.theme.symbols.up_down;
        let (first, enter) = match (&self.reading, self.zoom) {
            (Some(_), _) => (format!("{arrows} scroll"), ""),
            (None, Zoom::Whole) => (format!("{arrows} select"), "enter zoom|"),
            (None, Zoom::Width) => ("arrows pan".to_owned(), "enter 1:1|"),
            (None, Zoom::Pixels) => ("arrows pan".to_owned(), "enter list|"),
        };
        let (text, short_text) = if self.reading.is_some() { ("", "") } else { ("t text|", "t|") };
        let dot = format!(" {} ", look.theme.symbols.dot);
        let keys = format!("{first}|{enter}o open|s save|{text}esc back").replace('|', &dot);
        let short = format!("{enter}o|s|{short_text}esc").replace('|', &dot);
        let room = columns.saturating_sub(width::of(place) + 2);
        let keys = if width::of(&keys) <= room { keys } else { short };
        let keys = vec![look.piece(width::fit(&keys, room).into_owned(), Role::Dim)];
        wrap::justify(keys, vec![look.piece(place.to_owned(), Role::Dim)], columns)
    }

    fn scroll(&mut self, rows: usize) {
        self.page = rows;
        if self.chosen < self.first {
            self.first = self.chosen;
        }
        if self.chosen >= self.first + rows {
            self.first = self.chosen + 1 - rows;
        }
        let parts = self.reel.as_ref().map_or(0, |reel| reel.parts.len());
        self.first = self.first.min(parts.saturating_sub(rows));
    }
}

impl Reading {
    /// The text in rows. Laid out once for a width: a text may have thousands of rows, and is scrolled by key.
    fn rows(&mut self, columns: usize, look: &Look<'_>) -> &[Row] {
        if self.laid_out.as_ref().is_none_or(|(for_columns, _)| *for_columns != columns) {
            let (text, role) = match &self.text {
                None => ("reading…".into(), Role::Dim),
                Some(Ok(text)) => (sanitize::text(text), Role::Text),
                Some(Err(why)) => (sanitize::one_line(why), Role::Warning),
            };
            let rows = wrap::wrap_text(&text, look.style(role), columns, &Indent::default());
            self.laid_out = Some((columns, rows));
        }
        self.laid_out.as_ref().map_or(&[], |(_, rows)| rows)
    }
}

fn draw_rows(buffer: &mut Buffer, rows: &[Row]) {
    for (y, row) in rows.iter().take(usize::from(buffer.area.height)).enumerate() {
        wrap::draw(buffer, 0, y as u16, row);
    }
}

fn name(part: &Part, frames: usize) -> String {
    match part.kind {
        PartKind::Head => "head text".to_owned(),
        PartKind::Tail => "tail text".to_owned(),
        PartKind::Frame { number, .. } => {
            let digits = frames.to_string().len().max(2);
            format!("frame {:0digits$}", number + 1)
        }
    }
}

fn class_name(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::High) => "HQ",
        Some(Class::Low) => "LQ",
        None => "",
    }
}

/// Half blocks in the colours that the terminal has.
fn settle_colours(buffer: &mut Buffer, place: Rect, key: &Key) {
    if key.graphics != Graphics::HalfBlocks(Colours::Indexed) {
        return;
    }
    for position in place.positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            (cell.fg, cell.bg) = (indexed(cell.fg), indexed(cell.bg));
        }
    }
}

/// The nearest colour of the common palette: its greys, or its cube of six steps a side.
fn indexed(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let step = |part: u8| match part {
        0..=47 => 0,
        48..=114 => 1,
        part => (part - 35) / 40,
    };
    let spread = red.max(green).max(blue) - red.min(green).min(blue);
    Color::Indexed(match red {
        // The greys lie between the cube's black and white.
        grey @ 4..=246 if spread < 8 => 232 + (grey.saturating_sub(3) / 10).min(23),
        _ => 16 + 36 * step(red) + 6 * step(green) + step(blue),
    })
}
