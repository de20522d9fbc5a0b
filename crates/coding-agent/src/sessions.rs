//! Where the sessions of a user lie: listed, found again, pinned, thrown away.

mod cleanup;
mod database;
mod trash;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use longhand_session::breadcrumbs::Breadcrumbs;
use longhand_session::import::ImportedFrom;
use longhand_session::jsonl::recover_folder;
use longhand_session::listing::{self, Seen, SessionRow, Status};
use longhand_session::lookup::{self, LookupError};
use longhand_session::pins::{Pins, pinned_first};
use longhand_session::place::{self, Landmarks, SessionPlace};
use longhand_session::{Header, SessionId};

pub use cleanup::{Cleanup, Leftover};
pub use database::SessionDatabase;

use crate::agent::Setup;
use crate::conversion::kind_of;
use crate::import::in_files;
use crate::places::{self, Places};
use crate::settings::StoreKind;
use trash::Trash;

/// Where the sessions of a user lie.
#[derive(Debug, Clone)]
pub struct Sessions {
    root: PathBuf,
    layout: Layout,
    database: SessionDatabase,
    seen: Arc<Mutex<Seen>>,
    pins: Pins,
    breadcrumbs: Breadcrumbs,
    trash: Trash,
}

#[derive(Debug, Clone)]
enum Layout {
    /// A folder for each working directory.
    Buckets(Landmarks),
    /// All in one folder that the user named.
    Flat,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Those of a working directory.
    Directory(&'a Path),
    /// All.
    Everywhere,
}

impl Sessions {
    pub(crate) fn new(setup: &Setup, places: &Places) -> Self {
        let (root, layout) = if let Some(folder) = &setup.session_dir {
            (setup.directory.join(folder), Layout::Flat)
        } else {
            let home = places::home(&setup.environment).unwrap_or_else(|| places.data.clone());
            let temp = setup.environment.var("TMPDIR").unwrap_or("/tmp");
            let landmarks = Landmarks::new(&home, Path::new(temp));
            (places.sessions(), Layout::Buckets(landmarks))
        };
        Self {
            database: SessionDatabase { path: root.join("sessions.db") },
            root,
            layout,
            seen: Arc::default(),
            pins: Pins::at(places.data.join("session-pins.json")),
            breadcrumbs: Breadcrumbs::at(places.data.join("terminal-sessions")),
            trash: Trash::at(places.data.join("trash")),
        }
    }

    /// Where a new session of a working directory goes.
    pub fn new_place(&self, store: StoreKind, directory: &Path, header: &Header) -> SessionPlace {
        match store {
            StoreKind::Jsonl => {
                SessionPlace::File(self.folder(directory).join(place::file_name(header)))
            }
            StoreKind::Sqlite => {
                SessionPlace::Database { path: self.database.path.clone(), id: header.id.clone() }
            }
        }
    }

    /// The database of sessions.
    pub fn database(&self) -> &SessionDatabase {
        &self.database
    }

    /// Sessions, pinned ones first, else the newest first. What was listed before and has not changed is not read again. Sessions
    /// whose file a crash took away come back first.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn list(&self, scope: Scope<'_>) -> Result<Vec<SessionRow>, LookupError> {
        let mut rows = self.rows(scope)?;
        match self.pins.read() {
            Ok(pins) => pinned_first(&mut rows, &pins),
            // Without its pins a list is still a list.
            Err(error) => tracing::warn!("cannot read the pinned sessions: {error}"),
        }
        Ok(rows)
    }

