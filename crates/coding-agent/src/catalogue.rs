//! The catalogue of models that settings and environment describe, with the demo beside them.
//!
//! Nobody is asked here: a provider is asked when one of its models is needed.

use std::sync::Arc;

use longhand_agent::client::Role;
use longhand_providers::{
    Catalogue, Discovery, ModelConfig, ProviderConfig, WellKnown, well_known,
};
use longhand_session::Api;
use longhand_session::model::{Effort, Price};
use longhand_session::time::Clock;

use crate::credentials::Credentials;
use crate::demo::{self, DemoClient, Pace};
use crate::settings::{ModelSettings, ProviderSettings, Settings};

/// Efforts of a model of which only is known that it reasons: those that every such model knows.
const USUAL_EFFORTS: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];

/// The demo's side of a catalogue.
pub(crate) struct Demo {
    pub(crate) pace: Pace,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Builds the catalogue. Gives it with what was left out, in words for the user.
pub(crate) fn build(
    settings: &Settings,
    credentials: &Arc<Credentials>,
    demo: &Demo,
) -> (Catalogue, Vec<String>) {
    let (providers, notices) = providers(settings, credentials);
    let mut catalogue = Catalogue::new(providers, credentials.clone());
    for model in demo::models() {
        let client = DemoClient::new(model, demo.pace).with_clock(demo.clock.clone());
        catalogue = catalogue.with_client(Arc::new(client));
    }
    let roles = [(Role::Default, &settings.model), (Role::Summarizer, &settings.summarizer)];
    for (role, name) in roles {
        if let Some(name) = name {
            catalogue = catalogue.with_role(role, name);
        }
    }
    (catalogue, notices)
}

/// Whether models are listed, each with its window.
fn is_complete(models: &[ModelSettings]) -> bool {
    !models.is_empty() && models.iter().all(|model| model.context_window.is_some())
}

/// Variables that usually hold the keys of well-known providers.
pub(crate) fn usual_variables() -> impl Iterator<Item = (String, Vec<String>)> {
    well_known().iter().map(|known| (known.id.clone(), known.key_variables.clone()))
}

/// The providers of the settings, then the well-known ones that there is a key for.
fn providers(settings: &Settings, credentials: &Credentials) -> (Vec<ProviderConfig>, Vec<String>) {
    let mut providers = Vec::new();
    let mut notices = Vec::new();
    for (id, provider) in &settings.providers {
        match configured(id, provider) {
            Some(config) => providers.push(config),
            None => {
                notices.push(format!("provider `{id}` is not used: set `providers.{id}.baseUrl`"));
            }
        }
    }
    let keyed = well_known().iter().filter(|known| {
        !settings.providers.contains_key(&known.id) && credentials.may_have(&known.id)
    });
    providers.extend(keyed.map(ProviderConfig::from));
    (providers, notices)
}

/// A provider of the settings, over what is known of one of that name. `None` where nobody says where it is.
fn configured(id: &str, settings: &ProviderSettings) -> Option<ProviderConfig> {
    let known: Option<&WellKnown> = well_known().iter().find(|known| known.id == id);
    let mut config = match (known, &settings.base_url) {
        (Some(known), None) => ProviderConfig::from(known),
        (Some(known), Some(url)) => {
            ProviderConfig { base_url: url.clone(), ..ProviderConfig::from(known) }
        }
        (None, Some(url)) => ProviderConfig::new(id, url),
        (None, None) => return None,
    };
    if let Some(api) = settings.api.as_deref() {
        config.api = api_of(api);
    }
    if let Some(variable) = &settings.api_key_env {
        config.key_variable.clone_from(variable);
    }
    config.headers = settings.headers.clone();
    match settings.discover {
        Some(true) => config.discovery = Discovery::On,
        Some(false) => config.discovery = Discovery::Off,
        // Whoever lists models with their windows has said all there is to know.
        None if is_complete(&settings.models) => config.discovery = Discovery::Off,
        None => {}
    }
    config.models = settings.models.iter().map(model).collect();
    Some(config)
}

fn api_of(name: &str) -> Api {
    // The table of keys lets no other name through.
    match name {
        "openai-responses" => Api::OpenaiResponses,
        "anthropic-messages" => Api::AnthropicMessages,
        "google-generative-ai" => Api::GoogleGenerativeAi,
        _ => Api::OpenaiCompletions,
    }
}

fn model(settings: &ModelSettings) -> ModelConfig {
    ModelConfig {
        id: settings.id.clone(),
        name: settings.name.clone(),
        context_window: settings.context_window,
        max_output_tokens: settings.max_tokens,
        input: settings.input.clone(),
        efforts: settings
            .reasoning
            .map(|reasons| if reasons { USUAL_EFFORTS.to_vec() } else { Vec::new() }),
        price: settings.cost.map(|cost| Price {
            input: cost.input,
            output: cost.output,
            cache_read: cost.cache_read,
            cache_write: cost.cache_write,
        }),
    }
}
