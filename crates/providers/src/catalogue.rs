//! The models that can be used: those that the user lists, those that a provider tells of, and those that are known by name.
//!
//! Making a catalogue asks nobody. Providers are asked when a name needs it, and what they say is kept for a while; one that does
//! not answer takes nothing away from what is known without it.

mod names;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future;
use longhand_agent::client::{ModelsError, Role};
use longhand_agent::{Credentials, ModelClient, ModelError, Models};
use longhand_session::model::{Effort, InputKind, Price};
use longhand_session::tiktoken::O200k;
use longhand_session::{Api, Model, ModelRef};
use tokio::time::Instant;

use self::names::Match;
use crate::discovery::{self, Found, Target};
use crate::endpoint::Endpoint;
use crate::http::Http;
use crate::openai_chat::OpenAiChat;
use crate::well_known::{self, WellKnown};

/// How long a provider's list is good for.
const LIST_AGE: Duration = Duration::from_hours(2);

/// The same for a server of one's own, which may load another model at any time and is cheap to ask.
const OWN_LIST_AGE: Duration = Duration::from_mins(1);

/// How long a provider that did not answer is left alone.
const FAILURE_AGE: Duration = Duration::from_secs(10);

/// Whether a provider is asked for its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Discovery {
    /// It is asked.
    #[default]
    On,
    /// Only what is listed and known by name is there.
    Off,
}

/// A provider, as the user describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderConfig {
    /// Scope of credentials and identity.
    pub id: String,
    /// Endpoint root, with or without `/v1`.
    pub base_url: String,
    /// Wire protocol.
    pub api: Api,
    /// Further request headers.
    pub headers: BTreeMap<String, String>,
    /// Environment variable that would hold the key: named to the user where there is none.
    pub key_variable: String,
    /// Whether it is asked for its models.
    pub discovery: Discovery,
    /// Models that the user lists. What is said here wins over everything else.
    pub models: Vec<ModelConfig>,
}

impl ProviderConfig {
    /// A provider of which only name and endpoint are known; it is asked for its models.
    pub fn new(id: impl Into<String>, base_url: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            key_variable: format!("{}_API_KEY", id.to_ascii_uppercase().replace(['.', '-'], "_")),
            id,
            base_url: base_url.into(),
            api: Api::default(),
            headers: BTreeMap::new(),
            discovery: Discovery::On,
            models: Vec::new(),
        }
    }
}

impl From<&WellKnown> for ProviderConfig {
    fn from(known: &WellKnown) -> Self {
        let mut config = Self::new(known.id.clone(), known.base_url.clone());
        config.api = known.api.clone();
        // OpenAI's own list has no windows, and much that is no chat model.
        if known.id == "openai" {
            config.discovery = Discovery::Off;
        }
        if let Some(variable) = known.key_variables.first() {
            config.key_variable.clone_from(variable);
        }
        config
    }
}

/// A model, as the user describes it. `None` leaves a fact to the provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelConfig {
    /// Id as the endpoint knows it.
    pub id: String,
    /// Name for people.
    pub name: Option<String>,
    /// Tokens of prompt and reply.
    pub context_window: Option<u64>,
    /// Most tokens of one reply.
    pub max_output_tokens: Option<u64>,
    /// Kinds of input.
    pub input: Option<Vec<InputKind>>,
    /// Efforts that the model supports.
    pub efforts: Option<Vec<Effort>>,
    /// Prices.
    pub price: Option<Price>,
}

/// All models that can be used.
pub struct Catalogue {
    providers: Vec<ProviderConfig>,
    clients: Vec<Arc<dyn ModelClient>>,
    roles: HashMap<Role, String>,
    credentials: Arc<dyn Credentials>,
    http: Http,
    asked: Mutex<HashMap<String, Asked>>,
    made: Mutex<HashMap<ModelRef, OpenAiChat>>,
}

/// What a provider said, and when.
#[derive(Clone)]
struct Asked {
    at: Instant,
    answer: Result<Arc<[Found]>, ModelError>,
}

impl Catalogue {
    /// A catalogue of these providers. Nobody is asked yet.
    pub fn new(providers: Vec<ProviderConfig>, credentials: Arc<dyn Credentials>) -> Self {
        Self {
            providers,
            clients: Vec::new(),
            roles: HashMap::new(),
            credentials,
            http: Http::new(),
            asked: Mutex::default(),
            made: Mutex::default(),
        }
    }

    /// Adds a model that brings its own client.
    #[must_use]
    pub fn with_client(mut self, client: Arc<dyn ModelClient>) -> Self {
        self.clients.push(client);
        self
    }

    /// Says which model a role has, by any name that [`Models::resolve`] takes.
    #[must_use]
    pub fn with_role(mut self, role: Role, name: impl Into<String>) -> Self {
        self.roles.insert(role, name.into());
        self
    }