    /// The newest session of a working directory in which something was said.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn newest(&self, directory: &Path) -> Result<Option<SessionRow>, LookupError> {
        let rows = self.rows(Scope::Directory(directory))?;
        Ok(lookup::newest(&rows, directory).cloned())
    }

    /// The session that a user means: a path, the start of an id or of a file's name, or a title. Sessions of the directory come
    /// before others.
    ///
    /// # Errors
    /// Nothing matches, or more than one.
    pub fn find(&self, wanted: &str, directory: &Path) -> Result<SessionPlace, LookupError> {
        if let SessionPlace::Database { path, id } = SessionPlace::named(wanted) {
            return Ok(SessionPlace::Database { path: directory.join(path), id });
        }
        if let Some(path) = lookup::as_path(wanted) {
            return Ok(SessionPlace::File(directory.join(path)));
        }
        for scope in [Scope::Directory(directory), Scope::Everywhere] {
            if let Some(row) = lookup::find(wanted, &self.rows(scope)?)? {
                return Ok(row.place.clone());
            }
        }
        Err(LookupError::NotFound { wanted: wanted.to_owned() })
    }

    /// Moves a session with its artifacts to the trash, where it stays for thirty days, and gives the file there. One from a database
    /// is written to a file first.
    ///
    /// # Errors
    /// It cannot be moved.
    pub fn delete(&self, place: &SessionPlace) -> io::Result<PathBuf> {
        let now = SystemTime::now();
        match place {
            SessionPlace::File(file) => self.trash.take(file, now),
            SessionPlace::Database { path, id } => self.trash.take_from_database(path, id, now),
        }
    }

    /// Whether a session may be gone on with here: with a folder that the user named, only one that lies in it.
    pub(crate) fn may_hold(&self, session: &SessionPlace) -> bool {
        let (SessionPlace::File(path) | SessionPlace::Database { path, .. }) = session;
        match &self.layout {
            Layout::Buckets(_) => true,
            Layout::Flat => path.starts_with(&self.root),
        }
    }

    /// The pinned sessions.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Which session each terminal was last in.
    pub fn breadcrumbs(&self) -> &Breadcrumbs {
        &self.breadcrumbs
    }

    /// Newest first. Of a session that lies in a file and in the database, because it was converted, only the newer is one to go on
    /// with.
    fn rows(&self, scope: Scope<'_>) -> Result<Vec<SessionRow>, LookupError> {
        let mut rows = self.rows_of_files(scope)?;
        rows.extend(self.database.rows().into_iter().filter(|row| match (scope, &self.layout) {
            (Scope::Everywhere, _) => true,
            (Scope::Directory(directory), Layout::Buckets(_)) => {
                row.status == Status::Damaged || lookup::belongs_to(row, directory)
            }
            (Scope::Directory(directory), Layout::Flat) => !lookup::is_of_another(row, directory),
        }));
        listing::sort_newest_first(&mut rows);
        let mut newest: HashMap<SessionId, StoreKind> = HashMap::new();
        rows.retain(|row| {
            let kind = kind_of(&row.place);
            *newest.entry(row.id.clone()).or_insert(kind) == kind
        });
        Ok(rows)
    }

    fn rows_of_files(&self, scope: Scope<'_>) -> Result<Vec<SessionRow>, LookupError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| LookupError::List { path, source }
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match (scope, &self.layout) {
            (Scope::Everywhere, Layout::Buckets(_)) => {
                listing::list_all(&self.root, &mut seen).map_err(failed(&self.root))
            }
            (Scope::Everywhere, Layout::Flat) => {
                listing::list(&self.root, &mut seen).map_err(failed(&self.root))
            }
            (Scope::Directory(directory), layout) => {
                if let Layout::Buckets(landmarks) = layout {
                    landmarks.adopt_old_bucket(&self.root, directory);
                }
                let folder = self.folder(directory);
                recover_folder(&folder, SystemTime::now()).map_err(failed(&folder))?;
                let mut rows = listing::list(&folder, &mut seen).map_err(failed(&folder))?;
                rows.retain(|row| !lookup::is_of_another(row, directory));
                Ok(rows)
            }
        }
    }

    /// All sessions that were imported, by where they come from; of several from one place the newest, and one in a file before one in
    /// the database. Reads the start of every file.
    pub(crate) fn imports(&self) -> HashMap<ImportedFrom, (SessionPlace, SessionId)> {
        let mut imports = self.database.imports();
        imports.extend(in_files(&self.folders()));
        imports
    }

    /// All folders that may hold sessions.
    fn folders(&self) -> Vec<PathBuf> {
        match self.layout {
            Layout::Flat => vec![self.root.clone()],
            Layout::Buckets(_) => {
                let items = fs::read_dir(&self.root).into_iter().flatten().filter_map(Result::ok);
                items.map(|item| item.path()).filter(|path| path.is_dir()).collect()
            }
        }
    }

    /// The folder of the session files of a working directory.
    pub fn folder(&self, directory: &Path) -> PathBuf {
        match &self.layout {
            Layout::Buckets(landmarks) => self.root.join(landmarks.bucket(directory)),
            Layout::Flat => self.root.clone(),
        }
    }
}
