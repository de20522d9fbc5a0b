//! Sessions of other programs: found where those keep them, and made into sessions of this one.
//!
//! The foreign session is only read. What was imported once is found again by what its header says, in the folders of sessions as well
//! as in the database. All of it blocks: a transcript may be long.

use std::path::{Path, PathBuf};

use longhand_session::import::{
    self, ForeignSession, ImportError, ImportedFrom, Making, Origin, Replay, Tally, Transcript,
};
use longhand_session::place::{self, EXTENSION, SessionPlace};
use longhand_session::{Header, SessionId};

use crate::agent::CodingAgent;
use crate::environment::Environment;
use crate::places;

/// What is imported, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRequest {
    /// The program that the session comes from.
    pub origin: Origin,
    /// The session: its file, the start of its id, or its title.
    pub wanted: String,
    /// What becomes of one that was imported before.
    pub repeat: Repeat,
    /// The folder of the new session; `None` is the usual place.
    pub out: Option<PathBuf>,
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
    /// It cannot be read, has nothing in it, or the new session cannot be written.
    #[error(transparent)]
    Import(#[from] ImportError),
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

    /// Imports a session. It lies in the bucket of its own working directory, or in that of this one where its own is gone.
    ///
    /// # Errors
    /// See [`ForeignError`].
    pub fn import(&self, request: &ImportRequest) -> Result<ImportedSession, ForeignError> {
        let found = self.find_foreign(request.origin, &request.wanted)?;
        let transcript = Transcript::open(request.origin, &found.path)?;
        let from = transcript.imported_from();
        let source = transcript.path().to_owned();
        let existing = match request.repeat {
            Repeat::Offer => self.find_import(&from, request.out.as_deref()),
            Repeat::Again => None,
        };
        if let Some((place, id)) = existing {
            return Ok(ImportedSession { id, place, from, source, new: None });
        }
        let mut notices = Vec::new();
        let directory = self.directory_of(&found, &transcript, &mut notices);
        let header = self.new_header();
        let header = transcript.header(Header { cwd: Some(shown(&directory)), ..header });
        let place = if let Some(folder) = &request.out {
            let folder = self.directory().join(folder);
            SessionPlace::File(folder.join(place::file_name(&header)))
        } else {
            let store = self.settings().sessions.store;
            self.sessions().new_place(store, &directory, &header)
        };
        let (id, title) = (header.id.clone(), header.title.clone());
        let mut store = self.store_sources().create(&place, header);
        let tally = transcript.fill(&mut *store, self.making())?;
        let new = Some(NewImport { title, tally, notices });
        Ok(ImportedSession { id, place, from, source, new })
    }

    /// Tells what an import would bring, and writes nothing.
    ///
    /// # Errors
    /// See [`ForeignError`].
    pub fn plan_import(&self, request: &ImportRequest) -> Result<PlannedImport, ForeignError> {
        let found = self.find_foreign(request.origin, &request.wanted)?;
        let transcript = Transcript::open(request.origin, &found.path)?;
        let from = transcript.imported_from();
        Ok(PlannedImport {
            existing: self.find_import(&from, request.out.as_deref()).map(|(_, id)| id),
            from,
            source: transcript.path().to_owned(),
            title: transcript.facts().title.as_ref().map(|title| title.text.clone()),
            tally: transcript.count(self.making())?,
        })
    }

    /// No provider here takes back a history that only Codex's own service reads.
    fn making(&self) -> Making<'_> {
        Making { ids: &*self.setup.ids, clock: &*self.setup.clock, replay: Replay::Impossible }
    }

    fn find_foreign(&self, origin: Origin, wanted: &str) -> Result<Found, ForeignError> {
        if is_path(wanted) {
            return Ok(Found { path: self.directory().join(wanted), cwd: None });
        }
        let not_found = || ForeignError::NotFound { origin, wanted: wanted.to_owned() };
        if wanted.is_empty() {
            return Err(not_found());
        }
        let sessions = self.foreign_sessions(origin)?;
        let word = wanted.to_lowercase();
        let is_id = |session: &&ForeignSession| session.id.to_lowercase().starts_with(&word);
        let is_title = |session: &&ForeignSession| {
            session.title.as_ref().is_some_and(|title| title.to_lowercase() == word)
        };
        let mut matches: Vec<&ForeignSession> = sessions.iter().filter(is_id).collect();
        if matches.is_empty() {
            matches = sessions.iter().filter(is_title).collect();
        }
        match matches[..] {
            [] => Err(not_found()),
            [session] => Ok(Found { path: session.path.clone(), cwd: session.cwd.clone() }),
            _ => Err(ForeignError::Ambiguous {
                origin,
                wanted: wanted.to_owned(),
                ids: matches.iter().take(MAX_NAMED).map(|session| session.id.clone()).collect(),
            }),
        }
    }

    /// Where the new session works.
    fn directory_of(
        &self,
        found: &Found,
        transcript: &Transcript,
        notices: &mut Vec<String>,
    ) -> PathBuf {
        let told = transcript.facts().cwd.as_ref().map(PathBuf::from);
        let own = found.cwd.clone().or(told).filter(|own| own.is_absolute());
        match own {
            Some(own) if own.is_dir() => own,
            own => {
                let here = self.directory();
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

    /// The newest session that was imported from there.
    fn find_import(
        &self,
        from: &ImportedFrom,
        out: Option<&Path>,
    ) -> Option<(SessionPlace, SessionId)> {
        let Some(folder) = out else { return self.sessions().find_import(from) };
        let (path, id) = from.find_in(&[self.directory().join(folder)])?;
        Some((SessionPlace::File(path), id))
    }
}

struct Found {
    path: PathBuf,
    cwd: Option<PathBuf>,
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
