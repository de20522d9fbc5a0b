//! What a session works with: its tools, its system prompt, its maintenance.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhand_agent::RequestTransform;
use longhand_agent::{ModelClient, Tool, ToolSpec};
use longhand_compaction::Preparer;
use longhand_compaction::inline_imaging::{InlineImaging, SavingsJournal};
use longhand_compaction::outgoing_images::{ImageClamp, UndecodableImages};
use longhand_maintenance::{Maintainer, Wiring};
use longhand_session::artifact_store::{FolderArtifacts, MemoryArtifacts};
use longhand_session::place::SessionPlace;
use longhand_session::{ByteEstimate, SessionStore};
use tokio::sync::watch;

use super::CodingAgent;
use super::open::OpenError;
use super::request::{ContextFilesUse, OpenRequest, ToolSelection};
use crate::approval::{Mode, Policy, ToolPolicy};
use crate::context_files::ContextFiles;
use crate::opened_store::OpenedStore;
use crate::places;
use crate::savings::{self, FileJournal};
use crate::system_prompt::{Ingredients, SystemPrompt, Workstation};
use crate::tools::{ToolContext, Vision, Workspace};

impl CodingAgent {
    pub(super) fn tool_context(
        &self,
        request: &OpenRequest,
        directory: &Path,
        store: &OpenedStore,
        client: &Arc<dyn ModelClient>,
    ) -> Result<(watch::Sender<Vision>, ToolContext), OpenError> {
        let home = places::home(&self.setup.environment);
        let workspace = Workspace::new(directory, request.further_roots.iter().cloned(), home)
            .map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
        let (vision, receiver) = watch::channel(vision(&**client));
        let mut context = ToolContext::new(workspace);
        context.prompts = self.prompts.clone();
        context.vision = receiver;
        context.artifacts = match store.place() {
            Some(place) => Arc::new(FolderArtifacts::at(place.artifact_folder())),
            None => Arc::new(MemoryArtifacts::default()),
        };
        let settings = self.settings();
        let options = &mut context.options;
        options.read_lines = settings.read.default_limit;
        options.shown.spill_bytes =
            usize::try_from(settings.tools.artifact_spill_threshold.saturating_mul(1_024))
                .unwrap_or(usize::MAX);
        options.most_seconds = (settings.tools.max_timeout > 0)
            .then(|| Duration::from_secs(settings.tools.max_timeout));
        let keys = self.credentials.variables().map(str::to_owned);
        options.shell.hidden_variables.extend(keys);
        Ok((vision, context))
    }

    pub(super) fn context_files(
        &self,
        use_: ContextFilesUse,
        directory: &Path,
    ) -> Option<ContextFiles> {
        match use_ {
            ContextFilesUse::Read => {
                Some(ContextFiles::find(&self.places, &self.setup.environment, directory))
            }
            ContextFilesUse::Skip => None,
        }
    }

    pub(super) fn system_prompt(
        &self,
        request: &OpenRequest,
        directory: &Path,
        tools: &[Arc<dyn Tool>],
        context: Option<&ContextFiles>,
    ) -> SystemPrompt {
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
        let now = self.setup.clock.now_millis();
        let mut workstation = Workstation::new(&self.setup.environment, directory.to_owned(), now);
        workstation.further_roots.clone_from(&request.further_roots);
        let text = |asked: &Option<String>, file: &str| match asked {
            Some(asked) => Some(text_of(asked, &self.setup.directory)),
            None => std::fs::read_to_string(self.places.config.join(file)).ok(),
        };
        let replacement = text(&request.system_prompt, "SYSTEM.md");
        let addition = text(&request.system_prompt_addition, "APPEND_SYSTEM.md");
        SystemPrompt::compose(&Ingredients {
            prompts: &self.prompts,
            tools: &specs,
            workstation: &workstation,
            context,
            replacement: replacement.as_deref(),
            addition: addition.as_deref(),
        })
    }

    /// Which calls may run. Names that are no mode and no policy do not get here: the table of keys holds them back.
    pub(super) fn policy(&self) -> Policy {
        let settings = &self.settings().tools;
        let mode = settings.approval_mode.parse().unwrap_or(Mode::AlwaysAsk);
        let tool = |(name, policy): (&String, &String)| {
            (name.clone(), policy.parse().unwrap_or(ToolPolicy::Prompt))
        };
        Policy::new(mode, settings.approval.iter().map(tool).collect())
    }

    /// Rewrites of requests, in the order in which they run: what may be sent as pictures, then what a provider takes of pictures.
    pub(super) fn transforms(
        &self,
        place: Option<&SessionPlace>,
    ) -> Vec<Arc<dyn RequestTransform>> {
        let journal = place.and_then(SessionPlace::file).map(|file| {
            Arc::new(FileJournal {
                journal: self.places.data.join(savings::FILE_NAME),
                session: file.display().to_string(),
                clock: self.setup.clock.clone(),
            }) as Arc<dyn SavingsJournal>
        });
        let (options, prompts) = (self.compaction(), self.prompts.clone());
        vec![
            Arc::new(InlineImaging::new(options.clone(), prompts, self.renderer.clone(), journal)),
            Arc::new(ImageClamp::new(options)),
            Arc::new(UndecodableImages::default()),
        ]
    }

    pub(super) fn maintainer(&self) -> Maintainer {
        Maintainer::new(Wiring {
            methods: self.methods(),
            prepare: Arc::new(Preparer::new(self.compaction(), Arc::new(ByteEstimate))),
            models: self.models.clone(),
            options: self.compaction(),
            prompts: self.prompts.clone(),
            clock: self.setup.clock.clone(),
            frames: Some(self.frames()),
        })
    }
}

/// The tools that were asked for.
pub(super) fn selected(
    tools: Vec<Arc<dyn Tool>>,
    selection: &ToolSelection,
) -> Result<Vec<Arc<dyn Tool>>, OpenError> {
    let names = match selection {
        ToolSelection::All => return Ok(tools),
        ToolSelection::None => return Ok(Vec::new()),
        ToolSelection::Only(names) => names,
    };
    let known: Vec<String> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(OpenError::UnknownTool { name: name.clone(), known }),
        None => Ok(tools.into_iter().filter(|tool| names.contains(&tool.spec().name)).collect()),
    }
}

/// Whether a model sees pictures.
pub(super) fn vision(client: &dyn ModelClient) -> Vision {
    if client.model().has_vision() { Vision::Sees } else { Vision::Blind }
}

/// The text of a file where there is one of that name, else the words themselves.
fn text_of(text_or_file: &str, directory: &Path) -> String {
    let path = directory.join(text_or_file);
    std::fs::read_to_string(path).unwrap_or_else(|_| text_or_file.to_owned())
}
