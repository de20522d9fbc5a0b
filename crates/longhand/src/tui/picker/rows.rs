//! How the list is drawn: two rows a session, in a box over the whole screen.

use std::time::SystemTime;

use longhand_session::digits::grouped;
use longhand_session::listing::{SessionRow, Status};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Shown;
use super::list::Picker;
use crate::tui::look::{Detail, Look};
use crate::tui::panel::Panel;
use crate::tui::render::Frame;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::width;
use crate::tui::wrap::{self, Row};

/// Rows of the box besides the sessions: edges, search, rule, rule, keys.
const OTHER_ROWS: usize = 6;

/// Rows of a session.
const SESSION_ROWS: usize = 2;

/// Columns below which a session's facts go.
const NARROW: usize = 60;

impl Picker {
    /// Draws the list.
    pub(crate) fn frame(&mut self, area: Rect) -> Frame {
        let theme = self.theme;
        let columns = usize::from(area.width);
        let look = Look { theme: &theme, columns, detail: Detail::Collapsed, phase: 0 };
        let height = usize::from(area.height);
        let sessions = (height.saturating_sub(OTHER_ROWS) / SESSION_ROWS).max(1);
        self.scroll(sessions);
        let mut panel = Panel::new(self.title(), &look);
        let caret = self.search_row(&mut panel, &look);
        panel.rule();
        for row in self.list(sessions, &look, panel.inner_columns()) {
            panel.push(row);
        }
        while panel.len() + 4 < height {
            panel.push(Row::default());
        }
        panel.rule();
        panel.push(self.bottom(&look, panel.inner_columns()));
        let mut buffer = Buffer::empty(area);
        for (at, row) in panel.finish().iter().take(height).enumerate() {
            wrap::draw(&mut buffer, 0, at as u16, row);
        }
        let x = (caret + 2).min(columns.saturating_sub(1)) as u16;
        Frame { buffer, cursor: Some((x, 1)) }
    }

    fn title(&self) -> String {
        let scope = match self.shown {
            Shown::Folder => "this folder",
            Shown::All => "all folders",
        };
        format!("Resume session {} {scope}", self.theme.symbols.dot)
    }

    /// The search, and how many columns stand before its caret.
    fn search_row(&self, panel: &mut Panel<'_>, look: &Look<'_>) -> usize {
        let prompt = look.theme.symbols.prompt;
        let columns = panel.inner_columns();
        let room = columns.saturating_sub(width::of(prompt) + 2);
        let query = width::fit_end(&self.query, room);
        let caret = width::of(prompt) + 1 + width::of(&query);
        let left = vec![
            look.piece(format!("{prompt} "), Role::Accent),
            look.piece(query.into_owned(), Role::Text),
        ];
        let right = vec![look.piece(format!("sort {} ", self.sort.as_str()), Role::Dim)];
        let wide = columns >= NARROW;
        panel.push(wrap::justify(left, if wide { right } else { Vec::new() }, columns));
        caret
    }

    fn list(&self, sessions: usize, look: &Look<'_>, columns: usize) -> Vec<Row> {
        let Some(rows) = &self.rows else {
            return vec![Row::from(vec![look.piece("reading sessions…", Role::Dim)])];
        };
        if self.found.is_empty() {
            let text = match (rows.is_empty(), self.shown) {
                (false, _) => "nothing matches; esc clears the search",
                (true, Shown::Folder) => "there is no session of this folder; tab shows all",
                (true, Shown::All) => "there is no session yet",
            };
            return vec![Row::from(vec![look.piece(text, Role::Dim)])];
        }
        let now = SystemTime::now();
        let seen = self.found.iter().enumerate().skip(self.first).take(sessions);
        seen.flat_map(|(at, row)| self.session(&rows[*row], at == self.chosen, now, look, columns))
            .collect()
    }

