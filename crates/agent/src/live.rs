//! What the model sees, kept up to date while the session goes on.

use std::sync::Arc;

use imbl::Vector;
use longhand_session::archive::FrameSource;
use longhand_session::context::{Growth, LiveContext, RebuildOptions};
use longhand_session::{Entry, Message};

/// Where the pictures of a bitmap archive lie.
pub type Frames = Arc<dyn FrameSource + Send + Sync>;

/// The messages of a window of entries. Always what a rebuild of the whole window would give.
pub(crate) struct LiveMessages {
    frames: Option<Frames>,
    context: LiveContext,
}

impl LiveMessages {
    pub(crate) fn new(frames: Option<Frames>, window: &Vector<Arc<Entry>>) -> Self {
        let mut live = Self { frames, context: LiveContext::default() };
        live.rebuild(window);
        live
    }

    pub(crate) fn messages(&self) -> &Vector<Arc<Message>> {
        self.context.messages()
    }

    /// Rebuilds everything. Linear in the window.
    pub(crate) fn rebuild(&mut self, window: &Vector<Arc<Entry>>) {
        let entries: Vec<Arc<Entry>> = window.iter().cloned().collect();
        let frames = self.frames.as_deref().map(|frames| frames as &dyn FrameSource);
        let options = RebuildOptions { frames, ..RebuildOptions::default() };
        self.context = LiveContext::of_entries(&entries, &options);
    }

    /// Takes in entries that were appended to what is the window now. None of them is a compaction or a reset.
    pub(crate) fn extend(&mut self, appended: &[Arc<Entry>], window: &Vector<Arc<Entry>>) {
        let needs_rebuild =
            appended.iter().any(|entry| self.context.append(entry) == Growth::NeedsRebuild);
        if needs_rebuild {
            self.rebuild(window);
        }
    }
}
