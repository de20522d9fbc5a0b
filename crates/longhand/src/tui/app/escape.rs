//! Escape: one press does one thing, the first that applies. A draft is never lost by it.

use longhand_agent::event::NoticeLevel;

use super::{App, Effect};
use crate::tui::moment::Moment;

impl App {
    /// A press of Escape. Questions about calls have taken theirs before.
    pub(super) fn escape(&mut self, now: Moment) -> Vec<Effect> {
        if self.menu().is_some() {
            self.menu_closed_for = self.editor.typed_line();
            return Vec::new();
        }
        if self.modal.take().is_some() {
            return Vec::new();
        }
        if self.view.pass.is_some() {
            return vec![Effect::Abort];
        }
        if self.view.run.is_some() {
            self.view.notify(NoticeLevel::Info, "interrupted", now);
            // What is queued comes back to the editor, so that it is not sent into the void.
            return vec![Effect::TakeQueue, Effect::Abort];
        }
        if !self.view.dismiss_errors() {
            self.transcript.follow();
        }
        Vec::new()
    }
}
