//! The tree of a session as rows of text: the branch of the active leaf first, indented only where it really forks.
//!
//! Reads every entry once and keeps a line of each. Draws nothing: a row says where it stands and what it is.

mod describe;
mod layout;

use std::collections::{HashMap, HashSet};

use longhand_session::EntryId;
use longhand_session::store::StoreError;
use longhand_session::tree::Labels;

pub use describe::{Calls, Row, RowKind, describe};
pub(crate) use describe::{one_line, tool_call};

use crate::session_file::SessionFile;

/// Which entries have rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// What was said and done, without bookkeeping.
    #[default]
    Default,
    /// The same without results of tools.
    NoTools,
    /// What the user said.
    UserOnly,
    /// What has a label.
    LabeledOnly,
    /// Everything.
    All,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRow {
    /// The entry.
    pub id: EntryId,
    /// The entry that it is shown under.
    pub parent: Option<EntryId>,
    /// How many forks are above it.
    pub depth: usize,
    /// Lines that connect it to the rows above, three columns for each fork.
    pub connectors: String,
    /// Whether it is on the active branch.
    pub is_active: bool,
    /// Whether the session goes on here.
    pub is_leaf: bool,
    /// The user's name for it.
    pub label: Option<String>,
    /// What it is.
    pub kind: RowKind,
    /// What it says, on one line.
    pub text: String,
}

/// The rows of a session that a filter lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRows {
    /// The rows, from the top.
    pub rows: Vec<TreeRow>,
    /// Leaves of the tree.
    pub branches: usize,
    /// Entries of the session.
    pub entries: usize,
}

/// How many entries are read at once.
const LOT: usize = 256;

/// The rows of a session.
///
/// # Errors
/// The session cannot be read.
pub fn tree_rows(session: &SessionFile, filter: Filter) -> Result<TreeRows, StoreError> {
    let mut labels = Labels::default();
    let mut calls = Calls::default();
    let mut described: HashMap<EntryId, (Row, Option<i64>)> = HashMap::new();
    for lot in session.rows.chunks(LOT) {
        for entry in session.read_once(lot)? {
            labels.take(&entry);
            calls.take(&entry);
            let row = describe(&entry, &calls);
            described.insert(entry.id.clone(), (row, entry.timestamp.millis()));
        }
    }
    let active: HashSet<EntryId> = session.tree.active_path().into_iter().collect();
    let view = session.tree.view(|id| described.get(id).and_then(|(_, time)| *time));
    let branches = view.iter().filter(|node| node.children == 0).count();
    let leaf = session.tree.leaf().cloned();
    let gaps: HashMap<EntryId, EntryId> =
        session.tree.gaps().into_iter().map(|gap| (gap.entry, gap.missing)).collect();
    let is_shown = |id: &EntryId| {
        let row = described.get(id).map(|(row, _)| row);
        row.is_some_and(|row| lets_through(filter, row, labels.of(id), leaf.as_ref() == Some(id)))
    };
    let mut rows = Vec::new();
    for place in layout::layout(&view, &active, is_shown) {
        let Some((row, _)) = described.get(&place.id) else { continue };
        let text = match gaps.get(&place.id) {
            Some(missing) => format!("(entry {missing} before this one is missing) {}", row.text),
            None => row.text.clone(),
        };
        rows.push(TreeRow {
            is_active: active.contains(&place.id),
            is_leaf: leaf.as_ref() == Some(&place.id),
            label: labels.of(&place.id).map(str::to_owned),
            kind: row.kind,
            text,
            id: place.id,
            parent: place.parent,
            depth: place.depth,
            connectors: place.connectors,
        });
    }
    Ok(TreeRows { rows, branches, entries: session.tree.len() })
}

fn lets_through(filter: Filter, row: &Row, label: Option<&str>, is_leaf: bool) -> bool {
    let is_said = match row.kind {
        RowKind::Bookkeeping => false,
        // Its calls are told by their results.
        RowKind::CallsOnly => is_leaf,
        RowKind::User
        | RowKind::Assistant
        | RowKind::Tool
        | RowKind::Compaction
        | RowKind::BranchSummary
        | RowKind::Other => true,
    };
    match filter {
        Filter::Default => is_said,
        Filter::NoTools => is_said && row.kind != RowKind::Tool,
        Filter::UserOnly => row.kind == RowKind::User,
        Filter::LabeledOnly => label.is_some(),
        Filter::All => true,
    }
}
