//! Entries: the lines of a session, each a node of its tree.

use std::sync::Arc;

use serde::de::Deserializer;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::ids::EntryId;
use crate::json::{Json, Member, Members, OpenObject, open_object, single_line};
use crate::message::{Attribution, Message};
use crate::time::Timestamp;

/// One line of a session: a node of its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Unique in the session.
    pub id: EntryId,
    /// The entry that this one follows; `None` is a root.
    pub parent_id: Option<EntryId>,
    /// When it was appended.
    pub timestamp: Timestamp,
    /// What it says.
    pub kind: EntryKind,
}

/// What an entry says. Types that belong to features which this program does not have are kept and shown, never acted on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A message.
    Message(MessageEntry),
    /// A compaction: its summary stands for what came before the first kept entry.
    Compaction(Box<CompactionEntry>),
    /// A summary of a branch that was left, or the mark of a move when it is empty.
    BranchSummary(BranchSummaryEntry),
    /// A message of an extension or of the program's own features.
    CustomMessage(CustomMessageEntry),
    /// Data that no model ever sees.
    Custom(CustomEntry),
    /// What came before it is out of the model's sight.
    ResetBoundary(PlainEntry),
    /// The model was changed.
    ModelChange(ModelChangeEntry),
    /// The effort of thinking was changed.
    ThinkingLevelChange(ThinkingLevelChangeEntry),
    /// The service tier was changed.
    ServiceTierChange(ServiceTierChangeEntry),
    /// A mode was entered or left.
    ModeChange(ModeChangeEntry),
    /// A label of another entry.
    Label(LabelEntry),
    /// The title was changed.
    TitleChange(TitleChangeEntry),
    /// Tokens of a request that is not a turn.
    ModelUsage(Box<ModelUsageEntry>),
    /// Any other type, kept as it came.
    Other(OtherEntry),
}

impl EntryKind {
    /// The type as stored.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Message(_) => "message",
            Self::Compaction(_) => "compaction",
            Self::BranchSummary(_) => "branch_summary",
            Self::CustomMessage(_) => "custom_message",
            Self::Custom(_) => "custom",
            Self::ResetBoundary(_) => "reset_boundary",
            Self::ModelChange(_) => "model_change",
            Self::ThinkingLevelChange(_) => "thinking_level_change",
            Self::ServiceTierChange(_) => "service_tier_change",
            Self::ModeChange(_) => "mode_change",
            Self::Label(_) => "label",
            Self::TitleChange(_) => "title_change",
            Self::ModelUsage(_) => "model_usage",
            Self::Other(other) => &other.type_name,
        }
    }
}

impl Entry {
    /// The stored message, if the entry is one.
    pub fn message(&self) -> Option<&Arc<Message>> {
        if let EntryKind::Message(entry) = &self.kind { Some(&entry.message) } else { None }
    }

    /// The compaction, if the entry is one.
    pub fn compaction(&self) -> Option<&CompactionEntry> {
        if let EntryKind::Compaction(entry) = &self.kind { Some(entry) } else { None }
    }

    /// The line of the session file, without its end.
    pub fn to_line(&self) -> String {
        single_line(serde_json::to_string(self).expect("entries hold only JSON"))
    }
}

open_object! {
    /// A message.
    pub struct MessageEntry {
        /// The message. Shared, so that its identity is its version: a rewrite makes a new one.
        pub message: Arc<Message> = "message",
    }
}

impl Member for Arc<Message> {}

