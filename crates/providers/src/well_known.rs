//! Providers and models that are known without asking: where they are, what holds their key, windows and prices.
//!
//! Data that is compiled in. What a provider itself says, and what the user says, wins over it.

use std::sync::LazyLock;

use longhand_session::Api;
use longhand_session::model::{Effort, InputKind, Price};
use serde::Deserialize;

/// A provider that is known by name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WellKnown {
    /// Scope of credentials and identity.
    pub id: String,
    /// Endpoint root.
    pub base_url: String,
    /// Wire protocol.
    #[serde(default)]
    pub api: Api,
    /// Environment variables that usually hold the key; the first that is set counts.
    pub key_variables: Vec<String>,
    pub(crate) models: Vec<WellKnownModel>,
}

/// A model that is known by name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WellKnownModel {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) context_window: u64,
    pub(crate) max_output_tokens: u64,
    pub(crate) input: Vec<InputKind>,
    pub(crate) efforts: Vec<Effort>,
    pub(crate) price: Price,
}

static WELL_KNOWN: LazyLock<Vec<WellKnown>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/well_known.json"))
        .expect("a test reads the same data")
});

/// All providers that are known by name.
pub fn well_known() -> &'static [WellKnown] {
    &WELL_KNOWN
}

/// Servers that people run for themselves, wherever they run: none of them asks for a key unless told to.
pub(crate) const OWN_SERVERS: [&str; 5] = ["llama.cpp", "ollama", "lm-studio", "vllm", "litellm"];

/// What is known of a model of a provider.
pub(crate) fn models_of(provider: &str) -> &'static [WellKnownModel] {
    well_known().iter().find(|known| known.id == provider).map_or(&[], |known| &known.models)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::well_known;
    use crate::endpoint::Endpoint;

    #[test]
    fn what_is_known_is_sound() {
        let mut names = HashSet::new();
        for provider in well_known() {
            assert!(Endpoint::parse(&provider.base_url).is_ok(), "{}", provider.id);
            assert!(!provider.key_variables.is_empty(), "{}", provider.id);
            assert!(names.insert((&provider.id, "")), "{}", provider.id);
            for model in &provider.models {
                assert!(names.insert((&provider.id, &model.id)), "{}", model.id);
                assert!(model.max_output_tokens <= model.context_window, "{}", model.id);
            }
        }
    }
}
