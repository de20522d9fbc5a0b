//! What the user has allowed for the rest of a session.
//!
//! For commands a rule is the words that a simple command begins with. A line is allowed only if each of its commands is, and if all
//! of the line is understood: what `$(…)` runs counts as much as what `;` does. A command that writes to a file by `>`, that sets a
//! variable for itself, or whose first words the shell expands is never covered.

use crate::approval::shell_line::{self, SimpleCommand};

/// Programs that do something else with each argument, so that words at the end change what was allowed: these are allowed word for
/// word.
const WORD_FOR_WORD: &[&str] = &[
    ".", "awk", "bash", "busybox", "chgrp", "chmod", "chown", "command", "cp", "dash", "dd",
    "doas", "docker", "env", "eval", "exec", "find", "fish", "kill", "killall", "ln", "mv", "nice",
    "node", "nohup", "perl", "pkill", "podman", "python", "python3", "rm", "rmdir", "rsync",
    "ruby", "scp", "sed", "sh", "source", "ssh", "sudo", "tee", "time", "timeout", "xargs", "zsh",
];

/// The rules of a session.
#[derive(Debug, Default)]
pub(super) struct SessionRules {
    prefixes: Vec<Vec<String>>,
    tools: Vec<String>,
}

impl SessionRules {
    /// Whether each command of the line is covered.
    pub(super) fn allow_line(&self, line: &str) -> bool {
        let Some(commands) = rememberable(line) else { return false };
        commands.iter().all(|words| self.prefixes.iter().any(|prefix| covers(prefix, words)))
    }

    /// Allows each command of the line from now on.
    pub(super) fn remember_line(&mut self, line: &str) {
        for words in rememberable(line).into_iter().flatten() {
            if !self.prefixes.contains(&words) {
                self.prefixes.push(words);
            }
        }
    }

    /// Whether all calls of the tool inside the workspace are allowed.
    pub(super) fn allow_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name)
    }

    /// Allows all calls of the tool inside the workspace from now on.
    pub(super) fn remember_tool(&mut self, name: &str) {
        if !self.allow_tool(name) {
            self.tools.push(name.to_owned());
        }
    }
}

/// What remembering the line would cover, for the user; `None` where it cannot be remembered.
pub(super) fn coverage(line: &str) -> Option<String> {
    let mut commands: Vec<_> =
        rememberable(line)?.iter().map(|words| format!("`{}`", words.join(" "))).collect();
    commands.dedup();
    Some(commands.join(", "))
}

/// The words of each command of a line that rules can speak of.
fn rememberable(line: &str) -> Option<Vec<Vec<String>>> {
    let line = shell_line::parse(line);
    if !line.is_certain || line.commands.is_empty() {
        return None;
    }
    line.commands.iter().map(plain_words).collect()
}

fn plain_words(command: &SimpleCommand) -> Option<Vec<String>> {
    let is_silent = |path: &str| path == "/dev/null";
    if command.has_assignments
        || command.words.is_empty()
        || !command.input.is_empty()
        || command.words.iter().any(|word| word.is_expanded)
        || command.writes_to.iter().any(|target| target.is_expanded || !is_silent(&target.text))
    {
        return None;
    }
    Some(command.words.iter().map(|word| word.text.clone()).collect())
}

fn covers(prefix: &[String], words: &[String]) -> bool {
    let program = prefix[0].rsplit('/').next().unwrap_or_default();
    if WORD_FOR_WORD.contains(&program) { prefix == words } else { words.starts_with(prefix) }
}
