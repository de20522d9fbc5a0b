//! A fork: a copy of a whole session, all branches of it, that goes its own way.

use std::sync::Arc;

use serde_json::json;

use super::{Birth, DeriveError, Derived, write};
use crate::conversion;
use crate::entry::{BranchSummaryEntry, Entry, EntryKind};
use crate::header::Header;
use crate::ids::EntryId;
use crate::json::Number;
use crate::message::Message;
use crate::store::{Lines, SessionStore, StoreError};
use crate::tree::{Tree, open_calls};
use crate::usage::{Cost, Usage};

/// How a session is forked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fork {
    /// Where the fork goes on.
    pub leaf: ForkLeaf,
    /// What becomes of what replies cost.
    pub costs: Costs,
}

/// Where a fork goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ForkLeaf {
    /// Where the original would, opened from its store.
    #[default]
    OfStore,
    /// At an entry: where somebody who has the original open is.
    At(EntryId),
    /// Before the first entry.
    BeforeFirst,
}

/// What becomes of what replies cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Costs {
    /// They are counted in the fork too.
    #[default]
    Kept,
    /// They were paid in the original. Tokens stay.
    Zeroed,
}

impl Fork {
    /// Copies a session into the new store that `make` makes for its header. Linear in the session; holds one line at a time.
    ///
    /// The fork has another id and begins now. It keeps the title, names its origin, and shares the prompt cache with it.
    ///
    /// # Errors
    /// There is no such session or no such leaf, or it cannot be copied. There is no fork.
    pub fn of(
        &self,
        source: &mut dyn SessionStore,
        birth: Birth<'_>,
        make: impl FnOnce(&Header) -> Box<dyn SessionStore>,
    ) -> Result<Derived, DeriveError> {
        let opened = source.open()?;
        let origin = opened.header;
        let header = Header {
            provider_prompt_cache_key: origin
                .provider_prompt_cache_key
                .clone()
                .or_else(|| Some(origin.id.to_string())),
            ..birth.header(&origin, origin.id.to_string())
        };
        let tree = Tree::new(opened.rows);
        let leaf = self.leaf_in(&tree)?;
        let path = leaf.as_ref().map(|leaf| tree.path_rows(leaf)).unwrap_or_default();
        let closed_calls = open_calls(&path, &*source)?;
        let mut kinds = birth.results(&closed_calls);
        if kinds.is_empty() && leaf.as_ref() != tree.leaf() {
            kinds.push(navigation_mark(leaf.as_ref()));
        }
        let tail = birth.chained(kinds, leaf, |id| tree.contains(id));
        let store = {
            let mut unread = Vec::new();
            let lines = conversion::readable(source.lines(), &mut unread);
            let costs = self.costs;
            let lines = lines.map(move |line| line.map(|line| costs.applied(line)));
            let tail = tail.iter().map(|entry| Ok(entry.to_line()));
            let lines: Lines<'_> = Box::new(lines.chain(tail));
            write(&*source, make(&header), lines)?
        };
        Ok(Derived { store, header, closed_calls, damage: opened.damage })
    }

    fn leaf_in(&self, tree: &Tree) -> Result<Option<EntryId>, StoreError> {
        match &self.leaf {
            ForkLeaf::OfStore => Ok(tree.leaf().cloned()),
            ForkLeaf::BeforeFirst => Ok(None),
            ForkLeaf::At(id) if tree.contains(id) => Ok(Some(id.clone())),
            ForkLeaf::At(id) => Err(StoreError::UnknownEntry(id.clone())),
        }
    }
}

/// The leaf of a stored session is its last entry: one that says nothing makes it another.
fn navigation_mark(leaf: Option<&EntryId>) -> EntryKind {
    EntryKind::BranchSummary(BranchSummaryEntry {
        from_id: leaf.cloned().unwrap_or_else(|| "root".into()),
        details: Some(json!({ "kind": "navigation" }).into()),
        ..BranchSummaryEntry::default()
    })
}

impl Costs {
    /// A line as it goes into the fork. One without a cost stays byte for byte.
    fn applied(self, line: String) -> String {
        if self == Self::Kept || !line.contains("\"cost\"") {
            return line;
        }
        let without_cost = serde_json::from_str(&line).ok().and_then(without_cost);
        without_cost.map_or(line, |entry| entry.to_line())
    }
}

fn without_cost(mut entry: Entry) -> Option<Entry> {
    match &mut entry.kind {
        EntryKind::Message(inner) => {
            let message = Arc::make_mut(&mut inner.message);
            let Message::Assistant(reply) = message else { return None };
            reply.usage.as_mut()?.forget_cost();
        }
        EntryKind::ModelUsage(inner) => inner.usage.as_mut()?.forget_cost(),
        _ => return None,
    }
    Some(entry)
}

impl Usage {
    fn forget_cost(&mut self) {
        let Some(cost) = &mut self.cost else { return };
        let unknown: Vec<String> = cost.extra.iter().map(|(key, _)| key.to_owned()).collect();
        for key in unknown {
            cost.extra.insert(&key, json!(0).into());
        }
        let Cost { input, output, cache_read, cache_write, total, extra: _ } = cost;
        for part in [input, output, cache_read, cache_write, total] {
            *part = Number::default();
        }
    }
}
