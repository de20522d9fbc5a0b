//! Keys: the topmost layer takes them first.

use std::time::Duration;

use crossterm::event::KeyEvent;
use longhand_agent::event::NoticeLevel;

use super::submit::Delivery;
use super::{App, Effect, Modal};
use crate::tui::approval::Step;
use crate::tui::editor::Edit;
use crate::tui::keys::{self, Action};
use crate::tui::moment::Moment;
use crate::tui::view_state::item::Body;
use crate::tui::viewer::Opening;
use crate::tui::viewer::source::Which;

/// Two presses within this time are one wish to quit.
const TWICE: Duration = Duration::from_millis(500);

/// What the user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Press {
    /// A key.
    Key(KeyEvent),
    /// Pasted text.
    Paste(String),
    /// The wheel: rows up, or down where negative.
    Wheel(isize),
}

impl App {
    /// Takes what the user did.
    pub(crate) fn press(&mut self, press: Press, now: Moment) -> Vec<Effect> {
        self.view.dismiss_warnings();
        match press {
            Press::Key(key) => match keys::action(key) {
                Some(action) => self.act(action, now),
                None => Vec::new(),
            },
            Press::Paste(text) => {
                if self.view.approvals.is_empty() {
                    self.editor.paste(&text);
                } else {
                    self.approval.paste(&text);
                }
                Vec::new()
            }
            Press::Wheel(rows) => {
                self.scroll(rows);
                Vec::new()
            }
        }
    }

    fn act(&mut self, action: Action, now: Moment) -> Vec<Effect> {
        if std::mem::take(&mut self.is_jumping)
            && let Action::Edit(Edit::Insert(text)) = &action
            && let Some(c) = text.chars().next()
        {
            self.editor.apply(&Edit::JumpTo(c));
            return Vec::new();
        }
        // These work in every layer.
        match action {
            Action::Repaint => return vec![Effect::Repaint],
            Action::Suspend => return vec![Effect::Suspend],
            Action::PageUp | Action::PageDown
                if !matches!(self.modal, Some(Modal::Help { .. })) =>
            {
                let page = self.transcript_size.0.saturating_sub(1).max(1) as isize;
                self.scroll(if action == Action::PageUp { page } else { -page });
                return Vec::new();
            }
            _ => {}
        }
        if let Some((id, question)) = self.view.approvals.front() {
            return match self.approval.key(&action, question) {
                Step::Open => Vec::new(),
                Step::Answered(answer) => vec![Effect::Answer(id.clone(), answer)],
            };
        }
        match self.modal.take() {
            Some(modal) => self.act_in(modal, action, now),
            None => self.act_in_editor(action, now),
        }
    }

    fn act_in(&mut self, modal: Modal, action: Action, now: Moment) -> Vec<Effect> {
        match (modal, action) {
            (_, Action::Interrupt | Action::Clear) => Vec::new(),
            (Modal::AbortAndCompact(request), Action::Submit) => self.compact(request, now),
            (Modal::AbortAndCompact(request), Action::Edit(Edit::Insert(typed))) => {
                match typed.as_str() {
                    "y" => self.compact(request, now),
                    "n" => Vec::new(),
                    _ => self.stay(Modal::AbortAndCompact(request)),
                }
            }
            (Modal::Help { from }, Action::Edit(Edit::Up)) => {
                self.stay(Modal::Help { from: from.saturating_sub(1) })
            }
            (Modal::Help { from }, Action::Edit(Edit::Down)) => {
                self.stay(Modal::Help { from: from + 1 })
            }
            (Modal::Help { from }, Action::PageUp) => {
                self.stay(Modal::Help { from: from.saturating_sub(self.transcript_size.0) })
            }
            (Modal::Help { from }, Action::PageDown) => {
                self.stay(Modal::Help { from: from + self.transcript_size.0 })
            }
            (modal, _) => self.stay(modal),
        }
    }

    fn stay(&mut self, modal: Modal) -> Vec<Effect> {
        self.modal = Some(modal);
        Vec::new()
    }

