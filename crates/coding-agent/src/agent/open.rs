//! Opens a session: finds or makes its store, chooses its model, gathers tools, prompts and maintenance, and starts its owner.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::client::ModelsError;
use longhand_agent::commit::{Change, Commit, Expect};
use longhand_agent::live::Frames;
use longhand_agent::{AgentSession, ModelClient, SessionConfig, SessionHandle, StartError};
use longhand_session::blob_store::{self, BlobFrames, BlobStore, FolderBlobs};
use longhand_session::context::{self, SessionContext};
use longhand_session::entry::EntryKind;
use longhand_session::header::VERSION;
use longhand_session::jsonl;
use longhand_session::lookup::LookupError;
use longhand_session::place::{self, SessionPlace};
use longhand_session::store::{ChangeSet, IndexRow, Opened as Found};
use longhand_session::time::Timestamp;
use longhand_session::{Header, MemoryStore, ModelRef, SessionStore, StoreError, Tree};
use tokio::sync::watch;

use super::CodingAgent;
use super::choice::{self, Chosen, NoModel, Unchosen};
use super::copies::{self, CopySessionError};
use super::limits;
use super::request::{OpenRequest, SessionChoice};
use super::surroundings::{selected, vision};
use super::todo_of_branch;
use crate::opened_store::OpenedStore;
use crate::stores::StoreSources;
use crate::system_prompt::SystemPrompt;
use crate::tools::{self, Vision};

/// A session that runs.
pub struct Opened {
    /// The door to it.
    pub session: SessionHandle,
    /// Its header.
    pub header: Header,
    /// Where it is kept; `None` in memory. A new session appears there with its first message.
    pub place: Option<SessionPlace>,
    /// Where it works.
    pub directory: PathBuf,
    /// The effort that is asked of the model; `off` where none is.
    pub thinking: String,
    /// What the model is told before anything else.
    pub system_prompt: SystemPrompt,
    /// What the user should know, one line each.
    pub notices: Vec<String>,
    vision: watch::Sender<Vision>,
}

impl Opened {
    /// Uses another model from the next request on.
    pub async fn set_model(&self, client: Arc<dyn ModelClient>) {
        self.vision.send_replace(vision(&*client));
        self.session.set_model(client).await;
    }

    /// The model of the conversation.
    pub fn model(&self) -> ModelRef {
        self.session.live().client.model().reference()
    }
}

/// Why a session was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No model is configured, and none was named.
    #[error(transparent)]
    NoModel(#[from] NoModel),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelsError),
    /// The session was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The session cannot be copied.
    #[error("cannot fork the session")]
    Fork(#[from] CopySessionError),
    /// The session cannot be read.
    #[error("cannot open the session")]
    Store(#[from] StoreError),
    /// The working directory or a further root cannot be used.
    #[error("cannot work in `{}`", path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A tool of that name does not exist.
    #[error("there is no tool `{name}`; there are: {}", known.join(", "))]
    UnknownTool {
        /// The name.
        name: String,
        /// The tools that exist.
        known: Vec<String>,
    },
}

impl From<Unchosen> for OpenError {
    fn from(unchosen: Unchosen) -> Self {
        match unchosen {
            Unchosen::NoModel(error) => Self::NoModel(error),
            Unchosen::Models(error) => Self::Model(error),
        }
    }
}

impl From<StartError> for OpenError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Store(error) => Self::Store(error),
            // The enum is open; whatever else comes is a failure to open as well.
            other => Self::Store(StoreError::Io {
                action: "start",
                path: PathBuf::new(),
                source: io::Error::other(other),
            }),
        }
    }
}

impl CodingAgent {
    /// Opens a session and starts it. Ends with [`SessionHandle::close`].
    ///
    /// # Errors
    /// There is no such session, it cannot be read, or no model can be used. Nothing was written.
    pub async fn open(&self, request: OpenRequest) -> Result<Opened, OpenError> {
        let SessionChoice::Fork(wanted) = &request.session else {
            return self.open_itself(request).await;
        };
        let copy = self.fork(wanted)?.place;
        let session = SessionChoice::At(copy.clone());
        let opened = self.open_itself(OpenRequest { session, ..request }).await;
        // Whoever tries again makes another copy.
        if opened.is_err()
            && let Err(error) = self.sessions.delete(&copy)
        {
            tracing::warn!("cannot remove the copy `{copy}`: {error}");
        }
        opened
    }

