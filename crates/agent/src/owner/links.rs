//! Changes of the links between entries: one that is taken out for good, and one that is hung after a gap.
//!
//! Both are one atomic rewrite of the store; then the tree is built anew, which is linear in the session. Each needs the session to
//! itself.

use std::sync::Arc;

use longhand_session::entry::{BranchSummaryEntry, EntryKind};
use longhand_session::store::{ChangeSet, IndexRow};
use longhand_session::{Entry, EntryId, Tree};
use serde_json::json;

use super::Owner;
use super::edits::branch_point;
use crate::edit::EditError;
use crate::event::SessionEvent;
use crate::window;

impl Owner {
    /// Takes an entry out of the branch for good: out of the session where nothing but service tiers follows it, else off the branch.
    pub(super) async fn discard(&mut self, id: &EntryId) -> Result<(), EditError> {
        self.refuse_while_busy()?;
        self.read(id).await?;
        let tree = self.branch.tree();
        let children = tree.children(Some(id)).map(|row| row.id.clone());
        let children = self.read_all(children.filter(|child| child != id).collect()).await?;
        let is_tier = |child: &Arc<Entry>| matches!(child.kind, EntryKind::ServiceTierChange(_));
        let (mut changes, leaf) = if children.iter().all(is_tier) {
            without(self.branch.tree(), id, &children)
        } else {
            (ChangeSet::default(), leaf_beside(self.branch.tree(), id))
        };
        let details = json!({ "kind": "discarded-entry-branch", "discardedEntryId": id });
        let mark = BranchSummaryEntry {
            from_id: branch_point(leaf.as_ref()),
            details: Some(details.into()),
            ..BranchSummaryEntry::default()
        };
        let mark = self.entry(EntryKind::BranchSummary(mark).into(), leaf, &[]);
        changes.append.push(mark.clone());
        self.rearrange(changes, Some(mark.id.clone())).await?;
        self.emit(SessionEvent::EntryAppended { entry: mark });
        Ok(())
    }

    /// Hangs an entry after a gap where it most likely belongs.
    pub(super) async fn close_gap(&mut self, id: &EntryId) -> Result<(), EditError> {
        self.refuse_while_busy()?;
        let entry = self.read(id).await?;
        let gap = self.branch.tree().gaps().into_iter().find(|gap| gap.entry == *id);
        let before = gap.and_then(|gap| gap.before).ok_or_else(|| EditError::NoGap(id.clone()))?;
        let moved = Entry { parent_id: Some(before), ..Entry::clone(&entry) };
        let changes = ChangeSet { replace: vec![Arc::new(moved)], ..ChangeSet::default() };
        let leaf = self.branch.tree().leaf().cloned();
        self.rearrange(changes, leaf).await
    }

    /// Writes changes of links, and goes on with the tree that they make.
    async fn rearrange(
        &mut self,
        changes: ChangeSet,
        leaf: Option<EntryId>,
    ) -> Result<(), EditError> {
        self.journal.rewrite(changes.clone()).await?;
        self.take_in_others().await;
        let mut tree = changed(self.branch.tree(), &changes);
        tree.set_leaf(leaf.as_ref())?;
        let path = leaf.as_ref().map(|leaf| tree.path_rows(leaf)).unwrap_or_default();
        let read = self.journal.reader().run(move |reader| window::read(&path, reader)).await;
        self.branch.rearrange(tree, read.map_err(Arc::new)?);
        self.state.has_bare_move = false;
        self.publish();
        let ids = changes.replace.iter().map(|entry| entry.id.clone()).chain(changes.remove);
        self.emit(SessionEvent::EntriesRewritten { ids: ids.collect() });
        self.emit(SessionEvent::LeafChanged { leaf, editor_text: None });
        self.tell_usage(None);
        Ok(())
    }
}

/// The changes that take an entry out, its children hung one after another in its place, and the leaf after them.
fn without(tree: &Tree, id: &EntryId, children: &[Arc<Entry>]) -> (ChangeSet, Option<EntryId>) {
    let mut changes = ChangeSet { remove: vec![id.clone()], ..ChangeSet::default() };
    let mut before = parent(tree, id);
    for child in children {
        let moved = Entry { parent_id: before, ..Entry::clone(child) };
        before = Some(moved.id.clone());
        changes.replace.push(Arc::new(moved));
    }
    let leaf = if tree.leaf() == Some(id) { before } else { tree.leaf().cloned() };
    (changes, leaf)
}

/// The leaf once an entry is off the branch.
fn leaf_beside(tree: &Tree, id: &EntryId) -> Option<EntryId> {
    let leaf = tree.leaf()?;
    let is_on_branch = tree.ancestors(leaf).any(|row| row.id == *id);
    if is_on_branch { parent(tree, id) } else { Some(leaf.clone()) }
}

/// The parent of an entry, if it is in the session and not the entry itself.
fn parent(tree: &Tree, id: &EntryId) -> Option<EntryId> {
    tree.ancestors(id).nth(1).map(|row| row.id.clone())
}

fn changed(tree: &Tree, changes: &ChangeSet) -> Tree {
    let replaced = |row: &IndexRow| {
        let new = changes.replace.iter().find(|new| new.id == row.id);
        new.map_or_else(|| row.clone(), |new| IndexRow::from(&**new))
    };
    let kept = tree.rows().filter(|row| !changes.remove.contains(&row.id)).map(replaced);
    Tree::new(kept.chain(changes.append.iter().map(|entry| IndexRow::from(&**entry))))
}
