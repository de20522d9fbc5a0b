//! A tree as it is shown: every entry once, each under its parent, siblings by their time.
//!
//! Holds no text and no picture: which entries are worth a line is for the front to say.

use super::Tree;
use crate::ids::EntryId;

/// One entry of a shown tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewNode {
    /// The entry.
    pub id: EntryId,
    /// The entry that it is shown under; `None` for a root.
    pub parent: Option<EntryId>,
    /// How many entries stand between it and its root.
    pub depth: usize,
    /// How many entries are shown directly under it.
    pub children: usize,
}

impl Tree {
    /// All entries, each followed by what hangs under it. Children come by `time`, those of one time in the order of the file; roots
    /// in the order of the file. Of a circle of parents the first in the file is a root.
    ///
    /// Costs as much as sorting the entries.
    pub fn view(&self, time: impl Fn(&EntryId) -> Option<i64>) -> Vec<ViewNode> {
        let mut view =
            View { tree: self, time, is_shown: vec![false; self.nodes.len()], shown: Vec::new() };
        let mut root = self.first_root;
        while let Some(at) = root {
            view.show(at);
            root = self.node(at).next_sibling;
        }
        for row in 0..self.nodes.len() as u32 {
            let is_owner = self.index(&self.node(row).row.id) == Some(row);
            if is_owner && !view.is_shown[row as usize] {
                view.show(row);
            }
        }
        view.shown
    }
}

struct View<'a, T> {
    tree: &'a Tree,
    time: T,
    is_shown: Vec<bool>,
    shown: Vec<ViewNode>,
}

impl<T: Fn(&EntryId) -> Option<i64>> View<'_, T> {
    /// Shows what hangs under a root. A chain may be as long as the session, so that nothing here calls itself.
    fn show(&mut self, root: u32) {
        self.is_shown[root as usize] = true;
        let mut waiting = vec![(root, None, 0)];
        while let Some((at, parent, depth)) = waiting.pop() {
            let children = self.children(at);
            let id = self.tree.node(at).row.id.clone();
            waiting
                .extend(children.iter().rev().map(|child| (*child, Some(id.clone()), depth + 1)));
            self.shown.push(ViewNode { id, parent, depth, children: children.len() });
        }
    }

    fn children(&mut self, at: u32) -> Vec<u32> {
        let first = self.tree.node(at).first_child;
        let all = std::iter::successors(first, |at| self.tree.node(*at).next_sibling);
        let mut children: Vec<u32> = all.filter(|child| !self.is_shown[*child as usize]).collect();
        for child in &children {
            self.is_shown[*child as usize] = true;
        }
        if children.len() > 1 {
            children.sort_by_cached_key(|child| (self.time)(&self.tree.node(*child).row.id));
        }
        children
    }
}
