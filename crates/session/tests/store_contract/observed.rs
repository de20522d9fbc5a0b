//! A session as far as anybody can see it through its store.

use std::sync::Arc;

use longhand_session::store::{Damage, IndexRow};
use longhand_session::{Entry, EntryId, Header, SessionStore};
use serde_json::Value;

/// All that a store tells of its session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Observed {
    pub(crate) header: Header,
    pub(crate) rows: Vec<IndexRow>,
    pub(crate) damage: Damage,
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) lines: Vec<Value>,
}

impl Observed {
    pub(crate) fn of(store: &mut dyn SessionStore) -> Self {
        let opened = store.open().expect("a session");
        let ids: Vec<EntryId> = opened.rows.iter().map(|row| row.id.clone()).collect();
        let lines: Vec<String> = store.lines().map(|line| line.expect("a line")).collect();
        Self {
            header: opened.header,
            rows: opened.rows,
            damage: opened.damage,
            entries: store.read(&ids).expect("entries"),
            lines: lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect(),
        }
    }

    /// The ids of the entries, in order.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.id.as_str()).collect()
    }
}
