//! The question whether a call may run.

use longhand_agent::tool::{ApprovalAnswer, ApprovalQuestion, Tier};

use super::editor::{Edit, Editor};
use super::keys::Action;
use super::look::Look;
use super::panel::Panel;
use super::sanitize;
use super::theme::Role;
use super::wrap::{self, Indent, Row};

/// Rows of what would run, until the user asks for all of it.
const BODY_ROWS: usize = 6;

/// Rows of the box besides what would run.
const OTHER_ROWS: usize = 8;

/// An answer that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    Yes,
    Always,
    No,
}

/// Where the user is in answering.
#[derive(Debug, Default)]
pub(crate) struct Approval {
    chosen: usize,
    shows_all: bool,
    /// The reason for a no, while it is written.
    reason: Option<Editor>,
}

/// What a key did.
pub(crate) enum Step {
    /// Nothing is decided.
    Open,
    /// The user has answered.
    Answered(ApprovalAnswer),
}

impl Approval {
    /// Takes a key.
    pub(crate) fn key(&mut self, action: &Action, question: &ApprovalQuestion) -> Step {
        if let Some(reason) = &mut self.reason {
            match action {
                Action::Submit => {
                    let text = reason.take();
                    let reason = (!text.trim().is_empty()).then(|| text.trim().to_owned());
                    return Step::Answered(ApprovalAnswer::No { reason });
                }
                Action::Interrupt | Action::Clear => self.reason = None,
                Action::Edit(edit) => reason.apply(edit),
                _ => {}
            }
            return Step::Open;
        }
        let offers = offers(question);
        match action {
            Action::Edit(Edit::Insert(typed)) => {
                let by_key = |offer: &&Offer| key_of(**offer) == typed;
                if let Some(offer) = offers.iter().find(by_key) {
                    return self.choose(*offer);
                }
            }
            Action::Submit => return self.choose(offers[self.chosen.min(offers.len() - 1)]),
            Action::Edit(Edit::Up) => self.chosen = self.chosen.saturating_sub(1),
            Action::Edit(Edit::Down) => self.chosen = (self.chosen + 1).min(offers.len() - 1),
            Action::Expand => self.shows_all = !self.shows_all,
            Action::Interrupt | Action::Clear => return Step::Answered(ApprovalAnswer::Stop),
            _ => {}
        }
        Step::Open
    }

    /// Pasted text: part of a reason, else nothing.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(reason) = &mut self.reason {
            reason.paste(text);
        }
    }

    fn choose(&mut self, offer: Offer) -> Step {
        match offer {
            Offer::Yes => Step::Answered(ApprovalAnswer::Yes),
            Offer::Always => Step::Answered(ApprovalAnswer::Always),
            Offer::No => {
                self.reason = Some(Editor::default());
                Step::Open
            }
        }
    }

    /// The box, in at most `max_rows`, and where the caret stands in it, if there is one.
    pub(crate) fn rows(
        &mut self,
        question: &ApprovalQuestion,
        max_rows: usize,
        look: &Look<'_>,
    ) -> (Vec<Row>, Option<(usize, usize)>) {
        let dot = look.theme.symbols.dot;
        let title = sanitize::one_line(&question.title).into_owned();
        let tool = sanitize::one_line(&question.tool_name).into_owned();
        let mut panel =
            Panel::new(format!("{title}  ({tool} {dot} {} tier)", tier(question.tier)), look);
        let columns = panel.inner_columns();
        let body = sanitize::text(question.body.trim_end());
        let body = wrap::wrap_text(&body, look.style(Role::Text), columns, &Indent::default());
        let room = max_rows.saturating_sub(OTHER_ROWS).max(1);
        let limit = if self.shows_all { room } else { room.min(BODY_ROWS) };
        let hidden = body.len().saturating_sub(limit);
        panel.extend(body.into_iter().take(limit));
        if hidden > 0 {
            let text = format!("… {hidden} more rows {dot} ctrl+o");
            panel.push(Row::from(vec![look.piece(text, Role::Dim)]));
        }
        panel.push(Row::default());
        let caret = if let Some(reason) = &mut self.reason {
            panel.push(Row::from(vec![look.piece("Why not? The model is told.", Role::Text)]));
            let inner = Look { columns, ..*look };
            let (rows, (x, y)) = reason.view(look.theme.symbols.prompt, 2, &inner);
            // Below the top edge.
            let caret = (x + 2, panel.len() + 1 + y);
            panel.extend(rows);
            let hint = format!("enter send {dot} esc back");
            panel.push(Row::from(vec![look.piece(hint, Role::Dim)]));
            Some(caret)
        } else {
            self.offer_rows(question, &mut panel, look);
            None
        };
        (panel.finish(), caret)
    }

    fn offer_rows(&self, question: &ApprovalQuestion, panel: &mut Panel<'_>, look: &Look<'_>) {
        let offers = offers(question);
        let chosen = self.chosen.min(offers.len() - 1);
        for (i, offer) in offers.iter().enumerate() {
            let (mark, role) = if i == chosen {
                (look.theme.symbols.prompt, Role::Accent)
            } else {
                (" ", Role::Text)
            };
            let text = format!(" {mark} {}  {}", key_of(*offer), words(*offer, question));
            panel.push(Row::from(vec![look.piece(text, role)]));
        }
        panel.push(Row::default());
        let dot = look.theme.symbols.dot;
        let keys: Vec<&str> = offers.iter().map(|offer| key_of(*offer)).collect();
        let keys = keys.join("/");
        let hint = format!(
            "{keys} or ↑↓ enter {dot} esc = no and stop the turn {dot} ctrl+o full command"
        );
        panel.push(Row::from(vec![look.piece(hint, Role::Dim)]));
    }
}

fn offers(question: &ApprovalQuestion) -> Vec<Offer> {
    match question.remember {
        Some(_) => vec![Offer::Yes, Offer::Always, Offer::No],
        None => vec![Offer::Yes, Offer::No],
    }
}

fn key_of(offer: Offer) -> &'static str {
    match offer {
        Offer::Yes => "y",
        Offer::Always => "a",
        Offer::No => "n",
    }
}

fn words(offer: Offer, question: &ApprovalQuestion) -> String {
    match offer {
        Offer::Yes => "Yes, once".to_owned(),
        Offer::Always => {
            let what = question.remember.as_deref().unwrap_or_default();
            format!("Yes, and do not ask again for {} in this session", sanitize::one_line(what))
        }
        Offer::No => "No, and tell the model why…".to_owned(),
    }
}

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Read => "read",
        Tier::Write => "write",
        Tier::Exec => "exec",
    }
}
