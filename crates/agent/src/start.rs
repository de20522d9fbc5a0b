//! Starts a session: opens its store and spawns the task that owns it.

use std::fmt::Display;
use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::id_source::IdSource;
use longhand_session::store::{Damage, IndexRow};
use longhand_session::time::{Clock, SystemClock};
use longhand_session::tokens::MessageCounts;
use longhand_session::{Entry, SessionStore, StoreError, SystemIds, Tree};
use tokio::sync::{mpsc, watch};

use crate::active_branch::{self, ActiveBranch};
use crate::client::ModelClient;
use crate::compaction::Thinking;
use crate::event::{NoticeLevel, SessionEvent};
use crate::handle::{Live, SessionHandle};
use crate::journal::Journal;
use crate::live::Frames;
use crate::mail::{MAILBOX_SIZE, Postbox};
use crate::maintenance::{Maintenance, NoMaintenance};
use crate::owner::{Owner, State};
use crate::request::{RequestOptions, ToolSpec};
use crate::run::Surroundings;
use crate::tool::{Gate, OpenGate, Tool};
use crate::transform::RequestTransform;
use crate::window;

/// How many damaged lines a notice names: it is one line.
const MAX_LISTED: usize = 10;

/// Whether somebody can answer questions about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Somebody watches and can be asked.
    Interactive,
    /// Nobody does: a call that would ask gets an error instead.
    Nobody,
}

/// What a session is made of. Only the store and the model are needed; [`SessionConfig::new`] has defaults for the rest.
pub struct SessionConfig {
    /// Where the session is kept.
    pub store: Box<dyn SessionStore>,
    /// The model of the conversation.
    pub client: Arc<dyn ModelClient>,
    /// Segments of the system prompt.
    pub system: Vec<Arc<str>>,
    /// Tools that the model may call. Of two tools of one name the first is called.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Decides which calls may run.
    pub gate: Arc<dyn Gate>,
    /// Whether somebody can be asked.
    pub asking: Asking,
    /// Decides when the context is made shorter.
    pub maintenance: Arc<dyn Maintenance>,
    /// Rewrites of outgoing requests, in order.
    pub transforms: Vec<Arc<dyn RequestTransform>>,
    /// How hard the session lets its model think, for requests that maintenance makes. Those of the conversation follow
    /// [`SessionConfig::options`].
    pub thinking: Thinking,
    /// How the model should answer. A missing cache key becomes the id of the session.
    pub options: RequestOptions,
    /// The words that go to a model around what people said.
    pub prompts: Arc<Prompts>,
    /// Where the pictures of a bitmap archive lie; without it they are missing from what the model sees.
    pub frames: Option<Frames>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Ids of new entries.
    pub ids: Arc<dyn IdSource>,
}

impl SessionConfig {
    /// A session without tools and without maintenance.
    pub fn new(store: Box<dyn SessionStore>, client: Arc<dyn ModelClient>) -> Self {
        Self {
            store,
            client,
            system: Vec::new(),
            tools: Vec::new(),
            gate: Arc::new(OpenGate),
            asking: Asking::Nobody,
            maintenance: Arc::new(NoMaintenance),
            transforms: Vec::new(),
            thinking: Thinking::default(),
            options: RequestOptions::default(),
            prompts: Arc::default(),
            frames: None,
            clock: Arc::new(SystemClock),
            ids: Arc::<SystemIds>::default(),
        }
    }
}

/// Why a session did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store could not be opened, or not be read.
    #[error("cannot open the session")]
    Store(#[from] StoreError),
}

/// A session that runs: its transcript, its model, and the task that owns both.
pub struct AgentSession;

