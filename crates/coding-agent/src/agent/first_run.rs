//! What somebody needs to know who starts the program without a model.

use super::CodingAgent;
use crate::catalogue;
use crate::sessions::Scope;

/// What there is to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRun {
    /// Variables of well-known providers that would make models available, in the order to show them.
    pub variables: Vec<KeyVariable>,
    /// Sessions of this directory.
    pub sessions_here: usize,
}

/// An environment variable that may hold a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyVariable {
    /// Its name.
    pub name: String,
    /// Whether it is set. The value is nobody's business here.
    pub is_set: bool,
}

impl CodingAgent {
    /// What there is to begin with. Looks at the environment and at the folder of sessions; asks nobody.
    pub fn first_run(&self) -> FirstRun {
        let environment = &self.setup.environment;
        let usual = catalogue::usual_variables().flat_map(|(_, names)| names);
        let variables = usual
            .map(|name| KeyVariable { is_set: environment.var(&name).is_some(), name })
            .collect();
        let sessions =
            self.sessions.list(Scope::Directory(&self.setup.directory)).unwrap_or_default();
        let sessions_here = sessions.iter().filter(|session| !session.is_empty()).count();
        FirstRun { variables, sessions_here }
    }

    /// The first model of the first well-known provider that the environment has a key for, as `provider/id`.
    pub async fn first_model_with_key(&self) -> Option<String> {
        let environment = &self.setup.environment;
        let models = self.models().list().await;
        catalogue::usual_variables()
            .filter(|(_, names)| names.iter().any(|name| environment.var(name).is_some()))
            .find_map(|(provider, _)| models.iter().find(|model| model.provider == provider))
            .map(|model| model.reference().to_string())
    }
}
