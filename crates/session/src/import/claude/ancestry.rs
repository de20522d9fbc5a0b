//! Which unit each unit hangs on.
//!
//! A record names the record that it follows. Records that became nothing are passed through, a name that occurs nowhere stands for
//! the unit before, and a circle is cut at its first unit. Results of tools that ran side by side, which the other program hangs on
//! their calls like branches, come one after another, so that the branch has all of them.
//!
//! Linear in the records, of which it keeps about 150 bytes each.

use std::collections::{HashMap, HashSet};

use super::convert::{self, Place, Step};
use super::record::Record;
use crate::ids::{EntryId, ToolCallId};

/// Where the units of a transcript hang.
#[derive(Debug, Default)]
pub(super) struct Ancestry {
    parents: Vec<Option<usize>>,
    last_entries: Vec<EntryId>,
}

impl Ancestry {
    /// The unit that a unit hangs on; `None` for a root.
    pub(super) fn parent(&self, unit: usize) -> Option<usize> {
        self.parents.get(unit).copied().flatten()
    }

    /// The last entry of a unit, which others hang on.
    pub(super) fn last_entry(&self, unit: usize) -> Option<&EntryId> {
        self.last_entries.get(unit)
    }
}

/// Gathers an ancestry.
#[derive(Default)]
pub(super) struct Gathering {
    nodes: Vec<Node>,
    by_uuid: HashMap<String, usize>,
    /// Nodes whose parent was not seen before them, with the names that it may have.
    unresolved: Vec<(usize, Option<String>, Option<String>)>,
    units: Vec<Unit>,
    last_entries: Vec<EntryId>,
    turn: Option<Turn>,
}

struct Node {
    link: Link,
    /// What it became, or is part of.
    unit: Option<usize>,
    /// Units before it.
    units_before: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Link {
    Root,
    Node(usize),
    /// It follows something that is not in the file.
    Broken,
}

struct Unit {
    node: usize,
    /// The turn that it belongs to: the unit that began it.
    turn: usize,
    /// The unit of the same turn that it comes after.
    after: Option<usize>,
}

/// A reply and the results of its calls, which may be many records.
struct Turn {
    reply_id: Option<String>,
    first_unit: usize,
    last_unit: usize,
    open_calls: HashSet<ToolCallId>,
}

impl Gathering {
    /// Takes a record, and what became of it.
    pub(super) fn add(&mut self, record: &Record<'_>, step: Step) {
        let node = self.nodes.len();
        let units_before = self.units.len();
        let link = self.link(node, record);
        let unit = match step.place {
            Place::Skipped => None,
            Place::Joined => units_before.checked_sub(1),
            Place::Began => Some(units_before),
        };
        if unit.is_none() && record.uuid.is_none() {
            return;
        }
        self.nodes.push(Node { link, unit, units_before });
        if let Some(uuid) = &record.uuid {
            self.by_uuid.insert(uuid.clone(), node);
        }
        match step.place {
            Place::Skipped => {}
            Place::Joined => {
                if let Some(turn) = &mut self.turn {
                    turn.open_calls.extend(step.calls);
                }
            }
            Place::Began => self.begin(node, step),
        }
    }

    /// Takes the next unit that is finished.
    pub(super) fn add_unit(&mut self, unit: &convert::Unit) {
        self.last_entries.extend(unit.entries.last().map(|(id, _)| id.clone()));
    }

    /// Whether any record became something.
    pub(super) fn has_units(&self) -> bool {
        !self.units.is_empty()
    }

    fn link(&mut self, node: usize, record: &Record<'_>) -> Link {
        let seen =
            |name: &Option<String>| name.as_ref().and_then(|name| self.by_uuid.get(name)).copied();
        let (parent, logical) = (&record.parent, &record.logical_parent);
        if parent.is_none() && logical.is_none() {
            return Link::Root;
        }
        let found = seen(parent).or_else(|| seen(logical).filter(|_| parent.is_none()));
        found.map_or_else(
            || {
                self.unresolved.push((node, parent.clone(), logical.clone()));
                Link::Broken
            },
            Link::Node,
        )
    }

