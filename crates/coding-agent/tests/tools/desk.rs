//! A workspace in a folder of its own, with the standard tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhand_agent::tool::{Invocation, Tier, Tool, ToolOutput, ToolUpdates};
use longhand_coding_agent::tools::{self, ToolContext, Workspace};
use longhand_session::ToolCallId;
use longhand_session::artifact_store::FolderArtifacts;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Desk {
    folder: TempDir,
    tools: Vec<Arc<dyn Tool>>,
    pub(crate) cancel: CancellationToken,
    pub(crate) updates: Updates,
}

/// The live updates of calls.
#[derive(Default)]
pub(crate) struct Updates(pub(crate) Mutex<Vec<String>>, pub(crate) tokio::sync::Notify);

impl ToolUpdates for Updates {
    fn update(&self, partial: ToolOutput) {
        self.0.lock().unwrap().push(text(&partial));
        self.1.notify_one();
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// The workspace is the folder `work` of a scratch folder; long output goes to `kept` beside it, and `home` is the home.
    pub(crate) fn with(change: impl FnOnce(&mut ToolContext)) -> Self {
        let folder = TempDir::new().unwrap();
        let work = folder.path().join("work");
        let home = folder.path().join("home");
        fs::create_dir(&work).unwrap();
        fs::create_dir(&home).unwrap();
        let mut context = ToolContext::new(Workspace::new(&work, [], Some(home)).unwrap());
        context.artifacts = Arc::new(FolderArtifacts::at(folder.path().join("kept")));
        change(&mut context);
        Self {
            tools: tools::standard(context),
            folder,
            cancel: CancellationToken::new(),
            updates: Updates::default(),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        &**self.tools.iter().find(|tool| tool.spec().name == name).unwrap()
    }

    pub(crate) fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolOutput {
        let call = Invocation {
            id: &ToolCallId::new("call"),
            arguments: &arguments,
            updates: &self.updates,
            cancel: self.cancel.clone(),
        };
        self.tool(name).run(call).await
    }

    /// The text of a call that succeeds.
    pub(crate) async fn ok(&self, name: &str, arguments: Value) -> String {
        let output = self.call(name, arguments).await;
        assert!(!output.is_error, "{}", text(&output));
        text(&output)
    }

    /// The text of a call that fails.
    pub(crate) async fn fails(&self, name: &str, arguments: Value) -> String {
        let output = self.call(name, arguments).await;
        assert!(output.is_error, "{}", text(&output));
        assert!(!output.is_useless);
        text(&output)
    }

    pub(crate) fn tier(&self, name: &str, arguments: &Value) -> Tier {
        self.tool(name).tier(arguments)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A named pipe that nobody writes to.
    pub(crate) fn pipe(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.path(name)).status().unwrap();
        assert!(made.success());
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.iter().filter_map(|block| block.as_text()).collect()
}

pub(crate) fn details(output: &ToolOutput) -> &Value {
    output.details.as_ref().unwrap().value()
}
