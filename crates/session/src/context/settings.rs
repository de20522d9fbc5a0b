//! Settings in force at a leaf: the last word on each, over the whole path. Compactions and resets change nothing here.

use serde_json::{Map, Value};

use super::SessionContext;
use super::source::Source;
use crate::entry::{EntryKind, ModelChangeEntry};
use crate::json::Json;
use crate::message::AssistantMessage;
use crate::store::{EntryTag, StoreError};

/// The role of the conversation's model.
const DEFAULT_ROLE: &str = "default";

const FAMILIES: [&str; 3] = ["openai", "anthropic", "google"];
const TIERS: [&str; 5] = ["auto", "default", "flex", "scale", "priority"];

/// What the settings entries of a path say.
pub(super) struct Settings {
    context: SessionContext,
    default_model: DefaultModel,
    /// Places of entries that explain a missed cache: changes of model, and entering or leaving plan mode.
    pub(super) cache_breaks: Vec<usize>,
}

/// How the model of the conversation is known.
enum DefaultModel {
    /// By the newest reply after this place, which may have named one itself.
    Inferred { from: usize },
    /// The user chose it; replies of other models are fallbacks.
    Chosen,
}

impl Settings {
    /// Reads the entries that change settings, and no other.
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self, StoreError> {
        let path = source.path;
        let places: Vec<usize> =
            (0..path.len()).filter(|at| path[*at].tag == EntryTag::Setting).collect();
        source.load(places.iter().copied())?;
        let mut settings = Self {
            context: SessionContext::default(),
            default_model: DefaultModel::Inferred { from: 0 },
            cache_breaks: Vec::new(),
        };
        for at in places {
            if let Some(entry) = source.entry(at) {
                settings.apply(at, &entry.kind);
            }
        }
        Ok(settings)
    }

    fn apply(&mut self, at: usize, kind: &EntryKind) {
        let context = &mut self.context;
        match kind {
            EntryKind::ModelChange(change) => {
                self.cache_breaks.push(at);
                self.change_model(at, change);
            }
            EntryKind::ThinkingLevelChange(change) => {
                let level = change.thinking_level.clone();
                context.configured_thinking_level =
                    change.configured.clone().or_else(|| level.clone());
                context.thinking_level = level.unwrap_or_else(|| "off".into());
            }
            EntryKind::ServiceTierChange(change) => {
                context.service_tier = service_tier(change.service_tier.value());
            }
            EntryKind::ModeChange(change) => {
                if (context.mode == "plan") != (change.mode == "plan") {
                    self.cache_breaks.push(at);
                }
                context.mode.clone_from(&change.mode);
                context.mode_data.clone_from(&change.data);
            }
            EntryKind::Other(other) if other.type_name == "ttsr_injection" => {
                let rules = other.members.extra.get("injectedRules").map(Json::value);
                let rules = rules.and_then(Value::as_array).into_iter().flatten();
                for rule in rules.filter_map(Value::as_str) {
                    if !context.injected_ttsr_rules.iter().any(|known| known == rule) {
                        context.injected_ttsr_rules.push(rule.to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    fn change_model(&mut self, at: usize, change: &ModelChangeEntry) {
        let role = change.role.as_deref().unwrap_or(DEFAULT_ROLE);
        self.context.changed_role = Some(role.to_owned());
        let models = &mut self.context.models;
        if !change.model.is_empty() {
            models.insert(role.to_owned(), change.model.clone());
            if role == DEFAULT_ROLE {
                self.default_model = DefaultModel::Chosen;
            }
        } else if let (Some(model), DefaultModel::Inferred { from }) =
            (ancestor_model(change), &mut self.default_model)
        {
            models.insert(DEFAULT_ROLE.to_owned(), model);
            *from = at;
        }
    }

    /// Completes the settings of a context; may read the newest reply.
    pub(super) fn put_into(
        self,
        context: &mut SessionContext,
        source: &mut Source<'_>,
    ) -> Result<(), StoreError> {
        let messages = std::mem::take(&mut context.messages);
        let flags = context.cache_miss_explained_at.take();
        *context = SessionContext { messages, cache_miss_explained_at: flags, ..self.context };
        let DefaultModel::Inferred { from } = self.default_model else { return Ok(()) };
        let reply = source.path[from..].iter().rposition(|row| row.tag == EntryTag::Assistant);
        let Some(reply) = reply else { return Ok(()) };
        let entry = source.read(from + reply)?;
        let message = entry.as_deref().and_then(|entry| entry.message()?.as_assistant());
        if let Some(message) = message {
            context.models.insert(DEFAULT_ROLE.to_owned(), model_of(message));
        }
        Ok(())
    }
}

/// The model of a reply, as `provider/id`.
pub(super) fn model_of(message: &AssistantMessage) -> String {
    format!("{}/{}", message.provider, message.model)
}

/// The older form of a change has provider and id apart, and does not say that the user chose it.
fn ancestor_model(change: &ModelChangeEntry) -> Option<String> {
    let text = |key| change.extra.get(key).map(Json::value).and_then(Value::as_str);
    Some(format!("{}/{}", text("provider")?, text("modelId")?))
}

/// The tier by provider family, out of the forms that it had over time.
fn service_tier(stored: &Value) -> Option<Json> {
    let tiers: Map<String, Value> = match stored {
        Value::Object(families) => families
            .iter()
            .filter(|(family, tier)| {
                FAMILIES.contains(&family.as_str())
                    && tier.as_str().is_some_and(|tier| TIERS.contains(&tier))
            })
            .map(|(family, tier)| (family.clone(), tier.clone()))
            .collect(),
        Value::String(name) => {
            let (families, tier): (&[&str], &str) = match name.as_str() {
                "priority" => (&FAMILIES, "priority"),
                "openai-only" => (&["openai"], "priority"),
                "claude-only" => (&["anthropic"], "priority"),
                tier if TIERS.contains(&tier) => (&["openai"], tier),
                _ => (&[], ""),
            };
            families.iter().map(|family| ((*family).to_owned(), tier.into())).collect()
        }
        _ => Map::new(),
    };
    (!tiers.is_empty()).then(|| Value::Object(tiers).into())
}
