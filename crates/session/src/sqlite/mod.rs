//! Sessions in one database, which also finds what was said in any of them.
//!
//! [`SqliteStore`] is one session, [`SqliteLibrary`] all of them. Lines are kept as they were written, so that a session goes from a
//! file into a database and back without loss. A commit is in the kernel when it returns; processes that write one session take
//! turns, and each is told what the others wrote.
//!
//! `SQLite` comes with the program. Nothing here is shared between threads.

mod adoption;
mod database;
mod filling;
mod library;
mod reading;
mod search;
mod store;
mod summary;
mod writing;

use std::path::{Path, PathBuf};

pub use library::SqliteLibrary;
pub use search::{Hit, Snippet};
pub use store::SqliteStore;

use crate::ids::SessionId;

/// How errors name a session of a database.
fn named(database: &Path, id: &SessionId) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("#");
    name.push(id.as_str());
    name.into()
}