    /// All models that are known without asking anyone now.
    fn known(&self) -> Vec<Arc<Model>> {
        let own = self.clients.iter().map(|client| Arc::clone(client.model()));
        own.chain(self.providers.iter().flat_map(|provider| self.models_of(provider)).map(Arc::new))
            .collect()
    }

    fn models_of(&self, provider: &ProviderConfig) -> Vec<Model> {
        let asked =
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(&provider.id).cloned();
        let found = asked.and_then(|asked| asked.answer.ok()).unwrap_or_default();
        let known = well_known::models_of(&provider.id);
        let mut ids: Vec<&str> = provider.models.iter().map(|model| model.id.as_str()).collect();
        ids.extend(found.iter().map(|model| model.id.as_str()));
        // A provider's own list says what of the well-known models it serves.
        if found.is_empty() {
            ids.extend(known.iter().map(|model| model.id.as_str()));
        }
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(*id));
        ids.into_iter().map(|id| merged(provider, id, &found)).collect()
    }

    /// Asks a provider for its models, unless it was asked lately.
    async fn ask(&self, provider: &ProviderConfig) -> Result<(), ModelError> {
        if provider.discovery == Discovery::Off || provider.api != Api::OpenaiCompletions {
            return Ok(());
        }
        let endpoint = endpoint(provider)?;
        let asked =
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(&provider.id).cloned();
        if let Some(asked) = asked {
            let age = match &asked.answer {
                Ok(_) if endpoint.is_local() => OWN_LIST_AGE,
                Ok(_) => LIST_AGE,
                Err(_) => FAILURE_AGE,
            };
            if asked.at.elapsed() < age {
                return asked.answer.map(drop);
            }
        }
        let key = self.credentials.key(&ModelRef::new(provider.id.clone(), String::new())).await;
        let target = Target {
            provider: &provider.id,
            endpoint: &endpoint,
            headers: &provider.headers,
            key: key.as_deref().filter(|key| *key != "N/A"),
            http: &self.http,
        };
        let answer = discovery::discover(&target).await.map(Arc::from);
        let outcome = answer.as_ref().map(drop).map_err(Clone::clone);
        if let Err(error) = &answer {
            tracing::debug!(provider = %provider.id, error = %error.text, "the provider does not tell its models");
        }
        let asked = Asked { at: Instant::now(), answer };
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(provider.id.clone(), asked);
        outcome
    }

    /// Asks those of the providers that may have a model of that name, and gives the first failure.
    async fn ask_about(&self, name: &str) -> Option<(String, ModelError)> {
        let named = name
            .split_once('/')
            .and_then(|(id, _)| self.providers.iter().find(|provider| provider.id == id));
        let asked: Vec<&ProviderConfig> =
            named.map_or_else(|| self.providers.iter().collect(), |one| vec![one]);
        let answers = future::join_all(asked.iter().map(|provider| self.ask(provider))).await;
        let failure = asked.iter().zip(answers).find_map(|(provider, answer)| {
            answer.err().map(|error| (provider.base_url.clone(), error))
        });
        failure.filter(|_| named.is_some() || self.providers.len() == 1)
    }

    /// The client of a model that is in the catalogue.
    async fn client(&self, model: Arc<Model>) -> Result<Arc<dyn ModelClient>, ModelsError> {
        if let Some(client) = self.at_hand(&model) {
            return Ok(client);
        }
        let reference = model.reference();
        if model.api != Api::OpenaiCompletions {
            return Err(ModelsError::Unserved {
                model: reference.to_string(),
                api: model.api.as_str(),
            });
        }
        let needs_key =
            !model.is_local && !well_known::OWN_SERVERS.contains(&model.provider.as_str());
        if needs_key && self.credentials.key(&reference).await.is_none() {
            let provider = self.providers.iter().find(|provider| provider.id == reference.provider);
            return Err(ModelsError::NoKey {
                model: reference.to_string(),
                variable: provider
                    .map(|provider| provider.key_variable.clone())
                    .unwrap_or_default(),
            });
        }
        let client = self.new_client(&model);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(reference, client.clone());
        Ok(Arc::new(client))
    }

    /// The client that a model brings, or that was made for it before.
    fn at_hand(&self, model: &Arc<Model>) -> Option<Arc<dyn ModelClient>> {
        let reference = model.reference();
        let own = self.clients.iter().find(|client| client.model().reference() == reference);
        if let Some(own) = own {
            return Some(Arc::clone(own));
        }
        let made =
            self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&reference).cloned();
        Some(Arc::new(made.filter(|client| client.model() == model)?))
    }

    fn new_client(&self, model: &Arc<Model>) -> OpenAiChat {
        let client =
            OpenAiChat::new(Arc::clone(model), Arc::clone(&self.credentials), self.http.clone());
        if model.provider == "openai" || model.id.starts_with("openai/") {
            return client.with_counter(Arc::new(O200k));
        }
        client
    }
}

