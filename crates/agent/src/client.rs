//! The seam to models.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use longhand_session::{AssistantMessage, Model, ModelRef, TokenCounter};
use tokio_util::sync::CancellationToken;

use crate::error::ModelError;
use crate::request::{EventStream, Request, StreamEvent};

/// A model that answers requests.
#[async_trait]
pub trait ModelClient: Send + Sync {
    /// The model.
    fn model(&self) -> &Arc<Model>;

    /// Counts tokens for this model.
    fn counter(&self) -> Arc<dyn TokenCounter>;

    /// Sends a request. Failures before the first byte arrive as an event too. Cancelling ends the stream with
    /// [`StreamEvent::Failed`], stop reason `aborted`, and what came until then.
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream;

    /// Sends a request and waits for the whole answer.
    ///
    /// # Errors
    /// The answer failed or was stopped.
    async fn complete(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<AssistantMessage, ModelError> {
        let mut events = self.stream(request, cancel);
        while let Some(event) = events.next().await {
            match event {
                StreamEvent::Done(message) => return Ok(*message),
                StreamEvent::Failed { error, .. } => return Err(error),
                _ => {}
            }
        }
        Err(ModelError::new(
            crate::error::ErrorKind::Transient,
            "the stream ended without an answer",
        ))
    }

    /// The provider's own compaction, where it has one.
    fn native(&self) -> Option<&dyn NativeCompaction> {
        None
    }
}

/// Compaction by the provider itself. Lanes and wire formats come with the remote method.
pub trait NativeCompaction: Send + Sync {}

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The conversation.
    Default,
    /// Summaries.
    Summarizer,
}

/// Why a name gave no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsError {
    /// No model of that name.
    #[error("there is no model `{name}`{}", closest.as_ref().map(|c| format!("; the closest is `{c}`")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The closest known name.
        closest: Option<String>,
    },
    /// More than one model fits the name.
    #[error("`{name}` may be any of {}", candidates.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// The models that fit, as `provider/id`.
        candidates: Vec<String>,
    },
    /// There is no key for the model.
    #[error("there is no key for `{model}`; set `{variable}`")]
    NoKey {
        /// The model.
        model: String,
        /// The environment variable that would hold the key.
        variable: String,
    },
    /// The model speaks a protocol that no client here does.
    #[error("`{model}` speaks `{api}`, which is not supported")]
    Unserved {
        /// The model.
        model: String,
        /// Its protocol.
        api: &'static str,
    },
    /// No model is configured.
    #[error("no model is configured")]
    None,
    /// The endpoint could not be asked.
    #[error("cannot ask `{endpoint}` for its models: {error}")]
    Unreachable {
        /// The endpoint.
        endpoint: String,
        /// Why not.
        error: ModelError,
    },
}

/// The models that can be used.
#[async_trait]
pub trait Models: Send + Sync {
    /// The model that a name means: `provider/id`, an id, or an unambiguous part of one.
    ///
    /// # Errors
    /// No model, or more than one, or no key.
    async fn resolve(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelsError>;

    /// The model of a full name, `provider/id`, to count and plan with: nobody far away is asked for models, and nobody for a key.
    /// `None` where it is not known without that.
    async fn nearby(&self, _name: &str) -> Option<Arc<dyn ModelClient>> {
        None
    }

    /// The model of a role; `None` where nothing is configured for it.
    async fn for_role(&self, role: Role) -> Result<Option<Arc<dyn ModelClient>>, ModelsError>;

    /// All models that could be used now.
    async fn list(&self) -> Vec<Arc<Model>>;
}

/// Keys of models.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The key for a model, or `None` where there is none. Asked again after the provider refused the last one.
    async fn key(&self, model: &ModelRef) -> Option<String>;
}
