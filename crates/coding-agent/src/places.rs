//! Where things lie on disk: configuration, sessions, logs, and the files of a project.
//!
//! Only paths are computed here; a folder appears when something is first written into it, for its owner alone.

use std::io;
use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// Name of the program's folders.
const FOLDER: &str = "longhand";

/// Name of the folder that a project may keep settings in.
pub(crate) const PROJECT_FOLDER: &str = ".longhand";

/// The user's folders. With `LONGHAND_HOME` all are the same folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Settings, models, prompts, the user's `AGENTS.md`.
    pub config: PathBuf,
    /// Sessions and what belongs to them.
    pub data: PathBuf,
    /// What can be computed again.
    pub cache: PathBuf,
    /// Logs.
    pub state: PathBuf,
}

/// No variable says where the user's folders are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no home folder is known; set `LONGHAND_HOME` or `HOME`")]
pub struct NoHome;

impl Places {
    /// The folders that the environment names: `LONGHAND_HOME`, else the XDG variables, else their defaults below the home
    /// folder. A relative XDG path is ignored, as that standard asks.
    ///
    /// # Errors
    /// Neither `LONGHAND_HOME` nor a home folder is set.
    pub fn find(environment: &Environment) -> Result<Self, NoHome> {
        if let Some(home) = environment.var("LONGHAND_HOME") {
            return Ok(Self::all_in(home));
        }
        let xdg = |variable: &str, default: &str| {
            let set =
                environment.var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let base = set.or_else(|| Some(home(environment)?.join(default)));
            base.map(|base| base.join(FOLDER)).ok_or(NoHome)
        };
        if cfg!(windows) {
            let below =
                |variable: &str| environment.var(variable).map(|dir| Path::new(dir).join(FOLDER));
            let roaming = below("APPDATA").ok_or(NoHome)?;
            let local = below("LOCALAPPDATA").unwrap_or_else(|| roaming.clone());
            return Ok(Self {
                config: roaming.clone(),
                data: roaming,
                cache: local.clone(),
                state: local,
            });
        }
        Ok(Self {
            config: xdg("XDG_CONFIG_HOME", ".config")?,
            data: xdg("XDG_DATA_HOME", ".local/share")?,
            cache: xdg("XDG_CACHE_HOME", ".cache")?,
            state: xdg("XDG_STATE_HOME", ".local/state")?,
        })
    }

    /// Everything in one folder.
    pub fn all_in(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self { config: home.clone(), data: home.clone(), cache: home.clone(), state: home }
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's models and endpoints.
    pub fn models_file(&self) -> PathBuf {
        self.config.join("models.toml")
    }

    /// Prompts that the user replaced, one Markdown file each.
    pub fn prompts(&self) -> PathBuf {
        self.config.join("prompts")
    }

    /// The user's standing instructions.
    pub fn instructions_file(&self) -> PathBuf {
        self.config.join("AGENTS.md")
    }

    /// Sessions, in one folder for each working directory.
    pub fn sessions(&self) -> PathBuf {
        self.data.join("sessions")
    }

    /// Log files.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }
}

/// The user's home folder, where the environment names one.
pub fn home(environment: &Environment) -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    environment.var(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The root of the repository that `directory` lies in: the nearest folder upwards that holds `.git`.
pub fn repository_root(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| ancestor.join(".git").exists())
}

/// The settings file of the project: the nearest one from `directory` up to the root of its repository, outside a repository
/// only that of `directory` itself. The user's own file is never taken for it.
pub fn project_config_file(directory: &Path, places: &Places) -> Option<PathBuf> {
    let top = repository_root(directory).unwrap_or(directory);
    let user_file = places.config_file();
    directory
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(top))
        .map(|ancestor| ancestor.join(PROJECT_FOLDER).join("config.toml"))
        .find(|file| *file != user_file && file.is_file())
}

/// Makes a folder, and those above it that are missing, for the owner alone.
///
/// # Errors
/// What the operating system says.
pub fn create_private_dir(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_the_folders_are() {
        let find = |variables: &[(&str, &str)]| {
            Places::find(&variables.iter().copied().collect()).map(|places| {
                [places.config, places.data, places.cache, places.state]
                    .map(|path| path.display().to_string())
            })
        };
        let one = ["/x", "/x", "/x", "/x"].map(String::from);
        assert_eq!(find(&[("LONGHAND_HOME", "/x"), ("HOME", "/home/a")]), Ok(one));
        let defaults = [
            "/home/a/.config/longhand",
            "/home/a/.local/share/longhand",
            "/home/a/.cache/longhand",
            "/home/a/.local/state/longhand",
        ]
        .map(String::from);
        assert_eq!(find(&[("HOME", "/home/a"), ("XDG_CONFIG_HOME", "relative")]), Ok(defaults));
        let config = find(&[("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/etc/a")]).unwrap();
        assert_eq!(config[0], "/etc/a/longhand");
        assert_eq!(find(&[]), Err(NoHome));
    }

    #[test]
    fn the_project_file_is_the_nearest_inside_the_repository() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("outer/repo");
        let deep = root.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let write = |directory: &Path| {
            let folder = directory.join(".longhand");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config.toml"), "").unwrap();
            folder.join("config.toml")
        };
        let places = Places::all_in(temp.path().join("home"));

        write(&temp.path().join("outer"));
        assert_eq!(project_config_file(&deep, &places), None, "above the repository");
        let at_root = write(&root);
        assert_eq!(project_config_file(&deep, &places), Some(at_root));
        let nearer = write(&root.join("a"));
        assert_eq!(project_config_file(&deep, &places), Some(nearer.clone()));

        let user = Places::all_in(nearer.parent().unwrap());
        assert_eq!(
            project_config_file(&root.join("a"), &user),
            Some(root.join(".longhand/config.toml"))
        );
    }

    #[test]
    fn folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let directory = temp.path().join("a/b");
        create_private_dir(&directory).unwrap();
        create_private_dir(&directory).unwrap();
        for made in [temp.path().join("a"), directory] {
            assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