    fn session(
        &self,
        row: &SessionRow,
        is_chosen: bool,
        now: SystemTime,
        look: &Look<'_>,
        columns: usize,
    ) -> [Row; SESSION_ROWS] {
        let symbols = &look.theme.symbols;
        let mark = if is_chosen { symbols.chosen } else { " " };
        let role = if is_chosen { Role::Selected } else { Role::Text };
        let pin = if self.is_pinned(row) { "* " } else { "" };
        let name = sanitize::one_line(row.name()).into_owned();
        let (status, status_role) = status(row.status, symbols.done, symbols.failure);
        let when = age(row.modified, now);
        let facts = if columns >= NARROW { format!("{status}  {when}") } else { when };
        let room = columns.saturating_sub(width::of(&facts) + width::of(pin) + 4);
        let title = vec![
            look.piece(format!("{mark} {pin}"), role),
            look.piece(width::fit(&name, room).into_owned(), role),
        ];
        let first = wrap::justify(title, vec![look.piece(facts, status_role)], columns);

        let about = self.about(row);
        let size = format!("{} msg {} {}", grouped(row.messages), symbols.dot, size(row.bytes));
        let size = if columns >= NARROW { size } else { String::new() };
        let room = columns.saturating_sub(width::of(&size) + 5);
        let about = vec![look.piece(format!("   {}", width::fit(&about, room)), Role::Muted)];
        let second = wrap::justify(about, vec![look.piece(size, Role::Dim)], columns);
        [first, second]
    }

    /// The second row: where the session lies, or what it began with.
    fn about(&self, row: &SessionRow) -> String {
        let text = if self.shows_paths {
            row.cwd.as_ref().map_or_else(String::new, |cwd| cwd.display().to_string())
        } else if row.status == Status::Damaged {
            row.place.file().map_or_else(String::new, |path| path.display().to_string())
        } else {
            match &row.first_message {
                Some(text) if row.title.is_some() => format!("\"{text}\""),
                _ => row.cwd.as_ref().map_or_else(String::new, |cwd| cwd.display().to_string()),
            }
        };
        sanitize::one_line(&text).into_owned()
    }

    fn bottom(&self, look: &Look<'_>, columns: usize) -> Row {
        if let Some(notice) = &self.notice {
            let notice = sanitize::one_line(notice).into_owned();
            return wrap::fit(vec![look.piece(notice, Role::Warning)], columns);
        }
        let dot = look.theme.symbols.dot;
        let keys = [
            "enter open",
            "tab scope",
            "ctrl+s sort",
            "ctrl+p path",
            "ctrl+t pin",
            "ctrl+d delete",
            "esc",
        ];
        let keys = keys.join(&format!(" {dot} "));
        let count = match self.found.len() {
            0 => String::new(),
            found => format!("{}/{found}", self.chosen + 1),
        };
        let room = columns.saturating_sub(width::of(&count) + 1);
        let keys = vec![look.piece(width::fit(&keys, room).into_owned(), Role::Dim)];
        wrap::justify(keys, vec![look.piece(count, Role::Dim)], columns)
    }

    fn scroll(&mut self, sessions: usize) {
        if self.chosen < self.first {
            self.first = self.chosen;
        }
        if self.chosen >= self.first + sessions {
            self.first = self.chosen + 1 - sessions;
        }
    }
}

fn status(status: Status, done: &str, failure: &str) -> (String, Role) {
    match status {
        Status::Complete => (format!("{done} complete"), Role::Success),
        Status::Interrupted => ("interrupted".into(), Role::Warning),
        Status::Aborted => ("aborted".into(), Role::Muted),
        Status::Error => (format!("{failure} error"), Role::Error),
        Status::Pending => ("pending".into(), Role::Muted),
        Status::Unknown => (String::new(), Role::Muted),
        Status::Damaged => (format!("{failure} damaged"), Role::Error),
    }
}

fn age(modified: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(modified).unwrap_or_default().as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "yesterday".to_owned(),
        _ => format!("{} days ago", grouped(seconds / 86_400)),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", grouped(bytes / 1_048_576)),
    }
}
