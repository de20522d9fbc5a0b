//! Where the sessions of a user lie, and how a session is found again.

use std::path::{Path, PathBuf};

use longhand_session::Header;
use longhand_session::lookup::{self, LookupError, SessionFile};
use longhand_session::place::{self, Landmarks};

use crate::agent::Setup;
use crate::places::{self, Places};

/// Where the sessions of a user lie.
#[derive(Debug, Clone)]
pub struct Sessions {
    root: PathBuf,
    layout: Layout,
}

#[derive(Debug, Clone)]
enum Layout {
    /// A folder for each working directory.
    Buckets(Landmarks),
    /// All in one folder that the user named.
    Flat,
}

impl Sessions {
    pub(crate) fn new(setup: &Setup, places: &Places) -> Self {
        if let Some(folder) = &setup.session_dir {
            return Self { root: setup.directory.join(folder), layout: Layout::Flat };
        }
        let home = places::home(&setup.environment).unwrap_or_else(|| places.data.clone());
        let temp = setup.environment.var("TMPDIR").unwrap_or("/tmp");
        let landmarks = Landmarks::new(&home, Path::new(temp));
        Self { root: places.sessions(), layout: Layout::Buckets(landmarks) }
    }

    /// The file of a new session.
    pub fn new_file(&self, directory: &Path, header: &Header) -> PathBuf {
        self.folder(directory).join(place::file_name(header))
    }

    /// The sessions of a working directory, newest first.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn list(&self, directory: &Path) -> Result<Vec<SessionFile>, LookupError> {
        lookup::list(&self.folder(directory))
    }

    /// The newest session of a working directory in which something was said.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn newest(&self, directory: &Path) -> Result<Option<SessionFile>, LookupError> {
        lookup::newest(&self.folder(directory), directory)
    }

    /// The session that a user means: a path, the start of an id or of a file's name, or a title.
    ///
    /// # Errors
    /// Nothing matches, or more than one.
    pub fn find(&self, wanted: &str, directory: &Path) -> Result<PathBuf, LookupError> {
        let file = lookup::find(wanted, &self.folder(directory), &self.root)?;
        Ok(directory.join(file))
    }

    fn folder(&self, directory: &Path) -> PathBuf {
        match &self.layout {
            Layout::Buckets(landmarks) => self.root.join(landmarks.bucket(directory)),
            Layout::Flat => self.root.clone(),
        }
    }
}