open_object! {
    /// A compaction.
    pub struct CompactionEntry {
        /// What the model reads in place of the history.
        pub summary: String = "summary",
        /// Two or three sentences for people.
        pub short_summary: Option<String> = "shortSummary",
        /// The first entry that is kept verbatim. Empty or unknown: nothing is kept.
        pub first_kept_entry_id: EntryId = "firstKeptEntryId",
        /// Tokens of the context before.
        pub tokens_before: u64 = "tokensBefore",
        /// Tokens of the context after.
        pub tokens_after: Option<u64> = "tokensAfter",
        /// Which method made it: `soft`, `remote`, `snapcompact`, `handoff`, `shake`.
        pub method: Option<String> = "method",
        /// Up to where a provider's own payload covers the history.
        pub provider_replay_through_entry_id: Option<EntryId> = "providerReplayThroughEntryId",
        /// Facts such as `readFiles` and `modifiedFiles`.
        pub details: Option<Json> = "details",
        /// Data that later compactions build on, by slot.
        pub preserve_data: Option<Json> = "preserveData",
        /// Whether an extension supplied it.
        pub from_extension: Option<bool> = "fromExtension",
        /// Why it did not help.
        pub warning: Option<String> = "warning",
    }
}

open_object! {
    /// A summary of a branch that was left.
    pub struct BranchSummaryEntry {
        /// The branch point, or `root`.
        pub from_id: EntryId = "fromId",
        /// The summary; may be empty.
        pub summary: String = "summary",
        /// Facts such as `readFiles` and `modifiedFiles`.
        pub details: Option<Json> = "details",
        /// Whether an extension supplied it.
        pub from_extension: Option<bool> = "fromExtension",
    }
}

open_object! {
    /// A message of an extension or of the program's own features. Its members are lenient: other writers err here.
    pub struct CustomMessageEntry {
        /// Kind, chosen by whoever wrote it.
        pub custom_type: String = "customType",
        /// Text or blocks; anything else is not a message.
        pub content: Json = "content",
        /// Whether the view shows it.
        pub display: bool = "display",
        /// Facts for the view.
        pub details: Option<Json> = "details",
        /// Who it is attributed to.
        pub attribution: Option<Attribution> = "attribution",
    }
}

open_object! {
    /// Data that no model ever sees.
    pub struct CustomEntry {
        /// Kind, chosen by whoever wrote it.
        pub custom_type: String = "customType",
        /// The data.
        pub data: Option<Json> = "data",
    }
}

open_object! {
    /// An entry without members of its own.
    pub struct PlainEntry {}
}

open_object! {
    /// A change of model.
    pub struct ModelChangeEntry {
        /// `provider/id`. Empty in files of the ancestor, which has `provider` and `modelId` instead.
        pub model: String = "model",
        /// The role that changed; absent is `default`.
        pub role: Option<String> = "role",
    }
}

open_object! {
    /// A change of the effort of thinking.
    pub struct ThinkingLevelChangeEntry {
        /// The effort in force.
        pub thinking_level: Option<String> = "thinkingLevel",
        /// The effort that was asked for, such as `auto`.
        pub configured: Option<String> = "configured",
    }
}

open_object! {
    /// A change of service tier.
    pub struct ServiceTierChangeEntry {
        /// Text or object, in several historical forms.
        pub service_tier: Json = "serviceTier",
    }
}

open_object! {
    /// A mode entered or left.
    pub struct ModeChangeEntry {
        /// The mode; `none` when it is left.
        pub mode: String = "mode",
        /// Its state.
        pub data: Option<Json> = "data",
    }
}

open_object! {
    /// A label of another entry.
    pub struct LabelEntry {
        /// The labelled entry.
        pub target_id: EntryId = "targetId",
        /// The label; absent or empty clears it.
        pub label: Option<String> = "label",
    }
}

open_object! {
    /// A change of title.
    pub struct TitleChangeEntry {
        /// The new title.
        pub title: String = "title",
        /// The title before.
        pub previous_title: Option<String> = "previousTitle",
        /// `auto` or `user`.
        pub source: String = "source",
    }
}

open_object! {
    /// Tokens of a request that is not a turn, such as a summary.
    pub struct ModelUsageEntry {
        /// What the request was for.
        pub purpose: String = "purpose",
        /// Wire protocol.
        pub api: String = "api",
        /// Provider of the model.
        pub provider: String = "provider",
        /// Id of the model.
        pub model: String = "model",
        /// Measured tokens.
        pub usage: Option<crate::usage::Usage> = "usage",
        /// How the request ended.
        pub stop_reason: crate::message::StopReason = "stopReason",
    }
}

