//! A home and a working folder of their own for each test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("work")).expect("a working folder");
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The program in this home, with nothing else of the environment that it could read.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::cargo_bin("longhand").expect("the program is built");
        command
            .args(words)
            .current_dir(self.work())
            .env_clear()
            .env("LONGHAND_HOME", self.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .write_stdin("");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program starts")
    }

    /// Runs a prompt of the demo, and expects it to succeed.
    pub(crate) fn say(&self, words: &[&str]) -> String {
        let output = self.run(&[&["-p", "--model", "demo/offline"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// All session files.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let Ok(folders) = fs::read_dir(self.path().join("home/sessions")) else {
            return Vec::new();
        };
        let folders = folders.filter_map(Result::ok).map(|folder| folder.path());
        let files =
            folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
            .collect()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
