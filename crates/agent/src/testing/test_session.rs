use std::sync::Arc;

use longhand_session::message::Message;
use longhand_session::{Header, MemoryStore, SequentialIds, SessionId};

use super::{ManualClock, Reply, ScriptedClient, SharedStore};
use crate::handle::SessionHandle;
use crate::maintenance::Maintenance;
use crate::start::{AgentSession, Asking, SessionConfig};
use crate::subscription::Subscription;
use crate::tool::{Gate, Tool};

/// When a test's clock begins: 2026-01-01 in milliseconds since the epoch.
const BEGINNING: i64 = 1_767_225_600_000;

/// A session that plays in memory, with everything that a test wants to look at.
pub struct TestSession {
    /// The door to it.
    pub session: SessionHandle,
    /// Its model.
    pub client: Arc<ScriptedClient>,
    /// Its store.
    pub store: SharedStore,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    /// What it tells, from its start on.
    pub events: Subscription,
}

/// How a [`TestSession`] starts.
pub struct TestConfig {
    client: Arc<ScriptedClient>,
    store: SharedStore,
    clock: Arc<ManualClock>,
    config: SessionConfig,
}

impl TestSession {
    /// A new session whose model answers with `replies`. Every call may run, and nobody can be asked.
    #[expect(clippy::new_ret_no_self, reason = "the session exists once it is started")]
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> TestConfig {
        let client = Arc::new(ScriptedClient::new(replies));
        let header = Header { id: SessionId::from("test"), version: Some(3), ..Header::default() };
        let store = SharedStore::new(MemoryStore::new(header));
        TestConfig::with(client, store)
    }
}

impl TestConfig {
    /// A session in a store that is there already.
    pub fn with(client: Arc<ScriptedClient>, store: SharedStore) -> Self {
        let clock = Arc::new(ManualClock::at(BEGINNING));
        let mut config = SessionConfig::new(Box::new(store.clone()), client.clone());
        config.clock = clock.clone();
        config.ids = Arc::<SequentialIds>::default();
        Self { client, store, clock, config }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.config.tools.push(Arc::new(tool));
        self
    }

    /// Asks this gate, and somebody who can answer.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate + 'static, asking: Asking) -> Self {
        self.config.gate = Arc::new(gate);
        self.config.asking = asking;
        self
    }

    /// Uses this maintenance.
    #[must_use]
    pub fn maintenance(mut self, maintenance: Arc<dyn Maintenance>) -> Self {
        self.config.maintenance = maintenance;
        self
    }

    /// Changes anything else.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut SessionConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// The store cannot be opened.
    pub async fn start(self) -> TestSession {
        let Self { client, store, clock, config } = self;
        let session = AgentSession::start(config).await.expect("a store in memory opens");
        let events = session.subscribe().await.expect("the session has just begun");
        TestSession { session, client, store, clock, events }
    }
}

impl TestSession {
    /// Roles and texts of the messages in the store, as `role: text`; calls show as `name(arguments)`.
    pub fn transcript(&self) -> Vec<String> {
        self.store.messages().iter().map(|message| line(message)).collect()
    }

    /// The messages of the request of that number, from 0, as [`Self::transcript`].
    ///
    /// # Panics
    /// There was no such request.
    pub fn request(&self, nth: usize) -> Vec<String> {
        self.client.requests()[nth].messages.iter().map(|message| line(message)).collect()
    }
}

/// A message in one line.
fn line(message: &Message) -> String {
    let text = match message {
        Message::User(m) | Message::Developer(m) => m.content.text(),
        Message::Assistant(m) => {
            let calls = m.tool_calls().map(|c| format!("{}({})", c.name, c.arguments.compact()));
            let text = Some(m.text("")).filter(|text| !text.is_empty());
            text.into_iter().chain(calls).collect::<Vec<_>>().join(" ")
        }
        Message::ToolResult(m) => {
            let texts: Vec<&str> = m.content.iter().filter_map(|block| block.as_text()).collect();
            texts.join(" ")
        }
        _ => String::new(),
    };
    format!("{}: {text}", message.role())
}
