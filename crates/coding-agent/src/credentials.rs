//! Keys of providers: from an environment variable, a command or a file, asked for when they are needed and never kept.
//!
//! No key is in an error, a log or a debug print. A literal key in settings is not possible: see [`crate::settings`].

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use longhand_session::ModelRef;

use crate::environment::Environment;
use crate::places;
use crate::settings::ProviderSettings;

/// How long a command may take to print a key. Password managers wait for a person to unlock them.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);

/// Where the keys of each provider come from.
#[derive(Debug, Clone)]
pub struct Credentials {
    environment: Environment,
    sources: BTreeMap<String, Vec<KeySource>>,
}

/// One place where a key may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable, by name.
    Variable(String),
    /// A command and its arguments; it prints the key.
    Command(Vec<String>),
    /// A file that only its owner may read.
    File(PathBuf),
}

/// Why a place gave no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read key file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Others may read the file.
    #[error("key file `{}` has mode {mode:04o}: others may read it; run `chmod 600` on it", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The command could not be started or ended with a failure.
    #[error("key command `{program}` gave no key: {reason}")]
    Command {
        /// The program, without its arguments.
        program: String,
        /// Why not.
        reason: String,
    },
}

impl Credentials {
    /// Takes what settings say of each provider, and after it the usual variables of each (`provider`, names).
    pub fn new(
        environment: Environment,
        providers: &BTreeMap<String, ProviderSettings>,
        usual_variables: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let mut sources: BTreeMap<String, Vec<KeySource>> = BTreeMap::new();
        for (provider, settings) in providers {
            sources.insert(provider.clone(), configured(&environment, settings));
        }
        for (provider, variables) in usual_variables {
            let variables = variables.into_iter().map(KeySource::Variable);
            sources.entry(provider).or_default().extend(variables);
        }
        Self { environment, sources }
    }

    /// Where the keys of a provider are looked for, in order.
    pub fn sources(&self, provider: &str) -> &[KeySource] {
        self.sources.get(provider).map_or(&[], Vec::as_slice)
    }

    /// Whether a key may be there, without running or reading anything.
    pub fn may_have(&self, provider: &str) -> bool {
        self.sources(provider).iter().any(|source| match source {
            KeySource::Variable(name) => self.environment.var(name).is_some(),
            KeySource::Command(_) | KeySource::File(_) => true,
        })
    }

    /// Every variable that may hold a key, so that commands of a model run without them.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.sources.values().flatten().filter_map(|source| match source {
            KeySource::Variable(name) => Some(name.as_str()),
            KeySource::Command(_) | KeySource::File(_) => None,
        })
    }

    /// The key of a provider from the first place that has one; `None` where no place is known or set.
    ///
    /// # Errors
    /// A place that was configured cannot be used. Later places are not tried then: a key of another account would be worse.
    pub async fn find(&self, provider: &str) -> Result<Option<String>, KeyError> {
        for source in self.sources(provider) {
            let key = match source {
                KeySource::Variable(name) => self.environment.var(name).map(str::to_owned),
                KeySource::Command(words) => self.printed(words).await?,
                KeySource::File(path) => read_private(path)?,
            };
            if key.is_some() {
                return Ok(key);
            }
        }
        Ok(None)
    }

    async fn printed(&self, words: &[String]) -> Result<Option<String>, KeyError> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let failed = |reason: String| KeyError::Command { program: program.clone(), reason };
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).env_clear().envs(self.environment.iter());
        command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(COMMAND_TIMEOUT, command.output())
            .await
            .map_err(|_| {
                failed(format!("nothing came within {} seconds", COMMAND_TIMEOUT.as_secs()))
            })?
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(output.status.to_string()));
        }
        Ok(first_line(&String::from_utf8_lossy(&output.stdout)))
    }
}

#[async_trait]
impl longhand_agent::Credentials for Credentials {
    async fn key(&self, model: &ModelRef) -> Option<String> {
        self.find(&model.provider).await.unwrap_or_else(|error| {
            tracing::warn!(provider = model.provider, "{error}");
            None
        })
    }
}

fn configured(environment: &Environment, settings: &ProviderSettings) -> Vec<KeySource> {
    let variable = settings.api_key_env.clone().map(KeySource::Variable);
    let command = settings.api_key_command.clone().map(KeySource::Command);
    let file = settings.api_key_file.as_deref().map(|path| {
        let home = places::home(environment).zip(path.strip_prefix("~").ok());
        KeySource::File(home.map_or_else(|| path.to_owned(), |(home, rest)| home.join(rest)))
    });
    [variable, command, file].into_iter().flatten().collect()
}

/// Reads a key from a file, if no one else can.
fn read_private(path: &Path) -> Result<Option<String>, KeyError> {
    let unreadable = |source| KeyError::Unreadable { path: path.to_owned(), source };
    #[cfg(unix)]
    {
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed { path: path.to_owned(), mode });
        }
    }
    Ok(first_line(&std::fs::read_to_string(path).map_err(unreadable)?))
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
