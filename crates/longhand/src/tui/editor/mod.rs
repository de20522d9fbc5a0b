//! The editor: many lines, soft wrap, clusters of any width, the keys of Emacs.
//!
//! Text in, text out: it knows no keys, no screen and no session. A long paste is one piece that expands when the text is taken.

mod history;
mod kill_ring;
mod paste;
mod soft_wrap;
mod undo;
mod unit;

use std::ops::Range;
use std::sync::Arc;

use self::history::History;
use self::kill_ring::{KillRing, Toward};
use self::paste::Paste;
use self::undo::{Change, State, Undo};
use self::unit::{Class, Unit};
use super::look::Look;
use super::theme::Role;
use super::width;
use super::wrap::Row;

/// A change of the text or a move of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Typed text.
    Insert(String),
    /// A line end.
    NewLine,
    /// One piece to the left.
    Left,
    /// One piece to the right.
    Right,
    /// A row up; on the first row, to what was sent before.
    Up,
    /// A row down; on the last row, to what was sent after.
    Down,
    /// To the start of the word before.
    WordLeft,
    /// To the end of the word after.
    WordRight,
    /// To the start of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the next occurrence of a character.
    JumpTo(char),
    /// Delete the piece before.
    DeleteBack,
    /// Delete the piece after.
    DeleteForward,
    /// Kill to the end of the line, or the line end.
    KillToEnd,
    /// Kill to the start of the line.
    KillToStart,
    /// Kill the word before.
    KillWordBack,
    /// Kill the word after.
    KillWordForward,
    /// Insert the newest kill.
    Yank,
    /// In place of what was yanked, the kill before it.
    YankPop,
    /// Take the last change back.
    Undo,
    /// Make it again.
    Redo,
}

/// A text that is being written.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    state: State,
    /// The column that moves up and down aim at.
    goal: Option<usize>,
    undo: Undo,
    kills: KillRing,
    /// What the last edit yanked, if it did.
    yanked: Option<Range<usize>>,
    history: History,
    pastes: usize,
    /// Columns of a row, as it was last drawn.
    columns: usize,
}

impl Editor {
    /// An editor with a draft.
    pub(crate) fn with_text(text: &str) -> Self {
        let mut editor = Self::default();
        editor.set_text(text);
        editor
    }

    /// The text, pastes expanded.
    pub(crate) fn text(&self) -> String {
        unit::text(&self.state.units)
    }

    /// The text if it is short and typed: what a command or a completion can be.
    pub(crate) fn typed_line(&self) -> Option<String> {
        let is_typed = |unit: &Unit| matches!(unit, Unit::Cluster(_));
        self.state.units.iter().all(is_typed).then(|| self.text())
    }

