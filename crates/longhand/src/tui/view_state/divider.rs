//! Where maintenance changed what the model sees: data for the rule across the transcript and for its detail.

use longhand_agent::maintenance::MaintenanceRecord;
use longhand_session::entry::{BranchSummaryEntry, CompactionEntry, CustomEntry};
use longhand_session::message::{BranchSummaryMessage, CompactionSummaryMessage};
use longhand_session::{Block, EntryId};
use serde::Deserialize;

/// The `customType` of the entry that says how a pass went.
const RECORD: &str = "maintenance_record";

/// A place in the transcript where what the model sees was changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Divider {
    /// What happened.
    pub(crate) kind: DividerKind,
    /// When, in milliseconds since the epoch; 0 where that is not known.
    pub(crate) at_millis: i64,
    /// How the pass went, where that was kept.
    pub(crate) record: Option<MaintenanceRecord>,
}

/// What happened at a divider.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DividerKind {
    /// A summary took the place of history.
    Compaction(Compaction),
    /// Entries were changed in place.
    Reduced,
    /// A branch was left.
    Branch {
        /// What was learned on it; may be empty.
        summary: String,
    },
    /// The model sees nothing from before.
    Cleared,
}

/// A compaction, as far as the view shows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Compaction {
    /// The method, where it is known.
    pub(crate) method: Option<String>,
    /// Tokens of the context before.
    pub(crate) before_tokens: u64,
    /// Tokens of the context after.
    pub(crate) after_tokens: Option<u64>,
    /// What the model reads in place of the history.
    pub(crate) summary: String,
    /// Why it will not help much.
    pub(crate) warning: Option<String>,
    /// Pictures that hold the history.
    pub(crate) frames: usize,
    /// Files that were read, and files that were changed.
    pub(crate) files: [Vec<String>; 2],
}

impl Divider {
    /// The divider of a compaction that was just made.
    pub(crate) fn of_entry(entry: &CompactionEntry, at_millis: i64) -> Self {
        let details = entry.details.as_ref();
        let files = |key: &str| {
            let list = details.and_then(|details| details.get(key)).and_then(|v| v.as_array());
            let names = list.into_iter().flatten().filter_map(|name| name.as_str());
            names.map(str::to_owned).collect()
        };
        let archive = entry.preserve_data.as_ref().and_then(|data| data.get("snapcompact"));
        let frames = archive.and_then(|archive| archive.get("frames")).and_then(|v| v.as_array());
        Self {
            kind: DividerKind::Compaction(Compaction {
                method: entry.method.clone(),
                before_tokens: entry.tokens_before,
                after_tokens: entry.tokens_after,
                summary: entry.summary.clone(),
                warning: entry.warning.clone(),
                frames: frames.map_or(0, Vec::len),
                files: [files("readFiles"), files("modifiedFiles")],
            }),
            at_millis,
            record: None,
        }
    }

    /// The divider of a compaction of an earlier run.
    pub(crate) fn of_message(message: &CompactionSummaryMessage) -> Self {
        let images = message.blocks.iter().flatten();
        Self {
            kind: DividerKind::Compaction(Compaction {
                method: message.method.clone(),
                before_tokens: message.tokens_before,
                after_tokens: message.tokens_after,
                summary: message.summary.clone(),
                warning: message.warning.clone(),
                frames: images.filter(|block| matches!(block, Block::Image(_))).count(),
                files: [Vec::new(), Vec::new()],
            }),
            at_millis: message.timestamp,
            record: None,
        }
    }

    /// The divider of a branch that was just left. A summary that is empty only marks the move.
    pub(crate) fn of_branch(entry: &BranchSummaryEntry, at_millis: i64) -> Self {
        let summary = entry.summary.clone();
        Self { kind: DividerKind::Branch { summary }, at_millis, record: None }
    }

    /// The divider of a branch that was left in an earlier run.
    pub(crate) fn of_branch_message(message: &BranchSummaryMessage) -> Self {
        let summary = message.summary.clone();
        Self { kind: DividerKind::Branch { summary }, at_millis: message.timestamp, record: None }
    }

    /// The divider of a reset.
    pub(crate) fn cleared(at_millis: i64) -> Self {
        Self { kind: DividerKind::Cleared, at_millis, record: None }
    }

    /// The divider of a pass that changed entries in place.
    pub(crate) fn reduced(record: MaintenanceRecord, at_millis: i64) -> Self {
        Self { kind: DividerKind::Reduced, at_millis, record: Some(record) }
    }

    /// Whether this is the archive of `earlier` with fewer frames, made because that one did not have room.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        let (Some(new), Some(old)) = (self.compaction(), earlier.compaction()) else {
            return false;
        };
        let is_archive = |made: &Compaction| made.method.as_deref() == Some("snapcompact");
        is_archive(new) && is_archive(old) && new.before_tokens == old.before_tokens
    }

    /// The compaction, if it is one.
    pub(crate) fn compaction(&self) -> Option<&Compaction> {
        if let DividerKind::Compaction(compaction) = &self.kind { Some(compaction) } else { None }
    }

    /// Whether the compaction left an archive of frames. An earlier one is not read to be shown; its method tells.
    pub(crate) fn has_archive(&self) -> bool {
        self.compaction().is_some_and(|compaction| {
            compaction.frames > 0 || compaction.method.as_deref() == Some("snapcompact")
        })
    }

    /// Tokens before and after, where both are known. The record's are preferred: they are the gauge's own.
    pub(crate) fn tokens(&self) -> Option<(u64, u64)> {
        if let Some(record) = &self.record {
            return Some((record.tokens_before, record.tokens_after));
        }
        let compaction = self.compaction()?;
        Some((compaction.before_tokens, compaction.after_tokens?))
    }

    /// The method, where it is known.
    pub(crate) fn method(&self) -> Option<&str> {
        let by_record = || self.record.as_ref().map(|record| record.method.as_str());
        self.compaction().and_then(|c| c.method.as_deref()).or_else(by_record)
    }
}

/// The record of a pass that an entry holds, and the entry that the pass made. An entry of another kind holds none, and neither does a
/// record of another program that lacks what ours have.
pub(super) fn record_of(entry: &CustomEntry) -> Option<(Option<EntryId>, MaintenanceRecord)> {
    if entry.custom_type != RECORD {
        return None;
    }
    let record = MaintenanceRecord::deserialize(entry.data.as_ref()?.value()).ok()?;
    Some((record.entry_id.clone(), record))
}
