//! Sessions of other programs: found where those keep them, and made into sessions of this one.
//!
//! The foreign session is only read. What was imported once is found again by what its header says, in the folders of sessions as well
//! as in the database. All of it blocks: a transcript may be long.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use longhand_session::import::{
    self, ForeignSession, ImportError, ImportedFrom, Making, Origin, Replay, Tally, Transcript,
};
use longhand_session::place::{self, EXTENSION, SessionPlace};
use longhand_session::{Header, SessionId};

use crate::agent::CodingAgent;
use crate::environment::Environment;
use crate::places;

/// A foreign session that can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSource {
    /// The program that it comes from.
    pub origin: Origin,
    /// The transcript.
    pub path: PathBuf,
    /// Where it worked, where more than the transcript tells.
    pub cwd: Option<PathBuf>,
}

impl From<ForeignSession> for ForeignSource {
    fn from(session: ForeignSession) -> Self {
        Self { origin: session.origin, path: session.path, cwd: session.cwd }
    }
}

/// What becomes of a foreign session that was imported before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The session that it became is offered.
    Offer,
    /// It becomes another session.
    Again,
}

/// A session that was imported, now or before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSession {
    /// Its id.
    pub id: SessionId,
    /// Where it lies.
    pub place: SessionPlace,
    /// Where it comes from.
    pub from: ImportedFrom,
    /// The transcript.
    pub source: PathBuf,
    /// What came over; `None` for one that was imported before.
    pub new: Option<NewImport>,
}

/// What came over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImport {
    /// Its title.
    pub title: Option<String>,
    /// Counts.
    pub tally: Tally,
    /// What the user should know, one line each.
    pub notices: Vec<String>,
}

/// What an import would bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedImport {
    /// Where it comes from.
    pub from: ImportedFrom,
    /// The transcript.
    pub source: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// Counts.
    pub tally: Tally,
    /// The session that it became before.
    pub existing: Option<SessionId>,
}

/// Why a foreign session was not imported. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// Nothing says where the other program keeps its sessions.
    #[error("no home folder is known; set `{variable}` or `HOME`")]
    NoHome {
        /// The variable that names the folder.
        variable: &'static str,
    },
    /// No session is like it.
    #[error("no session of {} matches `{wanted}`", origin.program())]
    NotFound {
        /// The program.
        origin: Origin,
        /// The word.
        wanted: String,
    },
    /// Several are.
    #[error("`{wanted}` matches {} sessions of {}: {}", ids.len(), origin.program(), ids.join(", "))]
    Ambiguous {
        /// The program.
        origin: Origin,
        /// The word.
        wanted: String,
        /// Their ids.
        ids: Vec<String>,
    },
}

/// So many ids are named where a word matches several.
const MAX_NAMED: usize = 8;

impl CodingAgent {
    /// The sessions of another program, newest first.
    ///
    /// # Errors
    /// Nothing says where it keeps them.
    pub fn foreign_sessions(&self, origin: Origin) -> Result<Vec<ForeignSession>, ForeignError> {
        let sessions = import::list(origin, &root(origin, &self.setup.environment)?);
        Ok(sessions)
    }

    /// The foreign session that a user means: a file, the start of an id, or a title.
    ///
    /// # Errors
    /// Nothing matches, or more than one. Whether a file exists is seen when it is imported.
    pub fn foreign_session(
        &self,
        origin: Origin,
        wanted: &str,
    ) -> Result<ForeignSource, ForeignError> {
        if is_path(wanted) {
            return Ok(ForeignSource { origin, path: self.directory().join(wanted), cwd: None });
        }
        let not_found = || ForeignError::NotFound { origin, wanted: wanted.to_owned() };
        if wanted.is_empty() {
            return Err(not_found());
        }
        let word = wanted.to_lowercase();
        let is_id = |session: &ForeignSession| session.id.to_lowercase().starts_with(&word);
        let is_title = |session: &ForeignSession| {
            session.title.as_ref().is_some_and(|title| title.to_lowercase() == word)
        };
        let mut sessions = self.foreign_sessions(origin)?;
        if sessions.iter().any(is_id) {
            sessions.retain(is_id);
        } else {
            sessions.retain(is_title);
        }
        if sessions.iter().all(|session| session.id == sessions[0].id) {
            // One session in two folders: the newer file counts.
            sessions.truncate(1);
        }
        if sessions.len() > 1 {
            let ids = sessions.into_iter().take(MAX_NAMED).map(|session| session.id).collect();
            return Err(ForeignError::Ambiguous { origin, wanted: wanted.to_owned(), ids });
        }
        sessions.pop().map(ForeignSource::from).ok_or_else(not_found)
    }