    async fn open_itself(&self, request: OpenRequest) -> Result<Opened, OpenError> {
        let mut notices = Vec::new();
        let store = self.store(&request, &mut notices)?;
        let (store, found, stored) = read(store).await?;
        notices.extend(damage_notice(&found));
        let directory = self.adopted_directory(&found.header, &mut notices);
        let asked = request.model.as_deref();
        let chosen = choice::model(&**self.models(), self.settings(), asked, &stored).await?;
        let changes = choice::notes(&chosen, &stored);
        let Chosen { client, notices: of_choice, .. } = chosen;
        notices.extend(of_choice);

        let (vision, tool_context) = self.tool_context(&request, &directory, &store, &client)?;
        let todo = tool_context.todo.clone();
        let tools = selected(tools::standard(tool_context), &request.tools)?;
        let context = self.context_files(request.context_files, &directory);
        notices.extend(context.iter().flat_map(|context| context.notices.iter().cloned()));
        let system_prompt = self.system_prompt(&request, &directory, &tools, context.as_ref());

        let place = store.place();
        let mut config = SessionConfig::new(Box::new(store), client.clone());
        config.system = system_prompt.segments().to_vec();
        config.tools = tools;
        config.gate = Arc::new(self.policy());
        config.asking = request.asking;
        config.maintenance = Arc::new(self.maintainer());
        config.transforms = self.transforms(place.as_ref());
        config.thinking = choice::thinking(request.thinking, &stored);
        let cache_key = found.header.provider_prompt_cache_key.as_deref();
        config.options.cache_key = cache_key.map(Into::into);
        config.options.effort = choice::effort(config.thinking, client.model());
        let thinking =
            config.options.effort.map_or("off", longhand_session::model::Effort::as_str).to_owned();
        config.frames = Some(self.frames());
        config.prompts = self.prompts.clone();
        config.clock = self.setup.clock.clone();
        config.ids = self.setup.ids.clone();
        let session = AgentSession::start(config).await?;
        todo_of_branch::follow(&session, todo).await;
        let built_in: Vec<_> = self.methods().iter().map(|method| method.id()).collect();
        notices.extend(limits::warnings(&session.live(), &self.compaction.borrow(), &built_in));
        if !changes.is_empty() {
            let drafts = changes.into_iter().map(|change| EntryKind::ModelChange(change).into());
            let change = Change::Append(drafts.collect());
            // Nothing is expected, so that nothing can be stale; a failure to write is told by the session.
            let _ = session.commit(Commit { expect: Expect::default(), change }).await;
        }
        let opened = Opened {
            session,
            header: found.header,
            place,
            directory,
            thinking,
            system_prompt,
            notices,
            vision,
        };
        if let Some(terminal) = &request.terminal {
            self.leave_breadcrumb(terminal, &opened);
        }
        Ok(opened)
    }

    fn store(
        &self,
        request: &OpenRequest,
        notices: &mut Vec<String>,
    ) -> Result<Box<dyn SessionStore>, OpenError> {
        let directory = &self.setup.directory;
        let place = match &request.session {
            SessionChoice::New => None,
            SessionChoice::NewNow => {
                let header = self.new_header();
                let store = self.settings().sessions.store;
                let place = self.sessions.new_place(store, directory, &header);
                return self.new_store_at(&place);
            }
            SessionChoice::InMemory => return Ok(Box::new(MemoryStore::new(self.new_header()))),
            SessionChoice::Continue => self.to_continue(request.terminal.as_ref(), notices)?,
            SessionChoice::Resume(wanted) => {
                let place = self.sessions.find(wanted, directory)?;
                if place.file().is_some_and(is_free) {
                    return self.new_store_at(&place);
                }
                Some(place)
            }
            SessionChoice::Fork(wanted) => Some(self.fork(wanted)?.place),
            SessionChoice::At(place) => Some(place.clone()),
        };
        Ok(match place {
            Some(place) => self.store_sources().resume(&place),
            None => self.new_store(),
        })
    }