impl AgentSession {
    /// Opens the store and starts the session. It ends with [`SessionHandle::close`], or when the last handle is dropped.
    ///
    /// Must be called within a tokio runtime that has its timer enabled.
    ///
    /// # Errors
    /// The store could not be opened.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "testing")]
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// use std::sync::Arc;
    ///
    /// use longhand_agent::testing::{Reply, ScriptedClient};
    /// use longhand_agent::{AgentSession, SessionConfig, UserInput};
    /// use longhand_session::{Header, MemoryStore};
    ///
    /// let store = Box::new(MemoryStore::new(Header::default()));
    /// let client = Arc::new(ScriptedClient::new([Reply::text("Good morning.")]));
    /// let session = AgentSession::start(SessionConfig::new(store, client)).await?;
    ///
    /// let end = session.prompt(UserInput::text("Hello")).await?;
    ///
    /// let reply = end.last.expect("the model has answered");
    /// assert_eq!(reply.as_assistant().expect("a reply").text(""), "Good morning.");
    /// session.close().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn start(config: SessionConfig) -> Result<SessionHandle, StartError> {
        let (journal, opened) = Journal::open(config.store).await?;
        let header = opened.header;
        let session = header.id.clone();
        let tree = Tree::new(opened.rows);
        let path = active_branch::path(&tree, tree.leaf());
        let gap = gap(&tree, &path);
        let entries = journal.reader().run(move |reader| window::read(&path, reader)).await?;
        let mut found = found(&opened.damage, &entries);
        found.extend(gap);
        let branch = ActiveBranch::new(session, tree, entries, config.frames);

        let specs: Vec<ToolSpec> = config.tools.iter().map(|tool| tool.spec().clone()).collect();
        let counts = MessageCounts::new(config.client.counter());
        let live = Live::new(config.client, &config.system.into(), &specs.into(), config.thinking);
        let (published, branch_receiver) = watch::channel(branch.snapshot());
        let (live, live_receiver) = watch::channel(Arc::new(live));
        let (sender, mailbox) = mpsc::channel(MAILBOX_SIZE);
        let surroundings = Arc::new(Surroundings {
            tools: config.tools,
            gate: config.gate,
            asking: config.asking,
            maintenance: config.maintenance,
            transforms: config.transforms,
            options: config.options,
            prompts: config.prompts,
            clock: config.clock.clone(),
        });
        let mut owner = Owner {
            mailbox,
            postbox: sender.downgrade(),
            surroundings,
            clock: config.clock,
            ids: config.ids,
            branch,
            journal,
            header,
            published,
            live,
            counts,
            found,
            state: State::default(),
        };
        owner.end_interrupted_turn().await;
        tokio::spawn(owner.work());
        Ok(SessionHandle::new(Postbox(sender), branch_receiver, live_receiver))
    }
}

/// What everybody should know of a session as it was found.
fn found(damage: &Damage, window: &[Arc<Entry>]) -> Vec<SessionEvent> {
    let unread = listed(&damage.lines).map(|lines| {
        format!("parts of the session could not be read, and are kept as they are: line {lines}")
    });
    let shared = listed(&damage.duplicate_ids)
        .map(|ids| format!("entries of the session share an id: {ids}"));
    let lost = window::lost_kept_entry(window).map(|id| {
        format!("the newest compaction keeps what follows entry `{id}`, which is not there; the model sees its summary alone")
    });
    [unread, shared, lost].into_iter().flatten().map(damage_notice).collect()
}

/// What everybody should know of a branch that does not go back to the beginning.
fn gap(tree: &Tree, path: &[IndexRow]) -> Option<SessionEvent> {
    let first = path.first()?;
    let missing = first.parent_id.as_ref().filter(|parent| !tree.contains(parent))?;
    Some(damage_notice(format!(
        "what came before entry `{}` is not there: it follows `{missing}`, which is missing",
        first.id
    )))
}

fn damage_notice(message: String) -> SessionEvent {
    SessionEvent::Notice {
        level: NoticeLevel::Warning,
        message,
        source: "session".into(),
        code: Some("session.damaged".into()),
    }
}

/// The first few of a list, and how many more there are; `None` for an empty one.
fn listed<T: Display>(items: &[T]) -> Option<String> {
    let first: Vec<String> = items.iter().take(MAX_LISTED).map(T::to_string).collect();
    let more = items.len() - first.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!items.is_empty()).then(|| format!("{}{rest}", first.join(", ")))
}