#[async_trait]
impl Models for Catalogue {
    async fn resolve(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelsError> {
        if self.providers.is_empty() && self.clients.is_empty() {
            return Err(ModelsError::None);
        }
        // A known model needs no answer, unless its window is not known or may change with the next start of a server.
        let about = match names::exact(name, &self.known()) {
            Match::One(model) if self.clients.iter().any(|own| own.model() == &model) => None,
            Match::One(model) => (model.is_local || model.context_window.is_none())
                .then(|| model.reference().to_string()),
            Match::Many(_) | Match::None => Some(name.to_owned()),
        };
        let failure = match about {
            Some(name) => self.ask_about(&name).await,
            None => None,
        };
        let known = self.known();
        match names::find(name, &known) {
            Match::One(model) => self.client(model).await,
            Match::Many(models) => Err(ModelsError::Ambiguous {
                name: name.to_owned(),
                candidates: models.iter().map(|model| model.reference().to_string()).collect(),
            }),
            Match::None => Err(match failure {
                Some((endpoint, error)) => ModelsError::Unreachable { endpoint, error },
                None => ModelsError::Unknown {
                    name: name.to_owned(),
                    closest: names::closest(name, &known),
                },
            }),
        }
    }

    async fn nearby(&self, name: &str) -> Option<Arc<dyn ModelClient>> {
        let is_named = |provider: &&ProviderConfig| {
            name.split_once('/').is_some_and(|(id, _)| id == provider.id)
        };
        let provider = self.providers.iter().find(is_named);
        if let Some(own) = provider.filter(|own| endpoint(own).is_ok_and(|at| at.is_local())) {
            // A server that is not running takes nothing away from what is known without it.
            let _ = self.ask(own).await;
        }
        let Match::One(model) = names::exact(name, &self.known()) else { return None };
        if let Some(client) = self.at_hand(&model) {
            return Some(client);
        }
        (model.api == Api::OpenaiCompletions)
            .then(|| Arc::new(self.new_client(&model)) as Arc<dyn ModelClient>)
    }

    async fn for_role(&self, role: Role) -> Result<Option<Arc<dyn ModelClient>>, ModelsError> {
        match self.roles.get(&role) {
            Some(name) => self.resolve(name).await.map(Some),
            None => Ok(None),
        }
    }

    /// Asks all providers that may be asked, side by side.
    async fn list(&self) -> Vec<Arc<Model>> {
        // Who does not answer is listed with what is known without it.
        let _ = future::join_all(self.providers.iter().map(|provider| self.ask(provider))).await;
        self.known()
    }
}

fn endpoint(provider: &ProviderConfig) -> Result<Endpoint, ModelError> {
    Endpoint::parse(&provider.base_url)
        .map_err(|error| ModelError::unclassified(format!("provider `{}`: {error}", provider.id)))
}

/// A model, from what is known by name, what the provider says, and what the user says, each winning over the one before.
fn merged(provider: &ProviderConfig, id: &str, found: &[Found]) -> Model {
    let mut model = Model::new(
        ModelRef::new(provider.id.clone(), id),
        provider.api.clone(),
        provider.base_url.trim_end_matches('/'),
    );
    model.headers.clone_from(&provider.headers);
    model.is_local = Endpoint::parse(&provider.base_url).is_ok_and(|endpoint| endpoint.is_local());
    if let Some(known) = well_known::models_of(&provider.id).iter().find(|known| known.id == id) {
        model.name.clone_from(&known.name);
        model.context_window = Some(known.context_window);
        model.max_output_tokens = Some(known.max_output_tokens);
        model.input.clone_from(&known.input);
        model.efforts.clone_from(&known.efforts);
        model.price = Some(known.price);
    }
    if let Some(found) = found.iter().find(|found| found.id == id) {
        let said = ModelConfig {
            id: String::new(),
            name: found.name.clone(),
            context_window: found.context_window,
            max_output_tokens: found.max_output_tokens,
            input: found.input.clone(),
            efforts: found.efforts.clone(),
            price: found.price,
        };
        overlay(&mut model, &said);
    }
    if let Some(listed) = provider.models.iter().find(|listed| listed.id == id) {
        overlay(&mut model, listed);
    }
    model.max_output_tokens = match (model.max_output_tokens, model.context_window) {
        (Some(max), Some(window)) => Some(max.min(window)),
        (max, _) => max,
    };
    model
}

fn overlay(model: &mut Model, said: &ModelConfig) {
    fn set<T: Clone>(to: &mut T, from: Option<&T>) {
        if let Some(from) = from {
            to.clone_from(from);
        }
    }
    set(&mut model.name, said.name.as_ref());
    set(&mut model.input, said.input.as_ref());
    set(&mut model.efforts, said.efforts.as_ref());
    model.context_window = said.context_window.or(model.context_window);
    model.max_output_tokens = said.max_output_tokens.or(model.max_output_tokens);
    model.price = said.price.or(model.price);
}