    /// Imports sessions into a folder, or into the usual place. Knows what was imported before, for which the start of every session
    /// there is read.
    pub fn importer(&self, out: Option<&Path>) -> Importer<'_> {
        let out = out.map(|folder| self.directory().join(folder));
        let earlier = match &out {
            Some(folder) => in_files(std::slice::from_ref(folder)).collect(),
            None => self.sessions().imports(),
        };
        Importer { agent: self, out, earlier }
    }
}

/// Imports sessions.
pub struct Importer<'a> {
    agent: &'a CodingAgent,
    out: Option<PathBuf>,
    earlier: HashMap<ImportedFrom, (SessionPlace, SessionId)>,
}

impl Importer<'_> {
    /// Imports a session. It lies in the bucket of its own working directory, or in that of the current one where its own is gone.
    ///
    /// # Errors
    /// The transcript cannot be read, has nothing in it, or the new session cannot be written.
    pub fn import(
        &mut self,
        source: &ForeignSource,
        repeat: Repeat,
    ) -> Result<ImportedSession, ImportError> {
        let transcript = Transcript::open(source.origin, &source.path)?;
        let from = transcript.imported_from();
        let path = source.path.clone();
        if let (Repeat::Offer, Some((place, id))) = (repeat, self.earlier.get(&from).cloned()) {
            return Ok(ImportedSession { id, place, from, source: path, new: None });
        }
        let mut notices = Vec::new();
        let directory = self.directory_of(source, &transcript, &mut notices);
        let header = self.agent.new_header();
        let header = transcript.header(Header { cwd: Some(shown(&directory)), ..header });
        let place = self.new_place(&directory, &header);
        let (id, title) = (header.id.clone(), header.title.clone());
        let mut store = self.agent.store_sources().create(&place, header);
        let tally = transcript.fill(&mut *store, self.making())?;
        self.earlier.insert(from.clone(), (place.clone(), id.clone()));
        let new = Some(NewImport { title, tally, notices });
        Ok(ImportedSession { id, place, from, source: path, new })
    }

    /// Tells what an import would bring, and writes nothing.
    ///
    /// # Errors
    /// The transcript cannot be read, or has nothing in it.
    pub fn plan(&self, source: &ForeignSource) -> Result<PlannedImport, ImportError> {
        let transcript = Transcript::open(source.origin, &source.path)?;
        let from = transcript.imported_from();
        Ok(PlannedImport {
            existing: self.earlier.get(&from).map(|(_, id)| id.clone()),
            from,
            source: source.path.clone(),
            title: transcript.facts().title.as_ref().map(|title| title.text.clone()),
            tally: transcript.count(self.making())?,
        })
    }

    /// No provider here takes back a history that only Codex's own service reads.
    fn making(&self) -> Making<'_> {
        let setup = &self.agent.setup;
        Making { ids: &*setup.ids, clock: &*setup.clock, replay: Replay::Impossible }
    }

    fn new_place(&self, directory: &Path, header: &Header) -> SessionPlace {
        if let Some(folder) = &self.out {
            return SessionPlace::File(folder.join(place::file_name(header)));
        }
        let store = self.agent.settings().sessions.store;
        self.agent.sessions().new_place(store, directory, header)
    }

    /// Where the new session works.
    fn directory_of(
        &self,
        source: &ForeignSource,
        transcript: &Transcript,
        notices: &mut Vec<String>,
    ) -> PathBuf {
        let told = transcript.facts().cwd.as_ref().map(PathBuf::from);
        let own = source.cwd.clone().or(told).filter(|own| own.is_absolute());
        match own {
            Some(own) if own.is_dir() => own,
            own => {
                let here = self.agent.directory();
                if let Some(own) = own {
                    notices.push(format!(
                        "the session's folder `{}` is gone; it goes on in `{}`",
                        own.display(),
                        here.display()
                    ));
                }
                here.to_owned()
            }
        }
    }
}

/// The sessions of these folders that were imported, a later file before an earlier one.
pub(crate) fn in_files(
    folders: &[PathBuf],
) -> impl Iterator<Item = (ImportedFrom, (SessionPlace, SessionId))> {
    import::imported_files(folders)
        .into_iter()
        .map(|file| (file.from, (SessionPlace::File(file.path), file.id)))
}

fn is_path(wanted: &str) -> bool {
    wanted.contains('/')
        || wanted.contains(std::path::MAIN_SEPARATOR)
        || Path::new(wanted).extension().is_some_and(|ending| ending == EXTENSION)
}

fn shown(directory: &Path) -> String {
    place::canonical(directory).display().to_string()
}

/// The folder of another program.
fn root(origin: Origin, environment: &Environment) -> Result<PathBuf, ForeignError> {
    let (variable, folder) = match origin {
        Origin::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        Origin::Codex => ("CODEX_HOME", ".codex"),
    };
    let named = environment.var(variable).map(PathBuf::from);
    let usual = || places::home(environment).map(|home| home.join(folder));
    named.or_else(usual).ok_or(ForeignError::NoHome { variable })
}
