//! What is wrong with settings, in words for the user, and where a setting came from.

use std::fmt;
use std::path::PathBuf;

/// Where a setting was made, lowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The user's `models.toml`.
    Models(PathBuf),
    /// The user's `config.toml`.
    User(PathBuf),
    /// The project's `config.toml`.
    Project(PathBuf),
    /// A file named on the command line.
    Overlay(PathBuf),
    /// An environment variable.
    Variable(String),
    /// An assignment on the command line.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Models(path) | Self::User(path) | Self::Project(path) | Self::Overlay(path) => {
                write!(f, "`{}`", path.display())
            }
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::CommandLine => f.write_str("the command line"),
        }
    }
}

/// Something that was left out of the settings, and why. Never carries a value: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No setting has that name.
    #[error("there is no setting `{key}` ({origin}){}", closest.as_ref().map(|key| format!("; the closest is `{key}`")).unwrap_or_default())]
    Unknown {
        /// The name.
        key: String,
        /// Where it was set.
        origin: Origin,
        /// The closest name that exists.
        closest: Option<String>,
    },
    /// The value is of another kind.
    #[error("`{key}` must be {expected}; the value in {origin} is ignored")]
    WrongValue {
        /// The setting.
        key: String,
        /// Where it was set.
        origin: Origin,
        /// What it takes.
        expected: String,
    },
    /// A single value stands where a group of settings belongs.
    #[error("`{key}` is a group of settings; the single value in {origin} is ignored")]
    ShadowsGroup {
        /// The group.
        key: String,
        /// Where it was set.
        origin: Origin,
    },
    /// A project may not decide about this.
    #[error("`{key}` in {origin} is ignored: only the user may set it")]
    NotForProjects {
        /// The setting.
        key: String,
        /// The project's file.
        origin: Origin,
    },
    /// A key stands in a settings file.
    #[error(
        "`{key}` in {origin} is ignored: a key is never read from settings; name its variable with `apiKeyEnv`, or use `apiKeyCommand` or `apiKeyFile`"
    )]
    LiteralKey {
        /// The setting.
        key: String,
        /// Where it was set.
        origin: Origin,
    },
    /// The file of models holds something else.
    #[error("`{key}` in {origin} is ignored: only `providers` belongs there")]
    NotForModels {
        /// The setting.
        key: String,
        /// The file.
        origin: Origin,
    },
    /// An assignment without `=`.
    #[error("`{0}` is not a setting; write `key=value`")]
    NotAnAssignment(String),
    /// A file cannot be read.
    #[error("cannot read settings file `{}`: {reason}; it is ignored", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file is not TOML.
    #[error("settings file `{}` is not valid TOML at line {line}: {reason}; it is ignored", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}

impl Problem {
    /// Whether it comes from the command line, where a mistake can be refused at once.
    pub fn is_of_command_line(&self) -> bool {
        match self {
            Self::NotAnAssignment(_) => true,
            Self::Unknown { origin, .. }
            | Self::WrongValue { origin, .. }
            | Self::ShadowsGroup { origin, .. }
            | Self::NotForProjects { origin, .. }
            | Self::LiteralKey { origin, .. }
            | Self::NotForModels { origin, .. } => *origin == Origin::CommandLine,
            Self::Unreadable { .. } | Self::NotToml { .. } => false,
        }
    }
}