    fn begin(&mut self, node: usize, step: Step) {
        let unit = self.units.len();
        let (turn, after) = match &mut self.turn {
            Some(turn) if turn.is_followed_by(&step) => {
                (turn.first_unit, Some(turn.extend(unit, step)))
            }
            _ => {
                if step.answers.is_empty() {
                    self.turn = Some(Turn {
                        reply_id: step.reply_id,
                        first_unit: unit,
                        last_unit: unit,
                        open_calls: step.calls.into_iter().collect(),
                    });
                }
                (unit, None)
            }
        };
        self.units.push(Unit { node, turn, after });
    }

    /// The ancestry, when all records were added.
    pub(super) fn finish(mut self) -> Ancestry {
        for (node, parent, logical) in std::mem::take(&mut self.unresolved) {
            let mut named = [parent, logical].into_iter().flatten();
            let found = named.find_map(|name| self.by_uuid.get(&name));
            if let (Some(found), Some(node)) = (found, self.nodes.get_mut(node)) {
                node.link = Link::Node(*found);
            }
        }
        let mut known = vec![Known::Not; self.nodes.len()];
        let mut parents: Vec<Option<usize>> = (0..self.units.len())
            .map(|at| self.parent(at, &mut known).filter(|parent| *parent != at))
            .collect();
        cut_circles(&mut parents);
        Ancestry { parents, last_entries: self.last_entries }
    }

    fn parent(&self, at: usize, known: &mut [Known]) -> Option<usize> {
        let unit = &self.units[at];
        let parent = match self.nodes[unit.node].link {
            Link::Node(node) => self.nearest_unit(node, known),
            link => self.unit_of(link, unit.node),
        };
        let is_in_turn =
            parent.and_then(|parent| self.units.get(parent)).is_some_and(|p| p.turn == unit.turn);
        unit.after.filter(|_| is_in_turn).or(parent)
    }

    /// The unit of a node, or of its nearest ancestor that has one.
    fn nearest_unit(&self, start: usize, known: &mut [Known]) -> Option<usize> {
        let mut passed = Vec::new();
        let mut at = start;
        let found = loop {
            if let Some(unit) = self.nodes[at].unit {
                break Some(unit);
            }
            match known[at] {
                Known::Unit(unit) => break unit,
                // A circle without any unit.
                Known::Passing => break None,
                Known::Not => {}
            }
            known[at] = Known::Passing;
            passed.push(at);
            match self.nodes[at].link {
                Link::Node(next) => at = next,
                link => break self.unit_of(link, at),
            }
        };
        for node in passed {
            known[node] = Known::Unit(found);
        }
        found
    }

    /// The unit that a link other than to a node leads to.
    fn unit_of(&self, link: Link, node: usize) -> Option<usize> {
        match link {
            Link::Broken => self.nodes[node].units_before.checked_sub(1),
            Link::Root | Link::Node(_) => None,
        }
    }
}

impl Turn {
    /// Whether a unit is more of the reply, or answers calls of it that nothing answered yet.
    fn is_followed_by(&self, step: &Step) -> bool {
        if step.answers.is_empty() {
            return self.reply_id.is_some() && self.reply_id == step.reply_id;
        }
        step.answers.iter().all(|call| self.open_calls.contains(call))
    }

    /// Takes a unit, and gives the one before it.
    fn extend(&mut self, unit: usize, step: Step) -> usize {
        for call in &step.answers {
            self.open_calls.remove(call);
        }
        self.open_calls.extend(step.calls);
        std::mem::replace(&mut self.last_unit, unit)
    }
}

/// What is known of the nearest unit of a node.
#[derive(Clone, Copy)]
enum Known {
    Not,
    Passing,
    Unit(Option<usize>),
}

/// Makes the first unit of every circle a root.
fn cut_circles(parents: &mut [Option<usize>]) {
    /// In which round a unit was seen first.
    const UNSEEN: usize = usize::MAX;
    let mut rounds = vec![UNSEEN; parents.len()];
    for round in 0..parents.len() {
        let mut next = Some(round);
        while let Some(unit) = next
            && rounds[unit] == UNSEEN
        {
            rounds[unit] = round;
            next = parents[unit];
        }
        let Some(met) = next.filter(|unit| rounds[*unit] == round) else { continue };
        let circle =
            std::iter::successors(Some(met), |unit| parents[*unit].filter(|next| *next != met));
        let first = circle.min().unwrap_or(met);
        parents[first] = None;
    }
}