    /// A new session where the user named a file that is not there yet, or is empty. It is written at once.
    fn new_store_at(&self, place: &SessionPlace) -> Result<Box<dyn SessionStore>, OpenError> {
        let mut store = self.store_sources().create(place, self.new_header());
        store.open()?;
        store.rewrite(&ChangeSet::default())?;
        Ok(self.store_sources().resume(place))
    }

    fn new_store(&self) -> Box<dyn SessionStore> {
        let header = self.new_header();
        let store = self.settings().sessions.store;
        let place = self.sessions.new_place(store, &self.setup.directory, &header);
        self.store_sources().create(&place, header)
    }

    /// Where stores take ids and time from.
    pub fn store_sources(&self) -> StoreSources {
        StoreSources {
            ids: self.setup.ids.clone(),
            clock: self.setup.clock.clone(),
            blobs: Some(self.blobs()),
        }
    }

    /// Pictures of all sessions.
    pub fn blobs(&self) -> Arc<dyn BlobStore> {
        Arc::new(FolderBlobs::at(blob_store::folder(&self.places.data)))
    }

    /// Where frames lie that archives only refer to.
    pub fn frames(&self) -> Frames {
        Arc::new(BlobFrames(self.blobs()))
    }

    pub(crate) fn new_header(&self) -> Header {
        Header {
            version: Some(VERSION),
            id: self.setup.ids.session_id(),
            timestamp: Timestamp::from_millis(self.setup.clock.now_millis()),
            cwd: Some(place::canonical(&self.setup.directory).display().to_string()),
            ..Header::default()
        }
    }

    /// A session goes on where it worked, if that folder can still be entered.
    fn adopted_directory(&self, header: &Header, notices: &mut Vec<String>) -> PathBuf {
        let own = header.cwd.as_deref().map(PathBuf::from);
        match own.filter(|own| *own != self.setup.directory) {
            Some(own) if copies::can_be_entered(&own) => own,
            Some(own) => {
                let here = self.setup.directory.display();
                let why = if own.exists() { "cannot be entered" } else { "is gone" };
                notices.push(format!(
                    "the session's folder `{}` {why}; it goes on in `{here}`",
                    own.display()
                ));
                self.setup.directory.clone()
            }
            None => self.setup.directory.clone(),
        }
    }
}

/// Whether a new session can begin at a path: its folder is there, and nothing else, unless a crash has left a session behind.
fn is_free(path: &Path) -> bool {
    let is_empty = path.metadata().map_or(true, |found| found.is_file() && found.len() == 0);
    is_empty
        && path.parent().is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir())
        && !jsonl::recover(path).unwrap_or(true)
}

/// Opens a store and reads the settings at its leaf, away from the runtime: a session may be long.
async fn read(
    store: Box<dyn SessionStore>,
) -> Result<(OpenedStore, Found, SessionContext), OpenError> {
    let reading = tokio::task::spawn_blocking(move || {
        let (store, found) = OpenedStore::open(store)?;
        let tree = Tree::new(found.rows.iter().cloned());
        let path: Vec<IndexRow> =
            tree.active_path().iter().filter_map(|id| tree.row(id)).cloned().collect();
        let stored = context::settings(&path, &store)?;
        Ok((store, found, stored))
    });
    match reading.await {
        Ok(read) => read,
        // Only a panic in the store ends the task without an answer; it goes on where it is awaited.
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn damage_notice(found: &Found) -> Vec<String> {
    let lines = found.damage.lines.len();
    let notice = format!(
        "{lines} lines of the session file could not be read; the original is kept beside it"
    );
    (lines > 0).then_some(notice).into_iter().collect()
}
