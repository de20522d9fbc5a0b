//! The whole screen: transcript, news, editor, status line; questions and help above them.

pub(crate) mod item;
pub(crate) mod news;
pub(crate) mod transcript;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::app::{App, Modal};
use super::help;
use super::look::{Detail, Look};
use super::moment::Moment;
use super::panel::Panel;
use super::status_line;
use super::theme::Role;
use super::wrap::{self, Row};

/// A screen smaller than this shows nothing but that it is.
const MIN_COLUMNS: u16 = 20;
const MIN_ROWS: u16 = 6;

/// Below this height there are no news, and the editor has one row.
const SMALL_ROWS: usize = 12;

/// The most rows of the editor, and of the news.
const EDITOR_ROWS: usize = 12;
const NEWS_ROWS: usize = 8;

/// Rows of the transcript that news and menu leave free.
const TRANSCRIPT_ROWS: usize = 3;

/// How long a picture of the spinner stays.
pub(crate) const SPINNER_PERIOD: Duration = Duration::from_millis(100);

/// A drawn screen.
pub(crate) struct Frame {
    /// The cells.
    pub(crate) buffer: Buffer,
    /// Where the terminal's cursor stands; `None` hides it.
    pub(crate) cursor: Option<(u16, u16)>,
}

/// What stands below the transcript, from top to bottom.
struct Bottom {
    rows: Vec<Row>,
    /// Column and row of the caret.
    caret: Option<(usize, usize)>,
}

/// Draws the screen at a moment. The same state at the same moment gives the same cells.
pub(crate) fn frame(app: &mut App, area: Rect, now: Moment) -> Frame {
    let mut buffer = Buffer::empty(area);
    if area.width < MIN_COLUMNS || area.height < MIN_ROWS {
        wrap::draw(&mut buffer, area.x, area.y, &Row::from("terminal too small"));
        return Frame { buffer, cursor: None };
    }
    let theme = app.theme;
    let look = Look {
        theme: &theme,
        columns: usize::from(area.width),
        detail: Detail::Collapsed,
        phase: now.phase(SPINNER_PERIOD, theme.symbols.spinner.len()),
    };
    let height = usize::from(area.height);
    if let Some(Modal::Help { from }) = &mut app.modal {
        draw_rows(&mut buffer, 0, &help::rows(from, height, &look));
        return Frame { buffer, cursor: None };
    }
    let bottom = bottom(app, height, now, &look);
    let transcript_rows = height.saturating_sub(bottom.rows.len());
    app.transcript_size = (transcript_rows.max(1), look.columns);
    draw_transcript(app, &mut buffer, transcript_rows, &look);
    draw_rows(&mut buffer, transcript_rows, &bottom.rows);
    let cursor = bottom.caret.map(|(x, y)| {
        let x = area.x + (x as u16).min(area.width - 1);
        (x, area.y + (transcript_rows + y) as u16)
    });
    Frame { buffer, cursor }
}

fn draw_rows(buffer: &mut Buffer, top: usize, rows: &[Row]) {
    for (i, row) in rows.iter().enumerate() {
        wrap::draw(buffer, buffer.area.x, buffer.area.y + (top + i) as u16, row);
    }
}

fn draw_transcript(app: &mut App, buffer: &mut Buffer, height: usize, look: &Look<'_>) {
    let window = app.transcript.window(&app.view, look, height);
    for (i, row) in window.rows.iter().enumerate() {
        let y = buffer.area.y + i as u16;
        wrap::draw(buffer, buffer.area.x, y, row);
        if window.in_focus[i] && !row.spans.is_empty() {
            let mark = Row::from(vec![look.piece(look.theme.symbols.frame[0], Role::Accent)]);
            wrap::draw(buffer, buffer.area.x, y, &mark);
        }
    }
    if window.new_items > 0 && height > 0 {
        let down = look.theme.symbols.down;
        let text = format!(" {down} {} new ", window.new_items);
        let row = wrap::justify(Vec::new(), vec![look.piece(text, Role::Selected)], look.columns);
        let blank = Row::from(Span::raw(" ".repeat(look.columns)));
        let y = buffer.area.y + (height - 1) as u16;
        wrap::draw(buffer, buffer.area.x, y, &blank);
        wrap::draw(buffer, buffer.area.x, y, &row);
    }
}

fn bottom(app: &mut App, height: usize, now: Moment, look: &Look<'_>) -> Bottom {
    let status = status_line::row(&app.view, &app.around, look);
    if let Some((_, question)) = app.view.approvals.front() {
        let (mut rows, caret) = app.approval.rows(question, height - 1, look);
        // A box that is too tall keeps its end, where the answers are.
        let cut = rows.len().saturating_sub(height - 1);
        rows.drain(..cut);
        rows.push(status);
        let caret = caret.and_then(|(x, y)| Some((x, y.checked_sub(cut)?)));
        return Bottom { rows, caret };
    }
    if let Some(Modal::AbortAndCompact(_)) = &app.modal {
        let mut rows = abort_question(look);
        rows.push(status);
        return Bottom { rows, caret: None };
    }
    let is_small = height < SMALL_ROWS;
    let max_editor = if is_small { 1 } else { EDITOR_ROWS.min(height / 2) };
    let (editor, (x, y)) = app.editor.view(look.theme.symbols.prompt, max_editor, look);
    // Rule above the editor, and the status line.
    let free = height.saturating_sub(editor.len() + 2 + TRANSCRIPT_ROWS);
    let menu = app.menu().filter(|_| free >= 2);
    let menu = menu.map_or_else(Vec::new, |menu| menu.rows(app.menu_chosen, free, look));
    let mut rows = if is_small {
        Vec::new()
    } else {
        news::rows(app, NEWS_ROWS.min(free - menu.len()), now, look)
    };
    rows.push(Row::from(vec![
        look.piece(look.theme.symbols.rule.repeat(look.columns), Role::Border),
    ]));
    let caret = Some((x, rows.len() + y));
    rows.extend(editor);
    rows.extend(menu);
    rows.push(status);
    Bottom { rows, caret }
}

fn abort_question(look: &Look<'_>) -> Vec<Row> {
    let mut panel = Panel::new("Stop the running turn and compact?", look);
    let dot = look.theme.symbols.dot;
    let text = format!("y or enter: stop and compact {dot} n or esc: go on");
    panel.push(Row::from(vec![look.piece(text, Role::Text)]));
    panel.finish()
}
