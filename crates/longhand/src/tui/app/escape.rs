//! Escape: one press does one thing, the first that applies. A draft is never lost by it.

use super::{App, Effect};
impl App {
    /// A press of Escape. Questions about calls have taken theirs before.
    pub(super) fn escape(&mut self) -> Vec<Effect> {
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
        if let Some(run) = &mut self.view.run {
            run.is_stopping = true;
            // What is queued comes back to the editor, so that it is not sent into the void.
            return vec![Effect::TakeQueue, Effect::Abort];
        }
        if !self.view.dismiss_errors() {
            self.transcript.follow();
        }
        Vec::new()
    }
}
