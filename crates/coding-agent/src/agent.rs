//! The whole agent without a terminal: settings, models, prompts and places of one user in one directory. Sessions are opened
//! from it.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use longhand_agent::UserInput;
//! use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, Setup};
//!
//! let environment: Environment = std::env::vars().collect();
//! let agent = CodingAgent::new(Setup::new(environment, std::env::current_dir()?))?;
//! let opened = agent.open(OpenRequest { model: Some("demo/offline".into()), ..OpenRequest::default() }).await?;
//! opened.session.prompt(UserInput::text("list .")).await?;
//! opened.session.close().await?;
//! # Ok(())
//! # }
//! ```

mod choice;
mod copies;
mod first_run;
mod limits;
mod open;
mod plan;
mod request;
mod surroundings;
mod todo_of_branch;
mod trail;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::{CompactionMethod, Models};
use longhand_compaction::{Options, SnapcompactMethod, SoftMethod};
use longhand_prompts::Prompts;
use longhand_session::SystemIds;
use longhand_session::id_source::IdSource;
use longhand_session::time::{Clock, SystemClock};
use longhand_snapcompact::Renderer;
use tokio::sync::watch;

pub use choice::NoModel;
pub use copies::{CopySessionError, MoveSessionError, SessionCopy};
pub use first_run::{FirstRun, KeyVariable};
pub use longhand_agent::compaction::Thinking;
pub use open::{OpenError, Opened};
pub use plan::{CompactFileError, Compacted, FileCompaction};
pub use request::{ContextFilesUse, OpenRequest, SessionChoice, ToolSelection};

use crate::catalogue::{self, Demo};
use crate::credentials::Credentials;
use crate::demo::Pace;
use crate::environment::Environment;
use crate::fallback_font;
use crate::places::{NoHome, Places};
use crate::prompt_files;
use crate::sessions::Sessions;
use crate::settings::{self, Loaded, Settings, Sources};

/// What an agent is made from. [`Setup::new`] has defaults for all but the environment and the directory.
#[derive(Clone)]
pub struct Setup {
    /// Environment variables.
    pub environment: Environment,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// Further settings files, a later one wins.
    pub overlays: Vec<PathBuf>,
    /// Settings of this run, as `key=value`.
    pub assignments: Vec<String>,
    /// Where sessions are kept and looked up; `None` is the usual place.
    pub session_dir: Option<PathBuf>,
    /// How fast the demo answers.
    pub demo_pace: Pace,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Ids of new sessions and entries.
    pub ids: Arc<dyn IdSource>,
}

impl Setup {
    /// A setup of this machine.
    pub fn new(environment: Environment, directory: PathBuf) -> Self {
        Self {
            environment,
            directory,
            overlays: Vec::new(),
            assignments: Vec::new(),
            session_dir: None,
            demo_pace: Pace::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::<SystemIds>::default(),
        }
    }
}

/// The whole agent without a terminal.
pub struct CodingAgent {
    pub(crate) setup: Setup,
    places: Places,
    sessions: Sessions,
    loaded: Loaded,
    prompts: Arc<Prompts>,
    credentials: Arc<Credentials>,
    models: Arc<dyn Models>,
    compaction: watch::Sender<Arc<Options>>,
    renderer: Renderer,
    notices: Vec<String>,
}

impl CodingAgent {
    /// Reads settings and prompts. Asks no provider, opens no session, writes nothing.
    ///
    /// # Errors
    /// Nobody says where the user's folders are. Everything else that is wrong is left out and told in
    /// [`CodingAgent::notices`].
    pub fn new(setup: Setup) -> Result<Self, NoHome> {
        let places = Places::find(&setup.environment)?;
        let loaded = settings::load(&Sources {
            places: &places,
            directory: &setup.directory,
            environment: &setup.environment,
            overlays: &setup.overlays,
            assignments: &setup.assignments,
        });
        let (prompts, prompt_notices) = prompt_files::load(&places.prompts());
        let credentials = Arc::new(Credentials::new(
            setup.environment.clone(),
            &loaded.settings.providers,
            catalogue::usual_variables(),
        ));
        let demo = Demo { pace: setup.demo_pace, clock: setup.clock.clone() };
        let (models, model_notices) = catalogue::build(&loaded.settings, &credentials, &demo);
        let mut notices: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
        notices.extend(prompt_notices);
        notices.extend(model_notices);
        let font = loaded.settings.snapcompact.fallback_font.as_deref();
        let (renderer, font_notice) =
            fallback_font::renderer(font, &setup.directory, &setup.environment);
        notices.extend(font_notice);
        Ok(Self {
            sessions: Sessions::new(&setup, &places),
            compaction: watch::Sender::new(Arc::new(loaded.settings.compaction_options())),
            setup,
            places,
            loaded,
            prompts: Arc::new(prompts),
            credentials,
            models: Arc::new(models),
            renderer,
            notices,
        })
    }

    /// The settings in force.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.loaded.settings
    }

    /// Where each setting was made, and what was left out.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// What was left out of settings, prompts and providers, in words for the user.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Where things lie.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The working directory.
    pub fn directory(&self) -> &Path {
        &self.setup.directory
    }

    /// Where sessions lie.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The words for models.
    pub fn prompts(&self) -> &Arc<Prompts> {
        &self.prompts
    }

    /// The keys of providers.
    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// All models that can be used.
    pub fn models(&self) -> &Arc<dyn Models> {
        &self.models
    }

    /// The options of compaction; they follow the settings.
    pub fn compaction(&self) -> watch::Receiver<Arc<Options>> {
        self.compaction.subscribe()
    }

    /// Draws frames of history, with the fonts of the settings.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }

    /// The compaction methods that are built in.
    pub fn methods(&self) -> Vec<Arc<dyn CompactionMethod>> {
        let (options, prompts) = (self.compaction(), self.prompts.clone());
        let frames = Some(self.frames());
        vec![
            Arc::new(SnapcompactMethod::new(
                options.clone(),
                prompts.clone(),
                self.renderer.clone(),
                frames,
            )),
            Arc::new(SoftMethod::new(options, prompts)),
        ]
    }
}
