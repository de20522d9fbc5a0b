//! Reads layers: files, variables and assignments, each checked against the table of keys.

use std::path::Path;

use toml::{Table, Value};

use super::keys::{self, Trust};
use super::problem::{Origin, Problem};
use super::resolved::Resolved;

/// Begins the name of a variable that holds a setting. Dots of the key are `__`.
pub(super) const VARIABLE_PREFIX: &str = "LONGHAND_SET_";

/// Whether a file must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Optional,
    Required,
}

/// Layers as read so far, lowest first.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) resolved: Resolved,
    pub(super) problems: Vec<Problem>,
}

impl Reading {
    /// Takes the user's file of models, which holds nothing but `providers`.
    pub(super) fn models_file(&mut self, path: &Path) {
        let origin = Origin::Models(path.into());
        let Some(mut table) = self.table(path, Presence::Optional) else { return };
        let providers = table.remove("providers");
        for key in table.keys() {
            let (key, origin) = (key.clone(), origin.clone());
            self.problems.push(Problem::NotForModels { key, origin });
        }
        if let Some(providers) = providers {
            self.value(&["providers".into()], providers, &origin);
        }
    }

    /// Takes a settings file.
    pub(super) fn file(&mut self, origin: &Origin, presence: Presence) {
        let (Origin::Models(path)
        | Origin::User(path)
        | Origin::Project(path)
        | Origin::Overlay(path)) = origin
        else {
            return;
        };
        let Some(table) = self.table(path, presence) else { return };
        self.members(&[], table, origin);
    }

    /// Takes a variable, named by what follows the prefix. The case of its letters does not matter.
    pub(super) fn variable(&mut self, name: &str, text: &str) {
        let key = name.replace("__", ".");
        self.text(
            &keys::with_the_case_of_the_table(&key),
            text,
            &Origin::Variable(format!("{VARIABLE_PREFIX}{name}")),
        );
    }

    /// Takes `key=value`.
    pub(super) fn assignment(&mut self, assignment: &str) {
        match assignment.split_once('=') {
            Some((key, text)) => self.text(key.trim(), text.trim(), &Origin::CommandLine),
            None => self.problems.push(Problem::NotAnAssignment(assignment.into())),
        }
    }

    fn table(&mut self, path: &Path, presence: Presence) -> Option<Table> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                if presence == Presence::Required || !is_missing {
                    let reason = error.to_string();
                    self.problems.push(Problem::Unreadable { path: path.into(), reason });
                }
                return None;
            }
        };
        toml::from_str(&text)
            .map_err(|error| {
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
                let line = before.matches('\n').count() + 1;
                let reason = error.message().lines().collect::<Vec<_>>().join(", ");
                self.problems.push(Problem::NotToml { path: path.into(), line, reason });
            })
            .ok()
    }

    fn members(&mut self, group: &[String], table: Table, origin: &Origin) {
        for (name, value) in table {
            let mut path = group.to_vec();
            path.push(name);
            self.value(&path, value, origin);
        }
    }

    fn value(&mut self, path: &[String], value: Value, origin: &Origin) {
        let name = path.join(".");
        if let Some(found) = keys::find(&name) {
            let accepted = found.key.kind.accept(value);
            return self.found(found, accepted, origin);
        }
        match value {
            Value::Table(table) if keys::is_group(path) => self.members(path, table, origin),
            _ if keys::is_group(path) => {
                self.problems.push(Problem::ShadowsGroup { key: name, origin: origin.clone() });
            }
            _ => self.unknown(name, origin),
        }
    }

    fn text(&mut self, name: &str, text: &str, origin: &Origin) {
        match keys::find(name) {
            Some(found) => {
                let accepted = found.key.kind.read(text);
                self.found(found, accepted, origin);
            }
            None => self.unknown(name.into(), origin),
        }
    }

    fn found(&mut self, found: keys::Found, accepted: Option<Value>, origin: &Origin) {
        let key = found.path.join(".");
        let origin = origin.clone();
        if found.key.trust == Trust::UserOnly && matches!(origin, Origin::Project(_)) {
            self.problems.push(Problem::NotForProjects { key, origin });
            return;
        }
        if let Some(value) = accepted {
            self.resolved.set(found, origin, value);
        } else {
            let expected = found.key.kind.expected();
            self.problems.push(Problem::WrongValue { key, origin, expected });
        }
    }

    fn unknown(&mut self, key: String, origin: &Origin) {
        let origin = origin.clone();
        self.problems.push(if keys::names_a_literal_key(&key) {
            Problem::LiteralKey { key, origin }
        } else {
            Problem::Unknown { closest: keys::closest(&key), key, origin }
        });
    }
}
