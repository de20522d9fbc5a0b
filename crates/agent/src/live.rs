//! What the model sees, kept up to date while entries are appended.
//!
//! Always what a rebuild of the whole window would give. After a plain append only the messages since the last one of the user are
//! rebuilt; the cost of an append does not depend on the length of the session. Everything else rebuilds the window.

use std::collections::HashSet;
use std::sync::Arc;

use longhand_session::archive::FrameSource;
use longhand_session::context::{self, Leaf, RebuildOptions};
use longhand_session::entry::EntryKind;
use longhand_session::{AssistantMessage, Entry, Message, ToolCallId};

/// Where the pictures of a bitmap archive lie.
pub type Frames = Arc<dyn FrameSource + Send + Sync>;

/// Kind of the note that changes how the reply before it is seen.
const INTERRUPTED_THINKING: &str = "interrupted-thinking";

/// The messages of a window of entries.
pub(crate) struct LiveMessages {
    frames: Option<Frames>,
    messages: Vec<Arc<Message>>,
    settled: Settled,
}

/// The part that appended entries cannot change: what came before the last message of the user.
#[derive(Default)]
struct Settled {
    entries: usize,
    messages: usize,
    /// Calls in there, by their own blocks and by results. Some servers use an id again and again.
    calls: HashSet<ToolCallId>,
}

impl LiveMessages {
    pub(crate) fn new(frames: Option<Frames>, entries: &[Arc<Entry>]) -> Self {
        let mut live = Self { frames, messages: Vec::new(), settled: Settled::default() };
        live.rebuild(entries);
        live
    }

    pub(crate) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Rebuilds everything. Linear in the window.
    pub(crate) fn rebuild(&mut self, entries: &[Arc<Entry>]) {
        self.messages = self.build(entries);
        self.settled = Settled::default();
        self.settle(entries);
    }

    /// Takes in entries that were appended to the window: all from `from` on. None of them is a compaction or a reset.
    pub(crate) fn extend(&mut self, entries: &[Arc<Entry>], from: usize) {
        if !self.changes_only_the_end(entries, from) {
            return self.rebuild(entries);
        }
        let end = self.build(&entries[self.settled.entries..]);
        self.messages.truncate(self.settled.messages);
        self.messages.extend(end);
        if entries[from..].iter().any(is_barrier) {
            self.settle(entries);
        }
    }

    /// Whether no appended entry reaches back into the settled part: as the result of a call in there, as a call that bears the
    /// id of one in there, or as a note about the reply before it.
    fn changes_only_the_end(&self, entries: &[Arc<Entry>], from: usize) -> bool {
        let end = entries[self.settled.entries..].iter().filter_map(|entry| entry.message());
        let calls: HashSet<&ToolCallId> = end
            .filter_map(|message| message.as_assistant())
            .flat_map(|reply| reply.tool_calls().map(|call| &call.id))
            .collect();
        calls.iter().all(|call| !self.settled.calls.contains(*call))
            && entries[from..].iter().all(|entry| match &entry.kind {
                EntryKind::CustomMessage(custom) => custom.custom_type != INTERRUPTED_THINKING,
                EntryKind::Message(entry) => match &*entry.message {
                    Message::ToolResult(result) => calls.contains(&result.tool_call_id),
                    Message::Custom(custom) => custom.custom_type != INTERRUPTED_THINKING,
                    _ => true,
                },
                _ => true,
            })
    }

    /// Lets the settled part grow up to the last message of the user, if what follows can be rebuilt alone.
    fn settle(&mut self, entries: &[Arc<Entry>]) {
        let open = &entries[self.settled.entries..];
        let is_cut = |entry: &Arc<Entry>| entry.compaction().is_some();
        let after_cut = open.iter().rposition(is_cut).map_or(0, |at| at + 1);
        let barrier = open[after_cut..].iter().rposition(is_barrier);
        let at = after_cut + barrier.unwrap_or(0);
        let end = self.build(&open[at..]);
        if !self.messages.ends_with(&end) {
            return;
        }
        let settled = open[..at].iter().filter_map(|entry| entry.message());
        self.settled.calls.extend(settled.flat_map(|message| calls_of(message)).cloned());
        self.settled.entries += at;
        self.settled.messages = self.messages.len() - end.len();
    }

    fn build(&self, entries: &[Arc<Entry>]) -> Vec<Arc<Message>> {
        let frames = self.frames.as_deref().map(|frames| frames as &dyn FrameSource);
        let options = RebuildOptions { frames, ..RebuildOptions::default() };
        context::build_from_entries(entries, &Leaf::Last, &options).messages
    }
}

/// The calls that a message makes or answers.
fn calls_of(message: &Message) -> impl Iterator<Item = &ToolCallId> {
    let answered = message.as_tool_result().map(|result| &result.tool_call_id);
    let made = message.as_assistant().into_iter().flat_map(AssistantMessage::tool_calls);
    answered.into_iter().chain(made.map(|call| &call.id))
}

/// A message of the user: what came before it stays as it is.
fn is_barrier(entry: &Arc<Entry>) -> bool {
    entry.message().is_some_and(|message| matches!(**message, Message::User(_)))
}
