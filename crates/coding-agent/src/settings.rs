//! Settings: what can be set, where it was set, and the values in force.
//!
//! Values come in layers, a higher one wins key by key: defaults, the user's `models.toml` and `config.toml`, the project's
//! `config.toml`, files named on the command line, environment variables `LONGHAND_SET_…`, assignments on the command line.
//! Nothing here fails: what is wrong is left out and told as a [`Problem`]. No file is written or watched.

mod keys;
mod kind;
mod layers;
mod problem;
mod resolved;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use keys::{KEYS, Key, Trust};
pub use kind::Kind;
pub use problem::{Origin, Problem};
pub use resolved::{Explanation, Resolved};
pub use values::{
    CompactionSettings, DisplaySettings, ExitSettings, ModelPrice, ModelSettings, ProviderSettings,
    ReadSettings, RetrySettings, SessionSettings, Settings, StoreKind, ThemeSettings, ToolSettings,
};

use crate::environment::Environment;
use crate::places::{self, Places};

/// Where settings are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The user's folders.
    pub places: &'a Places,
    /// The working directory, which decides about the project file.
    pub directory: &'a Path,
    /// Gives variables `LONGHAND_SET_…`.
    pub environment: &'a Environment,
    /// Further files, a later one wins.
    pub overlays: &'a [PathBuf],
    /// `key=value`, a later one wins.
    pub assignments: &'a [String],
}

/// Settings as they were found.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values in force.
    pub settings: Arc<Settings>,
    /// Where each of them was set.
    pub resolved: Resolved,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
}

/// Reads all layers. Missing files of the user and the project are no problem.
pub fn load(sources: &Sources<'_>) -> Loaded {
    let mut reading = layers::Reading::default();
    reading.models_file(&sources.places.models_file());
    reading.file(&Origin::User(sources.places.config_file()), layers::Presence::Optional);
    if let Some(file) = places::project_config_file(sources.directory, sources.places) {
        reading.file(&Origin::Project(file), layers::Presence::Optional);
    }
    for file in sources.overlays {
        reading.file(&Origin::Overlay(file.clone()), layers::Presence::Required);
    }
    for (variable, text) in sources.environment.with_prefix(layers::VARIABLE_PREFIX) {
        reading.variable(variable, text);
    }
    for assignment in sources.assignments {
        reading.assignment(assignment);
    }
    let layers::Reading { resolved, problems } = reading;
    Loaded { settings: Arc::new(resolved.settings()), resolved, problems }
}
