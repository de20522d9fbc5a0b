//! The context of a branch that grows: what the model sees, brought up to date with each appended entry.
//!
//! Always the messages that a whole rebuild would give. An append costs what it brings, and the newest turn of the model with its
//! results where it answers a call of that turn; never more for a longer session. What reaches further back asks for a rebuild.

use std::sync::Arc;

use imbl::{HashSet, Vector};

use super::path::{InMemory, Leaf};
use super::shown::{Shown, calls};
use super::source::Source;
use super::{RebuildOptions, emission, model_view};
use crate::entry::{Entry, EntryKind};
use crate::ids::ToolCallId;
use crate::message::Message;
use crate::store::{EntryReader, IndexRow, StoreError};

/// What a model sees of a branch that grows.
#[derive(Debug, Clone, Default)]
pub struct LiveContext {
    shown: Shown,
    /// Calls without result of turns before the newest.
    open_calls: HashSet<ToolCallId>,
    newest_turn: Option<Turn>,
}

/// The newest turn of the model, as stored, and what is needed to show it again with another of its calls answered.
#[derive(Debug, Clone)]
struct Turn {
    message: Arc<Message>,
    before: Shown,
    after: Vector<Arc<Message>>,
}

/// What an appended entry asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a context that needs a rebuild is not up to date"]
pub enum Growth {
    /// The context is up to date.
    UpToDate,
    /// The entry changes what lies further back: the context is as it was, and must be rebuilt.
    NeedsRebuild,
}

impl LiveContext {
    /// Rebuilds the context of a path, root first. Linear in what the model sees.
    ///
    /// # Errors
    /// The reader's.
    pub fn rebuild(
        path: &[IndexRow],
        reader: &dyn EntryReader,
        options: &RebuildOptions<'_>,
    ) -> Result<Self, StoreError> {
        let mut source = Source::new(path, reader);
        Ok(Self::of(model_view::messages(&mut source, options.frames)?))
    }

    /// Rebuilds the context of a path whose entries are in memory, root first. Linear in them.
    pub fn of_entries(entries: &[Arc<Entry>], options: &RebuildOptions<'_>) -> Self {
        let reader = InMemory::new(entries);
        Self::rebuild(&reader.path(&Leaf::Last), &reader, options)
            .expect("a path through entries in memory names only these entries")
    }

    /// The context of messages that a path says.
    pub(super) fn of(said: Vec<Arc<Message>>) -> Self {
        let mut live = Self { shown: Shown::expecting(&said), ..Self::default() };
        for message in said {
            live.push(message);
        }
        live
    }

    /// The messages, oldest first. Clones are cheap, and share what they have in common.
    pub fn messages(&self) -> &Vector<Arc<Message>> {
        &self.shown.messages
    }

    pub(super) fn into_messages(self) -> Vec<Arc<Message>> {
        self.shown.messages.into_iter().collect()
    }

    /// Takes in an entry that was appended to the path.
    pub fn append(&mut self, entry: &Entry) -> Growth {
        if matches!(entry.kind, EntryKind::Compaction(_) | EntryKind::ResetBoundary(_)) {
            return Growth::NeedsRebuild;
        }
        let Some(message) = emission::for_model(entry) else { return Growth::UpToDate };
        if let Some(result) = message.as_tool_result() {
            if self.open_calls.contains(&result.tool_call_id) {
                return Growth::NeedsRebuild;
            }
            self.answer(&result.tool_call_id);
        }
        self.push(message);
        Growth::UpToDate
    }

    /// Shows the newest turn with one more of its calls answered.
    fn answer(&mut self, call: &ToolCallId) {
        let is_news = self.shown.answered.insert(call.clone()).is_none();
        let Some(turn) = &self.newest_turn else { return };
        if !is_news || calls(&turn.message).all(|id| id != call) {
            return;
        }
        let answered = std::mem::take(&mut self.shown.answered);
        self.shown = turn.before.clone().with_answered(answered);
        self.shown.push(Arc::clone(&turn.message));
        for message in &turn.after {
            self.shown.push(Arc::clone(message));
        }
    }

    fn push(&mut self, message: Arc<Message>) {
        if message.as_assistant().is_some() {
            let before = self.shown.clone();
            let (message, after) = (Arc::clone(&message), Vector::new());
            if let Some(turn) = self.newest_turn.replace(Turn { message, before, after }) {
                let is_open = |id: &&ToolCallId| !self.shown.answered.contains(*id);
                self.open_calls.extend(calls(&turn.message).filter(is_open).cloned());
            }
        } else if let Some(turn) = &mut self.newest_turn {
            turn.after.push_back(Arc::clone(&message));
        }
        self.shown.push(message);
    }
}
