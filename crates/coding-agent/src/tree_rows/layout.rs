//! Where rows stand: under their nearest shown ancestor, and further right only where the shown tree forks.

use std::collections::{HashMap, HashSet};

use longhand_session::EntryId;
use longhand_session::tree::ViewNode;

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) id: EntryId,
    pub(super) parent: Option<EntryId>,
    pub(super) depth: usize,
    pub(super) connectors: String,
}

/// A row that is yet to be placed.
struct Waiting {
    id: EntryId,
    parent: Option<EntryId>,
    depth: usize,
    /// Before the row itself, and before the rows under it.
    own: String,
    below: String,
}

/// Places the shown entries of a view. `active` is the active branch.
pub(super) fn layout(
    view: &[ViewNode],
    active: &HashSet<EntryId>,
    is_shown: impl Fn(&EntryId) -> bool,
) -> Vec<Place> {
    let mut shown_above: HashMap<&EntryId, Option<&EntryId>> = HashMap::new();
    let mut children = Children::default();
    // Hidden entries count for the side of their branch that is shown.
    let mut leads_to_active: HashSet<&EntryId> = HashSet::new();
    for node in view {
        let above = node.parent.as_ref().and_then(|parent| {
            if is_shown(parent) { Some(parent) } else { shown_above.get(parent).copied().flatten() }
        });
        shown_above.insert(&node.id, above);
        if is_shown(&node.id) {
            children.under(above).push(&node.id);
        }
        if active.contains(&node.id) {
            leads_to_active.insert(&node.id);
        }
    }
    for siblings in children.below.values_mut().chain([&mut children.roots]) {
        // Stable: the others keep their order by time.
        siblings.sort_by_key(|id| !leads_to_active.contains(*id));
    }
    place(&children)
}

/// Shown entries under the shown entry above them.
#[derive(Default)]
struct Children<'v> {
    roots: Vec<&'v EntryId>,
    below: HashMap<&'v EntryId, Vec<&'v EntryId>>,
}

impl<'v> Children<'v> {
    fn under(&mut self, above: Option<&'v EntryId>) -> &mut Vec<&'v EntryId> {
        match above {
            None => &mut self.roots,
            Some(above) => self.below.entry(above).or_default(),
        }
    }
}

fn place(children: &Children<'_>) -> Vec<Place> {
    let mut waiting: Vec<Waiting> = children
        .roots
        .iter()
        .rev()
        .map(|id| Waiting {
            id: (*id).clone(),
            parent: None,
            depth: 0,
            own: String::new(),
            below: String::new(),
        })
        .collect();
    let mut placed = Vec::new();
    while let Some(row) = waiting.pop() {
        let next = children.below.get(&row.id).map_or(&[][..], Vec::as_slice);
        let forks = next.len() > 1;
        for (nth, child) in next.iter().enumerate().rev() {
            let is_last = nth + 1 == next.len();
            let (own, below) = match (forks, is_last) {
                (false, _) => (row.below.clone(), row.below.clone()),
                (true, false) => (format!("{}├─ ", row.below), format!("{}│  ", row.below)),
                (true, true) => (format!("{}└─ ", row.below), format!("{}   ", row.below)),
            };
            waiting.push(Waiting {
                id: (*child).clone(),
                parent: Some(row.id.clone()),
                depth: row.depth + usize::from(forks),
                own,
                below,
            });
        }
        placed.push(Place {
            id: row.id,
            parent: row.parent,
            depth: row.depth,
            connectors: row.own,
        });
    }
    placed
}
