//! What of a session is seen: the messages rebuilt from the active path, for a model or for a person.
//!
//! Rebuilding is a pure function of the path. For a model it reads only what it shows: entries that change settings, the newest
//! compaction, what that keeps and what follows, and one reply. What lies before is never read. Damaged and foreign paths give
//! what they can; only a reader fails.

mod dangling;
mod emission;
mod live;
mod model_view;
mod path;
mod settings;
mod shown;
mod source;
mod transcript;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive::FrameSource;
use crate::entry::Entry;
use crate::json::Json;
use crate::message::Message;
use crate::store::{EntryReader, IndexRow, StoreError};

pub use live::{Growth, LiveContext};
pub use path::{Leaf, working_path};

use source::Source;

/// The messages of a branch, and the settings in force at its leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionContext {
    /// The messages, oldest first, in all roles.
    pub messages: Vec<Arc<Message>>,
    /// Effort of thinking; `off` where nothing was set.
    pub thinking_level: String,
    /// The effort that was asked for, such as `auto`.
    pub configured_thinking_level: Option<String>,
    /// Service tier by provider family.
    pub service_tier: Option<Json>,
    /// Models by role, as `provider/id`.
    pub models: BTreeMap<String, String>,
    /// The role of the model that was changed last; `None` where none was.
    pub changed_role: Option<String>,
    /// Names of injected rules, in first-seen order.
    pub injected_ttsr_rules: Vec<String>,
    /// The mode; `none` outside any.
    pub mode: String,
    /// State of the mode.
    pub mode_data: Option<Json>,
    /// Transcript only, one a message: whether a change explains why the provider's cache was missed.
    pub cache_miss_explained_at: Option<Vec<bool>>,
}

impl Default for SessionContext {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            thinking_level: "off".into(),
            configured_thinking_level: None,
            service_tier: None,
            models: BTreeMap::new(),
            changed_role: None,
            injected_ttsr_rules: Vec::new(),
            mode: "none".into(),
            mode_data: None,
            cache_miss_explained_at: None,
        }
    }
}

/// For whom a context is rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// For a model: the newest compaction stands for what it replaced.
    #[default]
    Model,
    /// For a person: everything that was said, compactions in their place.
    Transcript,
    /// For a person, without what the newest compaction replaced.
    CollapsedTranscript,
}

/// What becomes of calls that have no result. A model never sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DanglingCalls {
    /// They are left out.
    #[default]
    Removed,
    /// A transcript keeps them: they are running.
    Kept,
}

/// How to rebuild.
#[derive(Clone, Copy, Default)]
pub struct RebuildOptions<'a> {
    /// For whom.
    pub view: View,
    /// What becomes of calls that have no result.
    pub dangling_calls: DanglingCalls,
    /// Where the frames of a bitmap archive lie. Without it, frames in the blob store are missing.
    pub frames: Option<&'a dyn FrameSource>,
}

/// Rebuilds a context from a path, root first. Messages that were stored keep their identity.
///
/// # Errors
/// The reader's.
pub fn build(
    path: &[IndexRow],
    reader: &dyn EntryReader,
    options: &RebuildOptions<'_>,
) -> Result<SessionContext, StoreError> {
    let mut source = Source::new(path, reader);
    let settings = settings::Settings::read(&mut source)?;
    let mut context = SessionContext::default();
    match options.view {
        View::Model => {
            let said = model_view::messages(&mut source, options.frames)?;
            context.messages = LiveContext::of(said).into_messages();
        }
        View::Transcript | View::CollapsedTranscript => {
            let (messages, flags) = transcript::messages(&mut source, &settings, options)?;
            context.messages = messages;
            context.cache_miss_explained_at = Some(flags);
            if options.dangling_calls == DanglingCalls::Removed {
                dangling::strip_for_transcript(&mut context.messages);
            }
        }
    }
    settings.put_into(&mut context, &mut source)?;
    Ok(context)
}

/// What an entry says by itself: its message, that of an extension, or the summary of a branch that was left. Stored messages keep
/// their identity. `None` for all other entries.
pub fn message_of(entry: &Entry) -> Option<Arc<Message>> {
    emission::for_person(entry)
}

/// The settings in force at the end of a path, without its messages. Reads the entries that change settings, and at most one
/// reply.
///
/// # Errors
/// The reader's.
pub fn settings(path: &[IndexRow], reader: &dyn EntryReader) -> Result<SessionContext, StoreError> {
    let mut source = Source::new(path, reader);
    let settings = settings::Settings::read(&mut source)?;
    let mut context = SessionContext::default();
    settings.put_into(&mut context, &mut source)?;
    Ok(context)
}

/// Everything that was said on a path, for a person. Reads all of it.
///
/// # Errors
/// The reader's.
pub fn transcript(
    path: &[IndexRow],
    reader: &dyn EntryReader,
    dangling_calls: DanglingCalls,
) -> Result<SessionContext, StoreError> {
    let options = RebuildOptions { view: View::Transcript, dangling_calls, frames: None };
    build(path, reader, &options)
}

/// Rebuilds a context from entries in memory, as they lie in a file.
pub fn build_from_entries(
    entries: &[Arc<Entry>],
    leaf: &Leaf,
    options: &RebuildOptions<'_>,
) -> SessionContext {
    let reader = path::InMemory::new(entries);
    build(&reader.path(leaf), &reader, options)
        .expect("a path through entries in memory names only these entries")
}
