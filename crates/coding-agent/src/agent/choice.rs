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
use longhand_session::entry::ModelChangeEntry;
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
    if configured == "inherit" {
        return Thinking::Inherit;
    }
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
    pub(super) reason: Reason,
    pub(super) notices: Vec<String>,
}

/// Why a model was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The user asks for it now.
    Asked,
    /// The session goes on with it.
    Stored,
    /// The session's own models cannot be used.
    Fallback,
    /// The session has none.
    Configured,
}

/// Why there is no model.
pub(super) enum Unchosen {
    NoModel(NoModel),
    Models(ModelsError),
}

/// Roles of a session whose model was the conversation's own, or stood in for it.
const OWN_ROLES: [&str; 2] = ["default", "fallback"];

/// The models that a session may go on with, as it names them, the first one first: that of the role that was changed last, then
/// its own. A model that only stood in for another is none of them.
fn candidates(stored: &SessionContext) -> Vec<&str> {
    let changed = stored.changed_role.as_deref().filter(|role| !OWN_ROLES.contains(role));
    let mut models: Vec<&str> = changed
        .into_iter()
        .chain(["default"])
        .filter_map(|role| stored.models.get(role).map(String::as_str))
        .collect();
    models.dedup();
    models
}

/// Chooses the model of the conversation.
pub(super) async fn model(
    models: &dyn Models,
    settings: &Settings,
    asked: Option<&str>,
    stored: &SessionContext,
) -> Result<Chosen, Unchosen> {
    if let Some(name) = asked {
        let client = models.resolve(name).await.map_err(Unchosen::Models)?;
        return Ok(Chosen { client, reason: Reason::Asked, notices: Vec::new() });
    }
    let mut notices = Vec::new();
    let candidates = candidates(stored);
    for name in &candidates {
        match models.resolve(name).await {
            Ok(client) => return Ok(Chosen { client, reason: Reason::Stored, notices }),
            Err(error) => {
                notices.push(format!("the session's model `{name}` cannot be used: {error}"));
            }
        }
    }
    let client = match models.for_role(Role::Default).await.map_err(Unchosen::Models)? {
        Some(client) => client,
        None => of_own_endpoint(models, settings, &mut notices).await?,
    };
    let reason = if candidates.is_empty() { Reason::Configured } else { Reason::Fallback };
    if reason == Reason::Fallback {
        notices.push(format!("the session goes on with `{}`", client.model().reference()));
    }
    Ok(Chosen { client, reason, notices })
}

/// What the session notes of a model that it did not have before. A model that stands in for the session's own never becomes its
/// own: the next one who opens the session tries that again.
pub(super) fn notes(chosen: &Chosen, stored: &SessionContext) -> Vec<ModelChangeEntry> {
    let own = stored.models.get("default");
    let change = |model: &str, role: Option<&str>| ModelChangeEntry {
        model: model.to_owned(),
        role: role.map(str::to_owned),
        ..ModelChangeEntry::default()
    };
    let model = chosen.client.model().reference().to_string();
    match (chosen.reason, own) {
        (Reason::Asked, Some(own)) if *own != model => vec![change(&model, None)],
        (Reason::Fallback, Some(own)) => {
            let is_noted = stored.changed_role.as_deref() == Some("fallback")
                && stored.models.get("fallback") == Some(&model);
            if is_noted {
                return Vec::new();
            }
            // Said outright, so that replies of the other model do not make it the session's own.
            vec![change(own, None), change(&model, Some("fallback"))]
        }
        _ => Vec::new(),
    }
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
