//! Where history is cut: what is newer is kept verbatim, what is older goes.
//!
//! Decides from the kind and the cost of each entry alone, so that a table test says it all. A cut never parts a call from its
//! result, and the newest group of messages is kept even when it is larger than what should be kept. Linear in the entries.

use longhand_session::{EntryKind, Message};

/// What an entry means for a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A message that begins a turn: a cut before it splits none.
    TurnStart,
    /// A message that may be the first kept one, in the middle of a turn.
    CutPoint,
    /// A message that stays with the one before it.
    Inside,
    /// An entry that no model sees. It stays with what follows it.
    Metadata,
    /// A compaction or a reset: what precedes it has nothing to do with what follows.
    Boundary,
}

impl Place {
    /// The place of an entry.
    pub fn of(kind: &EntryKind) -> Self {
        match kind {
            EntryKind::Message(entry) => Self::of_message(&entry.message),
            // A mark of a move in the tree, which no model sees.
            EntryKind::BranchSummary(entry) if entry.summary.is_empty() => Self::Metadata,
            EntryKind::CustomMessage(_) | EntryKind::BranchSummary(_) => Self::TurnStart,
            EntryKind::Compaction(_) | EntryKind::ResetBoundary(_) => Self::Boundary,
            _ => Self::Metadata,
        }
    }

    fn of_message(message: &Message) -> Self {
        match message {
            Message::User(_) | Message::BashExecution(_) => Self::TurnStart,
            Message::Assistant(_)
            | Message::HookMessage(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => Self::CutPoint,
            Message::ToolResult(_)
            | Message::Developer(_)
            | Message::Custom(_)
            | Message::PythonExecution(_)
            | Message::FileMention(_)
            | Message::Unknown(_) => Self::Inside,
        }
    }

    fn may_be_first(self) -> bool {
        matches!(self, Self::TurnStart | Self::CutPoint)
    }
}

/// An entry, as far as a cut depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// What it means for a cut.
    pub place: Place,
    /// What its message costs; 0 without one.
    pub tokens: u64,
}

/// A cut through a list of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The first candidate that is kept.
    pub first_kept: usize,
    /// Where the turn begins whose end is kept; `None` unless the cut splits a turn.
    pub split_turn_start: Option<usize>,
}

/// The cut that keeps as many of the newest candidates as `keep_tokens` holds, and always the newest group. Without a place to cut
/// everything is kept.
pub fn find(candidates: &[Candidate], keep_tokens: u64) -> Cut {
    let Some(cut) = first_kept(candidates, keep_tokens) else {
        return Cut { first_kept: 0, split_turn_start: None };
    };
    let split_turn_start = match candidates[cut].place {
        Place::TurnStart => None,
        _ => candidates[..cut].iter().rposition(|older| older.place == Place::TurnStart),
    };
    let is_metadata = |entry: &Candidate| entry.place == Place::Metadata;
    let pulled = candidates[..cut].iter().rev().take_while(|entry| is_metadata(entry)).count();
    Cut { first_kept: cut - pulled, split_turn_start }
}

/// The oldest place to cut after which no more than `keep_tokens` follow, or the newest one.
fn first_kept(candidates: &[Candidate], keep_tokens: u64) -> Option<usize> {
    let mut cut = None;
    let mut kept_tokens: u64 = 0;
    for (at, candidate) in candidates.iter().enumerate().rev() {
        kept_tokens = kept_tokens.saturating_add(candidate.tokens);
        if !candidate.place.may_be_first() {
            continue;
        }
        if cut.is_some() && kept_tokens > keep_tokens {
            break;
        }
        cut = Some(at);
    }
    cut
}
