//! Enter: what is sent, when, and as what.

use longhand_agent::UserInput;
use longhand_agent::event::NoticeLevel;

use super::{App, Effect};
use crate::tui::commands::{self, Parsed};
use crate::tui::moment::Moment;

/// When input is delivered while the session is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Before the next request.
    Soon,
    /// After the run.
    Later,
}

impl App {
    /// Sends what is written, or runs it as a command.
    pub(super) fn submit(&mut self, delivery: Delivery, now: Moment) -> Vec<Effect> {
        let text = self.editor.text();
        if text.trim().is_empty() {
            return self.submit_nothing();
        }
        if let Some(typed) = self.editor.typed_line()
            && let Some(parsed) = commands::parse(typed.trim())
        {
            match parsed {
                Parsed::Known(command, arguments) => {
                    self.editor.take();
                    return (command.run)(self, &arguments, now);
                }
                Parsed::Unknown(name) if self.doubted.as_ref() != Some(&typed) => {
                    let text = format!("unknown command /{name} — enter again to send as text");
                    self.view.notify(NoticeLevel::Warning, text, now);
                    self.doubted = Some(typed);
                    return Vec::new();
                }
                Parsed::Unknown(_) => {}
            }
        }
        self.doubted = None;
        self.transcript.follow();
        let input = UserInput::text(self.editor.take());
        // With nothing going on, later is now.
        vec![match delivery {
            Delivery::Soon => Effect::Steer(input),
            Delivery::Later => Effect::FollowUp(input),
        }]
    }

    /// Runs the command at a place of the menu, or completes it where it needs arguments first.
    pub(super) fn run_chosen(&mut self, now: Moment) -> Vec<Effect> {
        if let Some(menu) = self.menu().filter(|menu| !menu.is_exact) {
            self.editor.set_text(&format!("/{}", menu.command(self.menu_chosen).name));
        }
        self.submit(Delivery::Soon, now)
    }

    /// Enter without text: what is queued is wanted now.
    fn submit_nothing(&mut self) -> Vec<Effect> {
        self.editor.clear();
        let queue = &self.view.queue;
        let is_queued = !queue.steering.is_empty() || !queue.follow_up.is_empty();
        if self.view.run.is_some() && is_queued {
            self.is_delivering = true;
            return vec![Effect::Abort];
        }
        self.transcript.toggle_focused();
        Vec::new()
    }
}
