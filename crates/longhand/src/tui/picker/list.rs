//! What the list holds, and what keys do to it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use longhand_session::SessionId;
use longhand_session::listing::{self, SessionRow, Status};
use longhand_session::place::SessionPlace;

use super::Shown;
use crate::tui::theme::Theme;

/// In which order sessions stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The last written first; with a search, the best match first.
    Recent,
    /// The largest first.
    Size,
    /// By title.
    Title,
}

impl Sort {
    fn next(self) -> Self {
        match self {
            Self::Recent => Self::Size,
            Self::Size => Self::Title,
            Self::Title => Self::Recent,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::Size => "size",
            Self::Title => "title",
        }
    }
}

/// What a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing outside the list.
    Stay,
    /// Go back.
    Back,
    /// Open the session.
    Open(SessionPlace),
    /// Read another list.
    Load(Shown),
    /// Delete the session.
    Delete(SessionPlace, SessionId),
    /// Pin the session, or take its pin away where it has one.
    Pin(SessionId, bool),
}

/// The list.
pub(crate) struct Picker {
    pub(super) theme: Theme,
    pub(super) shown: Shown,
    /// `None` until the list was read.
    pub(super) rows: Option<Vec<SessionRow>>,
    pub(super) pins: Vec<SessionId>,
    pub(super) query: String,
    pub(super) sort: Sort,
    pub(super) shows_paths: bool,
    /// Rows that the search found, in their order.
    pub(super) found: Vec<usize>,
    /// A place in `found`.
    pub(super) chosen: usize,
    /// The first session on the screen, a place in `found`.
    pub(super) first: usize,
    /// Whether a second press deletes.
    pub(super) is_asking: bool,
    pub(super) notice: Option<String>,
}

impl Picker {
    pub(crate) fn new(theme: &Theme, query: &str) -> Self {
        Self {
            theme: *theme,
            shown: Shown::Folder,
            rows: None,
            pins: Vec::new(),
            query: query.to_owned(),
            sort: Sort::Recent,
            shows_paths: false,
            found: Vec::new(),
            chosen: 0,
            first: 0,
            is_asking: false,
            notice: None,
        }
    }

    pub(crate) fn shown(&self) -> Shown {
        self.shown
    }

    /// Says something until the next key.
    pub(crate) fn tell(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// Takes a list. The chosen session stays chosen.
    pub(crate) fn take(
        &mut self,
        shown: Shown,
        rows: Result<Vec<SessionRow>, String>,
        pins: Vec<SessionId>,
    ) {
        if shown != self.shown {
            return;
        }
        let chosen = self.chosen_row().map(|row| row.place.clone());
        match rows {
            Ok(mut rows) => {
                rows.retain(|row| !row.is_empty() || pins.contains(&row.id));
                self.rows = Some(rows);
            }
            Err(error) => {
                self.notice = Some(error);
                self.rows.get_or_insert_default();
            }
        }
        self.pins = pins;
        self.search();
        let rows = self.rows.as_deref().unwrap_or_default();
        let is_chosen = |at: &usize| Some(&rows[*at].place) == chosen.as_ref();
        self.chosen = self.found.iter().position(is_chosen).unwrap_or(self.chosen);
        self.stay_within();
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Step {
        self.notice = None;
        let was_asking = std::mem::take(&mut self.is_asking);
        let has_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc if was_asking => {}
            KeyCode::Esc if !self.query.is_empty() => self.change_query(String::new()),
            KeyCode::Esc => return Step::Back,
            KeyCode::Char('c') if has_ctrl => return Step::Back,
            KeyCode::Enter => return self.open(),
            KeyCode::Tab | KeyCode::BackTab => return self.change_scope(),
            KeyCode::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Down => self.chosen += 1,
            KeyCode::PageUp => self.chosen = self.chosen.saturating_sub(8),
            KeyCode::PageDown => self.chosen += 8,
            KeyCode::Home => self.chosen = 0,
            KeyCode::End => self.chosen = usize::MAX,
            KeyCode::Char('p') if has_ctrl => self.shows_paths = !self.shows_paths,
            KeyCode::Char('s') if has_ctrl => {
                self.sort = self.sort.next();
                self.search();
            }
            KeyCode::Char('t') if has_ctrl => return self.pin(),
            KeyCode::Char('d') if has_ctrl => return self.delete(was_asking),
            KeyCode::Char('u') if has_ctrl => self.change_query(String::new()),
            KeyCode::Backspace => {
                let mut query = std::mem::take(&mut self.query);
                query.pop();
                self.change_query(query);
            }
            KeyCode::Char(typed) if !has_ctrl => {
                let query = format!("{}{typed}", self.query);
                self.change_query(query);
            }
            _ => {}
        }
        self.stay_within();
        Step::Stay
    }

    pub(crate) fn paste(&mut self, text: &str) -> Step {
        let query = format!("{}{}", self.query, text.lines().next().unwrap_or_default());
        self.change_query(query);
        Step::Stay
    }

    pub(crate) fn wheel(&mut self, rows: isize) -> Step {
        self.chosen = self.chosen.saturating_add_signed(-rows.signum());
        self.stay_within();
        Step::Stay
    }

    pub(super) fn chosen_row(&self) -> Option<&SessionRow> {
        self.rows.as_ref()?.get(*self.found.get(self.chosen)?)
    }

    pub(super) fn is_pinned(&self, row: &SessionRow) -> bool {
        self.pins.contains(&row.id)
    }

    fn open(&mut self) -> Step {
        let Some(row) = self.chosen_row() else { return Step::Stay };
        if row.status == Status::Damaged {
            let text = "the file has no readable header; it is left as it is";
            self.notice = Some(text.into());
            return Step::Stay;
        }
        Step::Open(row.place.clone())
    }

    fn change_scope(&mut self) -> Step {
        self.shown = match self.shown {
            Shown::Folder => Shown::All,
            Shown::All => Shown::Folder,
        };
        self.rows = None;
        self.found.clear();
        self.chosen = 0;
        Step::Load(self.shown)
    }

    fn pin(&mut self) -> Step {
        match self.chosen_row() {
            Some(row) => Step::Pin(row.id.clone(), self.is_pinned(row)),
            None => Step::Stay,
        }
    }

    fn delete(&mut self, was_asking: bool) -> Step {
        let Some(row) = self.chosen_row() else { return Step::Stay };
        if was_asking {
            return Step::Delete(row.place.clone(), row.id.clone());
        }
        self.is_asking = true;
        let text = "ctrl+d again moves it to the trash, where it stays for 30 days; esc keeps it";
        self.notice = Some(text.into());
        Step::Stay
    }

    fn change_query(&mut self, query: String) {
        self.query = query;
        self.chosen = 0;
        self.search();
    }

    fn search(&mut self) {
        let rows = self.rows.as_deref().unwrap_or_default();
        self.found = listing::search(rows, &self.query).iter().map(|found| found.at).collect();
        match self.sort {
            Sort::Recent => {}
            Sort::Size => self.found.sort_by_key(|at| std::cmp::Reverse(rows[*at].bytes)),
            Sort::Title => self.found.sort_by_key(|at| rows[*at].name().to_lowercase()),
        }
    }

    fn stay_within(&mut self) {
        self.chosen = self.chosen.min(self.found.len().saturating_sub(1));
    }
}