    fn act_in_editor(&mut self, action: Action, now: Moment) -> Vec<Effect> {
        if let Some(effect) = self.act_on_divider(&action) {
            return vec![effect];
        }
        let menu = self.menu();
        match action {
            Action::Interrupt => return self.escape(),
            Action::Clear => return self.clear(now),
            Action::Exit if self.editor.is_empty() => return vec![Effect::Quit],
            Action::Exit => self.edit(&Edit::DeleteForward),
            Action::Submit if self.editor.take_backslash() => self.edit(&Edit::NewLine),
            Action::Submit if menu.is_some() => return self.run_chosen(now),
            Action::Submit => return self.submit(Delivery::Soon, now),
            Action::FollowUp => return self.submit(Delivery::Later, now),
            Action::Tab => {
                if let Some(menu) = menu {
                    let name = menu.command(self.menu_chosen).name;
                    self.editor.set_text(&format!("/{name} "));
                }
            }
            Action::Edit(Edit::Up) if menu.is_some() => {
                self.menu_chosen = self.menu_chosen.saturating_sub(1);
            }
            Action::Edit(Edit::Down) => match menu {
                Some(menu) => self.menu_chosen = (self.menu_chosen + 1).min(menu.len() - 1),
                None => self.edit(&Edit::Down),
            },
            Action::Edit(edit) => self.edit(&edit),
            Action::Jump => self.is_jumping = true,
            Action::Dequeue => return vec![Effect::TakeQueue],
            Action::Expand => self.expand(now),
            Action::ToggleThinking => {
                let shown = if self.transcript.toggle_thinking() { "shown" } else { "hidden" };
                self.view.notify(NoticeLevel::Info, format!("thinking is {shown}"), now);
            }
            Action::FocusPrevious => self.move_focus(-1),
            Action::FocusNext => self.move_focus(1),
            Action::ToStart => self.transcript.show_start(&self.view),
            Action::ToEnd => self.transcript.follow(),
            Action::PageUp | Action::PageDown | Action::Repaint | Action::Suspend => {}
        }
        Vec::new()
    }

    /// Keys of the divider in focus. Nobody is writing: the editor is empty.
    fn act_on_divider(&self, action: &Action) -> Option<Effect> {
        let Action::Edit(Edit::Insert(typed)) = action else { return None };
        let opening = match typed.as_str() {
            "f" => Opening::List,
            "t" => Opening::Text,
            "o" => Opening::File,
            _ => return None,
        };
        let item = self.transcript.expanded_focus().filter(|_| self.editor.is_empty())?;
        match &self.view.items().get(item)?.body {
            Body::Divider(divider) if divider.has_archive() => {
                Some(Effect::Frames(Which::At(divider.at_millis), opening))
            }
            _ => None,
        }
    }

    fn edit(&mut self, edit: &Edit) {
        self.editor.apply(edit);
        self.menu_chosen = 0;
        if self.editor.typed_line() != self.menu_closed_for {
            self.menu_closed_for = None;
        }
    }

    /// Ctrl+C: clears the draft; a second press at once quits.
    fn clear(&mut self, now: Moment) -> Vec<Effect> {
        if self.cleared_at.is_some_and(|at| now.since(at) <= TWICE) {
            return vec![Effect::Quit];
        }
        self.cleared_at = Some(now);
        self.editor.clear();
        self.view.notify(NoticeLevel::Info, "ctrl+c again to quit", now);
        Vec::new()
    }

    fn expand(&mut self, now: Moment) {
        if self.transcript.toggle_focused() {
            return;
        }
        let state = if self.transcript.toggle_all() { "expanded" } else { "collapsed" };
        self.view.notify(NoticeLevel::Info, format!("dividers and cards are {state}"), now);
    }

    fn scroll(&mut self, rows: isize) {
        let (height, columns) = self.transcript_size;
        let look = crate::tui::look::Look { columns, ..self.transcript_look() };
        // The theme is copied so that the transcript can be changed meanwhile.
        let theme = *look.theme;
        let look = crate::tui::look::Look { theme: &theme, ..look };
        self.transcript.scroll_by(rows, &self.view, &look, height);
    }

    fn move_focus(&mut self, step: isize) {
        let height = self.transcript_size.0;
        let theme = self.theme;
        let look = crate::tui::look::Look { theme: &theme, ..self.transcript_look() };
        self.transcript.move_focus(step, &self.view, &look, height);
    }
}
