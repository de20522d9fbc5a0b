//! What every store promises, whatever it keeps its sessions in.
//!
//! Each claim is a function of a [`Session`]; it runs once for each store.

mod appending;
mod filling;
mod observed;
mod random;
mod rewriting;
mod sharing;

use std::sync::Arc;

use longhand_session::time::Timestamp;
use longhand_session::{Entry, Header, JsonlStore, MemoryStore, SessionStore};
use tempfile::TempDir;

pub(crate) use observed::Observed;

/// A session in one of the stores.
pub(crate) struct Session {
    pub(crate) store: Box<dyn SessionStore>,
    kind: Kind,
    folder: TempDir,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Jsonl,
    Memory,
    #[cfg(feature = "sqlite")]
    Sqlite,
}

pub(crate) const KINDS: &[Kind] = &[
    Kind::Jsonl,
    Kind::Memory,
    #[cfg(feature = "sqlite")]
    Kind::Sqlite,
];

impl Session {
    /// A new session without entries. Nothing is written.
    pub(crate) fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Box<dyn SessionStore> = match kind {
            Kind::Jsonl => Box::new(JsonlStore::create(folder.path().join("s.jsonl"), header())),
            Kind::Memory => Box::new(MemoryStore::new(header())),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite => Box::new(longhand_session::SqliteStore::create(
                folder.path().join("sessions.db"),
                header(),
            )),
        };
        Self { store, kind, folder }
    }

    /// A session with entries.
    pub(crate) fn with(kind: Kind, entries: &[Arc<Entry>]) -> Self {
        let mut session = Self::new(kind);
        session.store.append(entries).expect("room");
        session
    }

    /// Forgets all that is not written. A session in memory has nothing but that.
    pub(crate) fn reopen(&mut self) {
        match self.another_owner() {
            Some(store) => self.store = store,
            None => drop(self.store.open().expect("the session")),
        }
    }

    /// The session as another process opens it; `None` in memory, where there is no other.
    pub(crate) fn another_owner(&self) -> Option<Box<dyn SessionStore>> {
        let mut store: Box<dyn SessionStore> = match self.kind {
            Kind::Memory => return None,
            Kind::Jsonl => Box::new(JsonlStore::resume(self.folder.path().join("s.jsonl"))),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite => Box::new(longhand_session::SqliteStore::resume(
                self.folder.path().join("sessions.db"),
                "s".into(),
            )),
        };
        store.open().expect("the session");
        Some(store)
    }

    /// What the session is, as its owner sees it and as the next one will. They never differ.
    pub(crate) fn observe(&mut self) -> Observed {
        let before = Observed::of(&mut *self.store);
        self.reopen();
        let after = Observed::of(&mut *self.store);
        assert_eq!(before, after, "{:?}: before and after reopening", self.kind);
        after
    }
}

pub(crate) fn header() -> Header {
    Header::new("s".into(), Timestamp::new("2026-03-01T10:00:00.000Z"), "/w")
}

pub(crate) fn entry(id: &str, parent: Option<&str>, text: &str) -> Arc<Entry> {
    let line = serde_json::json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1},
    });
    Arc::new(serde_json::from_str(&line.to_string()).expect("an entry"))
}

/// Makes a test of each claim for each store.
macro_rules! promises {
    ($($claim:ident)*) => {
        mod jsonl {
            $(#[test] fn $claim() { super::$claim(crate::Kind::Jsonl); })*
        }
        mod memory {
            $(#[test] fn $claim() { super::$claim(crate::Kind::Memory); })*
        }
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $(#[test] fn $claim() { super::$claim(crate::Kind::Sqlite); })*
        }
    };
}
pub(crate) use promises;
