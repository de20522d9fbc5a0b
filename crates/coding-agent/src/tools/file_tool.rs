//! Runs tools that work on files: their arguments parsed once, their work off the async runtime.

use std::sync::Arc;

use async_trait::async_trait;
use longhand_agent::ToolSpec;
use longhand_agent::tool::{Invocation, Tier, Tool, ToolOutput};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tools::arguments;
use crate::tools::failure::Failure;

/// A tool that blocks while it works.
pub(crate) trait FileTool: Send + Sync + 'static {
    type Arguments: DeserializeOwned + Send + 'static;

    /// The tier of a call that touches nothing outside the workspace.
    const TIER: Tier;

    fn spec(&self) -> &ToolSpec;

    fn tier(&self, arguments: &Self::Arguments) -> Tier;

    /// Does the work. Long work looks at `cancel` now and then; what it changes, it changes whole or not at all.
    fn run(
        &self,
        arguments: Self::Arguments,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, Failure>;
}

/// A [`FileTool`] as a [`Tool`].
pub(crate) struct OnWorker<T>(Arc<T>);

impl<T: FileTool> OnWorker<T> {
    pub(crate) fn new(tool: T) -> Self {
        Self(Arc::new(tool))
    }
}

#[async_trait]
impl<T: FileTool> Tool for OnWorker<T> {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn tier(&self, arguments: &Value) -> Tier {
        arguments::parse(self.spec(), arguments).map_or(T::TIER, |parsed| self.0.tier(&parsed))
    }

    async fn run(&self, call: Invocation<'_>) -> ToolOutput {
        let arguments = match arguments::parse(self.spec(), call.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return failure.into(),
        };
        if call.cancel.is_cancelled() {
            return Failure::cancelled().into();
        }
        let (tool, cancel) = (Arc::clone(&self.0), call.cancel.clone());
        match tokio::task::spawn_blocking(move || tool.run(arguments, &cancel)).await {
            Ok(outcome) => outcome.unwrap_or_else(ToolOutput::from),
            Err(error) => {
                tracing::error!(tool = self.spec().name, %error, "a tool broke off");
                ToolOutput::error(format!(
                    "`{}` broke off by a defect of its own",
                    self.spec().name
                ))
            }
        }
    }
}
