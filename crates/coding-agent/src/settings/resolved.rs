//! Values by key, each with where it was set.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::keys::{self, Found, KEYS, Key};
use super::problem::Origin;
use super::values::Settings;

/// Every value that was set, by key, lowest layer first.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    set: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    key: &'static Key,
    path: Vec<String>,
    values: Vec<(Origin, Value)>,
}

/// What is known of one setting. Values are as they may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The setting, with the names in place that the table leaves open.
    pub name: String,
    /// The key in the table.
    pub key: &'static Key,
    /// The values that were set, lowest layer first: the last one is in force, or the default where there is none.
    pub set: Vec<(Origin, String)>,
}

impl Explanation {
    /// The value in force; `None` is not set.
    pub fn value(&self) -> Option<&str> {
        self.set.last().map(|(_, value)| value.as_str()).or(self.key.default)
    }
}

impl Resolved {
    pub(super) fn set(&mut self, found: Found, origin: Origin, value: Value) {
        let entry = self.set.entry(found.path.join("."));
        let empty = || Entry { key: found.key, path: found.path, values: Vec::new() };
        entry.or_insert_with(empty).values.push((origin, value));
    }

    /// What is known of a setting; `None` where there is none of that name.
    pub fn explain(&self, name: &str) -> Option<Explanation> {
        let found = keys::find(name)?;
        let name = found.path.join(".");
        let values = self.set.get(&name).map_or(&[][..], |entry| &entry.values);
        let set = values
            .iter()
            .map(|(origin, value)| (origin.clone(), found.key.kind.shown(value)))
            .collect();
        Some(Explanation { name, key: found.key, set })
    }

    /// Every setting of the table, and those under open names that were set.
    pub fn explain_all(&self) -> Vec<Explanation> {
        let fixed = KEYS.iter().filter(|key| !key.is_open()).map(|key| key.name);
        let open =
            self.set.iter().filter(|(_, entry)| entry.key.is_open()).map(|(name, _)| &**name);
        fixed.chain(open).filter_map(|name| self.explain(name)).collect()
    }

    /// The values in force.
    pub(super) fn settings(&self) -> Settings {
        let mut table = Table::new();
        for key in KEYS {
            match key.default_value() {
                Some(value) => insert(&mut table, &key.segments(), value),
                None => open_groups(&mut table, &key.segments()),
            }
        }
        for entry in self.set.values() {
            if let Some((_, value)) = entry.values.last() {
                let path: Vec<_> = entry.path.iter().map(String::as_str).collect();
                insert(&mut table, &path, value.clone());
            }
        }
        table
            .try_into()
            .expect("each key has a field of its kind, and every value is of its key's kind")
    }
}

/// Puts a value at a path.
fn insert(table: &mut Table, path: &[&str], value: Value) {
    let Some((last, groups)) = path.split_last() else { return };
    let group = groups.iter().try_fold(table, |table, name| member_table(table, name));
    if let Some(group) = group {
        group.insert((*last).into(), value);
    }
}

/// Makes the groups of a key that has no value, down to the first open name.
fn open_groups(table: &mut Table, path: &[&str]) {
    let groups = path.iter().take(path.len() - 1).take_while(|name| !name.starts_with('<'));
    let _ = groups.into_iter().try_fold(table, |table, name| member_table(table, name));
}

fn member_table<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    table.entry(name).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
}
