//! The order in which a whole tree is read: the active branch flows, and each branch that was left stands where it began.

use std::collections::HashSet;

use longhand_session::EntryId;
use longhand_session::store::IndexRow;
use longhand_session::tree::Tree;

/// One step through a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// An entry.
    Entry(EntryId),
    /// A branch begins that the active one has left, or that began by itself.
    Open {
        /// How many entries it has, those of its own branches included.
        entries: usize,
    },
    /// It ends, and what it left goes on.
    Close,
}

/// All entries of a tree, each once.
pub(super) fn steps(tree: &Tree) -> Vec<Step> {
    let mut flow = Flow {
        tree,
        active: tree.active_path().into_iter().collect(),
        seen: HashSet::new(),
        steps: Vec::new(),
    };
    let roots: Vec<EntryId> = tree.children(None).map(|row| row.id.clone()).collect();
    let main = roots.iter().find(|id| flow.active.contains(*id)).or(roots.last()).cloned();
    let others = roots.into_iter().filter(|id| Some(id) != main.as_ref());
    if let Some(main) = &main {
        flow.chain(main.clone());
    }
    for root in others {
        flow.branch(root);
    }
    // Circles of parents hang under no root.
    for row in tree.rows() {
        if !flow.seen.contains(&row.id) {
            flow.branch(row.id.clone());
        }
    }
    counted(flow.steps)
}

enum Work {
    Chain(EntryId),
    Open,
    Close,
}

struct Flow<'t> {
    tree: &'t Tree,
    active: HashSet<EntryId>,
    seen: HashSet<EntryId>,
    steps: Vec<Step>,
}

impl Flow<'_> {
    fn branch(&mut self, root: EntryId) {
        self.steps.push(Step::Open { entries: 0 });
        self.chain(root);
        self.steps.push(Step::Close);
    }

    /// Follows a chain to its end. Chains are as long as sessions, so that nothing here calls itself.
    fn chain(&mut self, root: EntryId) {
        let mut work = vec![Work::Chain(root)];
        while let Some(next) = work.pop() {
            match next {
                Work::Open => self.steps.push(Step::Open { entries: 0 }),
                Work::Close => self.steps.push(Step::Close),
                Work::Chain(id) => {
                    if !self.seen.insert(id.clone()) {
                        continue;
                    }
                    let children: Vec<&IndexRow> = self.tree.children(Some(&id)).collect();
                    let main = children
                        .iter()
                        .position(|row| self.active.contains(&row.id))
                        .or(children.len().checked_sub(1));
                    work.extend(main.map(|at| Work::Chain(children[at].id.clone())));
                    for (at, row) in children.iter().enumerate().rev() {
                        if Some(at) != main {
                            work.push(Work::Close);
                            work.push(Work::Chain(row.id.clone()));
                            work.push(Work::Open);
                        }
                    }
                    self.steps.push(Step::Entry(id));
                }
            }
        }
    }
}

/// The steps with the sizes of their branches.
fn counted(mut steps: Vec<Step>) -> Vec<Step> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut entries = 0;
    for at in 0..steps.len() {
        match &steps[at] {
            Step::Entry(_) => entries += 1,
            Step::Open { .. } => open.push((at, entries)),
            Step::Close => {
                if let Some((opened, before)) = open.pop() {
                    steps[opened] = Step::Open { entries: entries - before };
                }
            }
        }
    }
    steps
}

/// The entries of some steps, in their order.
pub(super) fn rows(tree: &Tree, steps: &[Step]) -> Vec<IndexRow> {
    let ids = steps.iter().filter_map(|step| match step {
        Step::Entry(id) => Some(id),
        Step::Open { .. } | Step::Close => None,
    });
    ids.filter_map(|id| tree.row(id)).cloned().collect()
}