/// An entry whose type is not understood.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherEntry {
    /// The type as stored.
    pub type_name: String,
    /// Everything else.
    pub members: PlainEntry,
}

const BASE: &[&str] = &["type", "id", "parentId", "timestamp"];

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.kind.type_name())?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("parentId", &self.parent_id)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        match &self.kind {
            EntryKind::Message(e) => e.write_members(&mut map),
            EntryKind::Compaction(e) => e.write_members(&mut map),
            EntryKind::BranchSummary(e) => e.write_members(&mut map),
            EntryKind::CustomMessage(e) => e.write_members(&mut map),
            EntryKind::Custom(e) => e.write_members(&mut map),
            EntryKind::ResetBoundary(e) => e.write_members(&mut map),
            EntryKind::ModelChange(e) => e.write_members(&mut map),
            EntryKind::ThinkingLevelChange(e) => e.write_members(&mut map),
            EntryKind::ServiceTierChange(e) => e.write_members(&mut map),
            EntryKind::ModeChange(e) => e.write_members(&mut map),
            EntryKind::Label(e) => e.write_members(&mut map),
            EntryKind::TitleChange(e) => e.write_members(&mut map),
            EntryKind::ModelUsage(e) => e.write_members(&mut map),
            EntryKind::Other(e) => e.members.write_members(&mut map),
        }?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut members = Members::deserialize(deserializer)?;
        let base = |members: &mut Members, key: &str| {
            members.remove(key).and_then(|raw| crate::json::typed(&raw))
        };
        let id = base(&mut members, "id")
            .ok_or_else(|| D::Error::custom("an entry needs a string `id`"))?;
        let parent_id: Option<String> = base(&mut members, "parentId");
        let timestamp: Option<String> = base(&mut members, "timestamp");
        Ok(Self {
            id: EntryId::from(id),
            parent_id: parent_id.map(EntryId::from),
            timestamp: Timestamp::new(timestamp.unwrap_or_default()),
            kind: read_kind(members),
        })
    }
}

fn read_kind(members: Members) -> EntryKind {
    let type_name = members.tag("type").unwrap_or_default();
    match type_name.as_str() {
        "message" if members.contains("message") => EntryKind::Message(members.read(BASE)),
        "compaction" => EntryKind::Compaction(Box::new(members.read(BASE))),
        "branch_summary" => EntryKind::BranchSummary(members.read(BASE)),
        "custom_message" => EntryKind::CustomMessage(members.read(BASE)),
        "custom" => EntryKind::Custom(members.read(BASE)),
        "reset_boundary" => EntryKind::ResetBoundary(members.read(BASE)),
        "model_change" => EntryKind::ModelChange(members.read(BASE)),
        "thinking_level_change" => EntryKind::ThinkingLevelChange(members.read(BASE)),
        "service_tier_change" => EntryKind::ServiceTierChange(members.read(BASE)),
        "mode_change" => EntryKind::ModeChange(members.read(BASE)),
        "label" => EntryKind::Label(members.read(BASE)),
        "title_change" => EntryKind::TitleChange(members.read(BASE)),
        "model_usage" => EntryKind::ModelUsage(Box::new(members.read(BASE))),
        _ => EntryKind::Other(OtherEntry { type_name, members: members.read(BASE) }),
    }
}

impl CompactionEntry {
    /// Whether an extension supplied it, under either name of the member.
    pub fn is_from_extension(&self) -> bool {
        let alias = || self.extra.get("fromHook").and_then(|json| json.value().as_bool());
        self.from_extension.or_else(alias).unwrap_or(false)
    }
}

impl BranchSummaryEntry {
    /// Whether an extension supplied it, under either name of the member.
    pub fn is_from_extension(&self) -> bool {
        let alias = || self.extra.get("fromHook").and_then(|json| json.value().as_bool());
        self.from_extension.or_else(alias).unwrap_or(false)
    }
}
