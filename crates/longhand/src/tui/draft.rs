//! What stands in the editor, kept now and then, so that a program that is killed takes no more than the last words with it.

use std::time::Duration;

use longhand_session::draft_text::DraftText;

use super::moment::Moment;

/// Time between two writes of a text that is being typed.
const INTERVAL: Duration = Duration::from_secs(2);

/// Keeps the text of an editor.
pub(crate) struct KeptDraft {
    /// `None` where the session lies nowhere.
    place: Option<DraftText>,
    /// Whether the session has a file: a text alone makes none.
    has_session: Box<dyn Fn() -> bool + Send + Sync>,
    kept: String,
    due: Option<Moment>,
}

impl KeptDraft {
    /// Keeps texts at a place, where `kept` is what is there.
    pub(crate) fn new(
        place: Option<DraftText>,
        has_session: Box<dyn Fn() -> bool + Send + Sync>,
        kept: String,
    ) -> Self {
        Self { place, has_session, kept, due: None }
    }

    /// When the text should be kept next.
    pub(crate) fn due(&self) -> Option<Moment> {
        self.due
    }

    /// Looks at the text: one that has changed is kept a moment later, one that is gone at once.
    pub(crate) fn look(&mut self, text: &str, now: Moment) {
        if text == self.kept {
            self.due = None;
        } else if text.is_empty() {
            self.keep(text);
        } else {
            match self.due {
                Some(due) if due <= now => self.keep(text),
                Some(_) => {}
                None => self.due = Some(now.after(INTERVAL)),
            }
        }
    }

    /// Keeps the text now. A failure costs the text only if the program is killed as well.
    pub(crate) fn keep(&mut self, text: &str) {
        self.due = None;
        let Some(place) = &self.place else { return };
        if text == self.kept || !(text.is_empty() || (self.has_session)()) {
            return;
        }
        match place.write(text) {
            Ok(()) => text.clone_into(&mut self.kept),
            Err(error) => tracing::warn!("cannot keep the draft: {error}"),
        }
    }
}
