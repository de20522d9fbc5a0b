//! What can be wrong with a database of sessions, apart from what can be wrong with any session.

use std::error::Error;
use std::path::PathBuf;

/// Why a database of sessions could not do what it was asked. It was not modified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The file is something else.
    #[error("`{}` is not a database of sessions; it was not modified", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later version of the program wrote it.
    #[error("the database `{}` is version {found}, newest known is {newest}; it was not modified", path.display())]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that can be used.
        newest: i64,
    },
    /// The file is damaged.
    #[error("the database `{}` is damaged; it was not modified", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A statement failed.
    #[error("cannot {action} the database `{}`", path.display())]
    Failed {
        /// What was tried: `read`, `write`, …
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}
