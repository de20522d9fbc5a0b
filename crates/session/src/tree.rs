//! The tree that the entries of a session form, and its leaf: where the next entry hangs.
//!
//! Holds ids, kinds and links, no entry: about 150 bytes a node. Any input makes a tree: an entry whose parent is itself or
//! missing is a root, and a walk along a circle of parents ends where it would repeat. No I/O.

mod abandoned;
mod gaps;
mod labels;
mod landing;
mod open_calls;
mod view;

use std::collections::{HashMap, HashSet};

pub use abandoned::Abandoned;
pub use gaps::Gap;
pub use labels::Labels;
pub use landing::{Landing, Returned, is_request, landing};
pub use open_calls::{aborted_result, open_calls, open_calls_in};
pub use view::ViewNode;

use crate::ids::EntryId;
use crate::store::{EntryTag, IndexRow};

/// The entries of a session by their links, with the active leaf.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<EntryId, u32>,
    /// Nodes by the missing id that they name as their parent.
    orphans: HashMap<EntryId, Vec<u32>>,
    first_root: Option<u32>,
    last_root: Option<u32>,
    /// Whether some entry stands before its parent in the file. Only such a link can close a circle.
    has_later_parents: bool,
    leaf: Option<u32>,
}

#[derive(Debug, Clone)]
struct Node {
    row: IndexRow,
    parent: Option<u32>,
    first_child: Option<u32>,
    last_child: Option<u32>,
    next_sibling: Option<u32>,
}

/// An id that is not in the tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry `{0}` not found")]
pub struct UnknownEntry(pub EntryId);

impl Tree {
    /// The tree of the rows of a session in the order of its file, with the leaf where the session goes on.
    ///
    /// A later row owns an id that occurs twice; the earlier one is then not part of the tree. Linear in the rows.
    pub fn new(rows: impl IntoIterator<Item = IndexRow>) -> Self {
        let mut tree = Self::default();
        for row in rows {
            let at = tree.nodes.len() as u32;
            tree.by_id.insert(row.id.clone(), at);
            tree.nodes.push(Node {
                row,
                parent: None,
                first_child: None,
                last_child: None,
                next_sibling: None,
            });
        }
        for at in 0..tree.nodes.len() as u32 {
            if tree.by_id.get(&tree.node(at).row.id) == Some(&at) {
                tree.link(at);
            }
        }
        tree.leaf = tree.leaf_of_file();
        tree
    }

    /// Adds an entry. The leaf moves to it if the entry follows the leaf, and stays otherwise.
    ///
    /// An id that is in the tree keeps its place, and the row is ignored: stores refuse such entries.
    pub fn append(&mut self, row: IndexRow) {
        let follows_leaf = row.parent_id.as_ref() == self.leaf();
        let added = self.add(row);
        if follows_leaf && added.is_some() {
            self.leaf = added;
        }
    }

    /// Adds an entry that somebody else wrote: the leaf stays.
    pub fn adopt(&mut self, row: IndexRow) {
        self.add(row);
    }

    /// The entry that was added last.
    pub fn newest(&self) -> Option<&IndexRow> {
        self.nodes.last().map(|node| &node.row)
    }

    /// `None` where the id is in the tree.
    fn add(&mut self, row: IndexRow) -> Option<u32> {
        if self.contains(&row.id) {
            return None;
        }
        let at = self.nodes.len() as u32;
        self.by_id.insert(row.id.clone(), at);
        self.nodes.push(Node {
            row,
            parent: None,
            first_child: None,
            last_child: None,
            next_sibling: None,
        });
        self.link(at);
        self.adopt_orphans(at);
        Some(at)
    }