    /// Whether there is no text at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.units.is_empty()
    }

    /// Whether the cursor is at the end.
    pub(crate) fn is_at_end(&self) -> bool {
        self.state.cursor == self.state.units.len()
    }

    /// Replaces the text; the cursor goes to its end.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.replace_all(unit::units(text));
    }

    /// Puts text before what is written, parted by an empty line.
    pub(crate) fn prepend(&mut self, text: &str) {
        let mut units = unit::units(text);
        if !self.is_empty() {
            units.extend([Unit::Break, Unit::Break]);
        }
        units.append(&mut self.state.units.clone());
        self.replace_all(units);
    }

    /// Empties the editor. Undo brings the text back.
    pub(crate) fn clear(&mut self) {
        self.replace_all(Vec::new());
    }

    /// Empties the editor and gives the text that was in it, to be sent. It can be recalled.
    pub(crate) fn take(&mut self) -> String {
        self.history.push(&self.state.units);
        let text = self.text();
        self.state = State::default();
        self.undo = Undo::default();
        self.pastes = 0;
        self.goal = None;
        text
    }

    /// Pasted text: a long one becomes a token.
    pub(crate) fn paste(&mut self, text: &str) {
        let units = unit::units(text);
        let clean = unit::text(&units);
        match Paste::long(&clean, self.pastes + 1) {
            Some(paste) => {
                self.pastes += 1;
                self.insert(vec![Unit::Paste(Arc::new(paste))], Change::Other);
            }
            None => self.insert(units, Change::Other),
        }
        self.end_run();
    }

    /// Where a `\` stands before the cursor, takes it away: it asked for a line end.
    pub(crate) fn take_backslash(&mut self) -> bool {
        let before = self.state.cursor.checked_sub(1);
        let is_there = before.is_some_and(
            |at| matches!(&self.state.units[at], Unit::Cluster(text) if &**text == "\\"),
        );
        if is_there {
            self.apply(&Edit::DeleteBack);
        }
        is_there
    }

    /// Makes an edit.
    pub(crate) fn apply(&mut self, edit: &Edit) {
        if !matches!(edit, Edit::Up | Edit::Down) {
            self.goal = None;
        }
        let yanked = self.yanked.take();
        match edit {
            Edit::Insert(text) => {
                let typed = unit::units(text);
                let is_word = matches!(typed.as_slice(), [one] if one.class() == Class::Word);
                let change = if is_word { Change::Typed } else { Change::Other };
                self.insert(typed, change);
                self.kills.end_kill();
                return;
            }
            Edit::NewLine => self.insert(vec![Unit::Break], Change::Other),
            Edit::Left => self.state.cursor = self.state.cursor.saturating_sub(1),
            Edit::Right => self.state.cursor = (self.state.cursor + 1).min(self.state.units.len()),
            Edit::Up => self.up(),
            Edit::Down => self.down(),
            Edit::WordLeft => self.state.cursor = self.word_start(),
            Edit::WordRight => self.state.cursor = self.word_end(),
            Edit::LineStart => self.state.cursor = self.line().start,
            Edit::LineEnd => self.state.cursor = self.line().end,
            Edit::JumpTo(c) => self.jump_to(*c),
            Edit::DeleteBack => {
                let end = self.state.cursor;
                self.remove(end.saturating_sub(1)..end);
            }
            Edit::DeleteForward => {
                let start = self.state.cursor;
                self.remove(start..(start + 1).min(self.state.units.len()));
            }
            Edit::KillToEnd => {
                let (start, end) = (self.state.cursor, self.line().end);
                let end = if start == end { (end + 1).min(self.state.units.len()) } else { end };
                return self.kill(start..end, Toward::End);
            }
            Edit::KillToStart => {
                let (start, end) = (self.line().start, self.state.cursor);
                let start = if start == end { start.saturating_sub(1) } else { start };
                return self.kill(start..end, Toward::Start);
            }
            Edit::KillWordBack => {
                return self.kill(self.word_start()..self.state.cursor, Toward::Start);
            }
            Edit::KillWordForward => {
                return self.kill(self.state.cursor..self.word_end(), Toward::End);
            }
            Edit::Yank => {
                if let Some(units) = self.kills.newest() {
                    self.yank(units);
                }
            }
            Edit::YankPop => {
                if let Some(range) = yanked
                    && let Some(units) = self.kills.older()
                {
                    self.remove(range);
                    self.yank(units);
                }
            }
            Edit::Undo => self.restore(Undo::undo),
            Edit::Redo => self.restore(Undo::redo),
        }
        self.end_run();
    }

    /// What is drawn: rows of text with the prompt, and the caret's column and row in them. At most `max_rows`, around the caret.
    pub(crate) fn view(
        &mut self,
        prompt: &str,
        max_rows: usize,
        look: &Look<'_>,
    ) -> (Vec<Row>, (usize, usize)) {
        let before = width::of(prompt) + 1;
        // One column stays free for a caret after the last cluster.
        self.columns = look.columns.saturating_sub(before + 1).max(1);
        let rows = soft_wrap::rows(&self.state.units, self.columns);
        let (row, column) = soft_wrap::place(&self.state.units, &rows, self.state.cursor);
        let max_rows = max_rows.max(1);
        let first = (row + 1).saturating_sub(max_rows);
        let drawn = rows.iter().enumerate().skip(first).take(max_rows).map(|(i, range)| {
            let mark = if i == 0 { format!("{prompt} ") } else { " ".repeat(before) };
            let mut pieces = vec![look.piece(mark, Role::Accent)];
            pieces.extend(self.state.units[range.clone()].iter().map(|unit| {
                let role = match unit {
                    Unit::Paste(_) => Role::Accent,
                    Unit::Cluster(_) | Unit::Break => Role::Text,
                };
                look.piece(width::cut(unit.shown(), self.columns), role)
            }));
            Row::from(pieces)
        });
        let drawn = drawn.collect();
        (drawn, (before + column.min(self.columns), row - first))
    }

    fn end_run(&mut self) {
        self.undo.end_step();
        self.kills.end_kill();
    }

    fn replace_all(&mut self, units: Vec<Unit>) {
        if units != self.state.units {
            self.undo.record(&self.state, Change::Other);
        }
        let cursor = units.len();
        self.state = State { units, cursor };
        self.end_run();
    }

    /// Inserts at the cursor. Text beside it is read again, for a combining character joins the cluster before it.
    fn insert(&mut self, units: Vec<Unit>, change: Change) {
        self.undo.record(&self.state, change);
        let at = self.state.cursor;
        let is_cluster = |unit: Option<&Unit>| matches!(unit, Some(Unit::Cluster(_)));
        let from = at
            - usize::from(
                is_cluster(units.first()) && at > 0 && is_cluster(self.state.units.get(at - 1)),
            );
        let to = at + usize::from(is_cluster(units.last()) && is_cluster(self.state.units.get(at)));
        if units.iter().any(|unit| matches!(unit, Unit::Paste(_))) {
            self.state.cursor = at + units.len();
            self.state.units.splice(at..at, units);
            return;
        }
        let before = unit::text(&self.state.units[from..at]);
        let inserted = unit::text(&units);
        let after = unit::text(&self.state.units[at..to]);
        let joined = unit::units(&format!("{before}{inserted}{after}"));
        // The caret stands after what was inserted, or after the cluster that took it in.
        let caret_byte = before.len() + inserted.len();
        let mut bytes = 0;
        let passed = joined.iter().take_while(|unit| {
            let is_before = bytes < caret_byte;
            bytes += unit.text().len();
            is_before
        });
        self.state.cursor = from + passed.count();
        self.state.units.splice(from..to, joined);
    }

    fn remove(&mut self, range: Range<usize>) -> Vec<Unit> {
        if range.is_empty() {
            return Vec::new();
        }
        self.undo.record(&self.state, Change::Other);
        self.state.cursor = range.start;
        self.state.units.drain(range).collect()
    }

    fn kill(&mut self, range: Range<usize>, toward: Toward) {
        let killed = self.remove(range);
        self.kills.kill(killed, toward);
        self.undo.end_step();
    }

    fn yank(&mut self, units: Vec<Unit>) {
        let start = self.state.cursor;
        self.insert(units, Change::Other);
        self.yanked = Some(start.min(self.state.cursor)..self.state.cursor);
    }

    fn restore(&mut self, step: impl FnOnce(&mut Undo, &State) -> Option<State>) {
        if let Some(state) = step(&mut self.undo, &self.state) {
            self.state = state;
        }
    }

    fn up(&mut self) {
        let rows = soft_wrap::rows(&self.state.units, self.columns);
        let (row, column) = soft_wrap::place(&self.state.units, &rows, self.state.cursor);
        let goal = *self.goal.get_or_insert(column);
        if row > 0 {
            self.state.cursor = soft_wrap::cursor_at(&self.state.units, &rows, row - 1, goal);
        } else if let Some(units) = self.history.older(&self.state.units) {
            self.replace_all(units);
        }
    }

    fn down(&mut self) {
        let rows = soft_wrap::rows(&self.state.units, self.columns);
        let (row, column) = soft_wrap::place(&self.state.units, &rows, self.state.cursor);
        let goal = *self.goal.get_or_insert(column);
        if row + 1 < rows.len() {
            self.state.cursor = soft_wrap::cursor_at(&self.state.units, &rows, row + 1, goal);
        } else if let Some(units) = self.history.newer() {
            self.replace_all(units);
        }
    }

    /// The line that the cursor is on, its line end not included.
    fn line(&self) -> Range<usize> {
        let is_break = |unit: &Unit| *unit == Unit::Break;
        let (before, after) = self.state.units.split_at(self.state.cursor);
        let start = before.iter().rposition(is_break).map_or(0, |at| at + 1);
        let end = after
            .iter()
            .position(is_break)
            .map_or(self.state.units.len(), |at| at + self.state.cursor);
        start..end
    }

    fn word_start(&self) -> usize {
        let mut at = self.state.cursor;
        let class = |at: usize| self.state.units[at].class();
        while at > 0 && class(at - 1) == Class::Blank {
            at -= 1;
        }
        let Some(kind) = at.checked_sub(1).map(class) else { return at };
        while at > 0 && class(at - 1) == kind {
            at -= 1;
        }
        at
    }

    fn word_end(&self) -> usize {
        let mut at = self.state.cursor;
        let class = |at: usize| self.state.units.get(at).map(Unit::class);
        while class(at) == Some(Class::Blank) {
            at += 1;
        }
        let Some(kind) = class(at) else { return at };
        while class(at) == Some(kind) {
            at += 1;
        }
        at
    }

    fn jump_to(&mut self, c: char) {
        let after = self.state.units.iter().enumerate().skip(self.state.cursor + 1);
        let mut found = after.filter(|(_, unit)| unit.text().starts_with(c));
        if let Some((at, _)) = found.next() {
            self.state.cursor = at;
        }
    }
}
