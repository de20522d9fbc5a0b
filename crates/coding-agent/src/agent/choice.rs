//! Which model a session goes on with, and how hard it thinks.
//!
//! What the user asks for now wins; then what the session used; then what the settings say. What cannot be had is passed over,
//! visibly.

use std::sync::Arc;

use longhand_agent::client::{ModelsError, Role};
use longhand_agent::compaction::Thinking;
use longhand_agent::{ModelClient, Models};
use longhand_session::Model;
use longhand_session::context::SessionContext;
use longhand_session::model::Effort;

use crate::demo;
use crate::settings::Settings;

/// The wish of a stored level. `auto` and unknown names are `None`.
fn stored_level(level: &str) -> Option<Thinking> {
    if level == "off" {
        return Some(Thinking::Off);
    }
    serde_json::from_value(level.into()).ok().map(Thinking::Level)
}

/// The effort of a session: what is asked for now, else where it left off: what was asked for then, else what was used.
pub(super) fn thinking(asked: Thinking, stored: &SessionContext) -> Thinking {
    if asked != Thinking::Inherit {
        return asked;
    }
    let Some(configured) = stored.configured_thinking_level.as_deref() else { return asked };
    stored_level(configured).or_else(|| stored_level(&stored.thinking_level)).unwrap_or_default()
}

/// What requests of the conversation ask of a model.
pub(super) fn effort(thinking: Thinking, model: &Model) -> Option<Effort> {
    match thinking {
        Thinking::Inherit | Thinking::Off => None,
        Thinking::Level(effort) => model.clamp_effort(effort),
    }
}

/// No model is configured, and none was named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no model is configured; name one with `--model`, a local server with `--set providers.local.baseUrl=URL`, or try `--model demo/offline`"
)]
pub struct NoModel;

/// A model, and what the user should know of how it was chosen.
pub(super) struct Chosen {
    pub(super) client: Arc<dyn ModelClient>,
    pub(super) notices: Vec<String>,
}

/// Why there is no model.
pub(super) enum Unchosen {
    NoModel(NoModel),
    Models(ModelsError),
}

/// Chooses the model of the conversation. `stored` are models by role, as the session names them.
pub(super) async fn model(
    models: &dyn Models,
    settings: &Settings,
    asked: Option<&str>,
    stored: Option<&str>,
) -> Result<Chosen, Unchosen> {
    if let Some(name) = asked {
        let client = models.resolve(name).await.map_err(Unchosen::Models)?;
        return Ok(Chosen { client, notices: Vec::new() });
    }
    let mut notices = Vec::new();
    if let Some(name) = stored {
        match models.resolve(name).await {
            Ok(client) => return Ok(Chosen { client, notices }),
            Err(error) => notices.push(format!("the session's model cannot be used: {error}")),
        }
    }
    if let Some(client) = models.for_role(Role::Default).await.map_err(Unchosen::Models)? {
        return Ok(Chosen { client, notices });
    }
    let client = of_own_endpoint(models, settings, &mut notices).await?;
    Ok(Chosen { client, notices })
}

/// The first model of an endpoint that the user configured: whoever names a local server wants its model.
async fn of_own_endpoint(
    models: &dyn Models,
    settings: &Settings,
    notices: &mut Vec<String>,
) -> Result<Arc<dyn ModelClient>, Unchosen> {
    if settings.providers.is_empty() {
        return Err(Unchosen::NoModel(NoModel));
    }
    let listed = models.list().await;
    let own: Vec<_> = listed
        .iter()
        .filter(|model| {
            model.provider != demo::PROVIDER && settings.providers.contains_key(&model.provider)
        })
        .collect();
    let Some(first) = own.first() else {
        // Asking for a model of the endpoint tells why it lists none.
        let provider = settings.providers.keys().next().cloned().unwrap_or_default();
        return models.resolve(&format!("{provider}/")).await.map_err(Unchosen::Models);
    };
    let name = first.reference().to_string();
    if own.len() > 1 {
        notices.push(format!(
            "using `{name}`, the first of {} models; choose with `--model`",
            own.len()
        ));
    }
    models.resolve(&name).await.map_err(Unchosen::Models)
}