    /// The entry that the next one will follow; `None` before the first, and after the leaf was reset.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.map(|at| &self.node(at).row.id)
    }

    /// Moves the leaf; `None` makes the next entry a new root.
    ///
    /// # Errors
    /// The id is not in the tree; the leaf stays.
    pub fn set_leaf(&mut self, leaf: Option<&EntryId>) -> Result<(), UnknownEntry> {
        self.leaf = match leaf {
            Some(id) => Some(self.index(id).ok_or_else(|| UnknownEntry(id.clone()))?),
            None => None,
        };
        Ok(())
    }

    /// The entries from the root to `id`, both included; empty for an unknown id. Linear in the path.
    pub fn path(&self, id: &EntryId) -> Vec<EntryId> {
        let mut path: Vec<EntryId> = self.ancestors(id).map(|row| row.id.clone()).collect();
        path.reverse();
        path
    }

    /// The entries from the root to the leaf.
    pub fn active_path(&self) -> Vec<EntryId> {
        self.leaf().map(|leaf| self.path(leaf)).unwrap_or_default()
    }

    /// The entry itself, its parent, and so on up to its root, one step at a time. Empty for an unknown id.
    pub fn ancestors(&self, id: &EntryId) -> Ancestors<'_> {
        Ancestors { tree: self, next: self.index(id), seen: HashSet::new() }
    }

    /// The children of an entry, or the roots for `None`, in the order of the file.
    pub fn children(&self, parent: Option<&EntryId>) -> impl Iterator<Item = &IndexRow> {
        let first = match parent {
            Some(id) => self.index(id).and_then(|at| self.node(at).first_child),
            None => self.first_root,
        };
        std::iter::successors(first, |at| self.node(*at).next_sibling).map(|at| &self.node(at).row)
    }

    /// All entries, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = &IndexRow> {
        let is_owner = |(at, node): &(usize, &Node)| self.index(&node.row.id) == Some(*at as u32);
        self.nodes.iter().enumerate().filter(is_owner).map(|(_, node)| &node.row)
    }

    /// The rows from the root to `id`, both included; empty for an unknown id. Linear in the path.
    pub fn path_rows(&self, id: &EntryId) -> Vec<IndexRow> {
        let mut path: Vec<IndexRow> = self.ancestors(id).cloned().collect();
        path.reverse();
        path
    }

    /// What is known of an entry.
    pub fn row(&self, id: &EntryId) -> Option<&IndexRow> {
        self.index(id).map(|at| &self.node(at).row)
    }

    /// Whether the id is in the tree.
    pub fn contains(&self, id: &EntryId) -> bool {
        self.by_id.contains_key(id)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Ids that entries name as their parent and that are missing: each a gap in the history.
    pub fn missing_parents(&self) -> impl Iterator<Item = &EntryId> {
        self.orphans.keys()
    }

    fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn index(&self, id: &EntryId) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    /// Hangs a node under its parent, or among the roots.
    fn link(&mut self, at: u32) {
        let parent_id = self.node(at).row.parent_id.clone();
        let parent =
            parent_id.as_ref().and_then(|id| self.index(id)).filter(|parent| *parent != at);
        self.has_later_parents |= parent.is_some_and(|parent| parent > at);
        if let (Some(id), None) = (parent_id, parent)
            && !self.contains(&id)
        {
            self.orphans.entry(id).or_default().push(at);
        }
        self.node_mut(at).parent = parent;
        let last = match parent {
            Some(parent) => self.node_mut(parent).last_child.replace(at),
            None => self.last_root.replace(at),
        };
        match (last, parent) {
            (Some(last), _) => self.node_mut(last).next_sibling = Some(at),
            (None, Some(parent)) => self.node_mut(parent).first_child = Some(at),
            (None, None) => self.first_root = Some(at),
        }
    }

    /// Hangs those that waited for this node under it.
    fn adopt_orphans(&mut self, at: u32) {
        let Some(orphans) = self.orphans.remove(&self.nodes[at as usize].row.id) else { return };
        for orphan in orphans {
            self.unlink_root(orphan);
            self.link(orphan);
        }
    }

    fn unlink_root(&mut self, at: u32) {
        let next = self.node_mut(at).next_sibling.take();
        let mut before = None;
        let mut root = self.first_root;
        while let Some(current) = root.filter(|current| *current != at) {
            before = root;
            root = self.node(current).next_sibling;
        }
        match before {
            Some(before) => self.node_mut(before).next_sibling = next,
            None => self.first_root = next,
        }
        if self.last_root == Some(at) {
            self.last_root = before;
        }
    }

    /// Where a session goes on that was read from its file: at the last entry, unless that is a note of a process about itself
    /// which hangs elsewhere than under the last real entry.
    fn leaf_of_file(&self) -> Option<u32> {
        let last = (self.nodes.len() as u32).checked_sub(1)?;
        let is_real = |at: &u32| self.node(*at).row.tag != EntryTag::Bookkeeping;
        let Some(real) = (0..=last).rev().find(is_real) else { return Some(last) };
        let real_id = &self.node(real).row.id;
        if self.ancestors(&self.node(last).row.id).any(|row| row.id == *real_id) {
            return Some(last);
        }
        let mut leaf = real;
        let mut follows = vec![true];
        for at in real + 1..=last {
            let parent = self.node(at).parent.filter(|parent| (real..at).contains(parent));
            let descends = parent.is_some_and(|parent| follows[(parent - real) as usize]);
            follows.push(descends);
            if descends {
                leaf = at;
            }
        }
        Some(leaf)
    }
}

/// Walks from an entry up to its root. See [`Tree::ancestors`].
#[derive(Debug)]
pub struct Ancestors<'a> {
    tree: &'a Tree,
    next: Option<u32>,
    /// Filled only where a circle is possible.
    seen: HashSet<u32>,
}

impl<'a> Iterator for Ancestors<'a> {
    type Item = &'a IndexRow;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next?;
        if self.tree.has_later_parents && !self.seen.insert(at) {
            self.next = None;
            return None;
        }
        let node = self.tree.node(at);
        self.next = node.parent;
        Some(&node.row)
    }
}
