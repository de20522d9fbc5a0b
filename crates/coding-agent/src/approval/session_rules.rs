//! What the user has allowed for the rest of a session.
//!
//! For commands a rule is the words that a simple command begins with. A line is allowed only if each of its commands is, and if all
//! of the line is understood: what `$(…)` runs counts as much as what `;` does. A command that writes to a file by `>` or reads one by
//! `<`, that sets a variable for itself, or with a word that the shell expands is never covered; nor is one that runs what a pipe
//! brings it.

use crate::approval::danger::{INTERPRETERS, SHELLS};
use crate::approval::shell_line::{self, SimpleCommand, Word};

/// Programs that do something else with each argument, so that words at the end change what was allowed: these are allowed word for
/// word.
const WORD_FOR_WORD: &[&str] = &[
    ".", "awk", "bash", "busybox", "chgrp", "chmod", "chown", "command", "cp", "curl", "dash",
    "dd", "doas", "docker", "env", "eval", "exec", "find", "fish", "kill", "killall", "ln", "mv",
    "nice", "node", "nohup", "perl", "pkill", "podman", "python", "python3", "rm", "rmdir",
    "rsync", "ruby", "scp", "sed", "sh", "source", "ssh", "sudo", "tar", "tee", "time", "timeout",
    "wget", "xargs", "zsh",
];

/// Programs besides shells and interpreters that run what they read.
const RUN_THEIR_INPUT: &[&str] = &["xargs", "parallel", "ssh", "source", "."];

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
    let is_plain = |file: &Word| !file.is_expanded && file.text == "/dev/null";
    if command.has_assignments
        || command.words.is_empty()
        || !command.input.is_empty()
        || command.words.iter().any(|word| word.is_expanded)
        || !command.writes_to.iter().chain(&command.reads_from).all(is_plain)
        || (command.piped_from.is_some() && runs_its_input(&command.words[0].text))
    {
        return None;
    }
    Some(command.words.iter().map(|word| word.text.clone()).collect())
}

fn runs_its_input(program: &str) -> bool {
    [SHELLS, INTERPRETERS, RUN_THEIR_INPUT].iter().any(|names| names.contains(&name(program)))
}

/// The name of a program without its folder.
fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn covers(prefix: &[String], words: &[String]) -> bool {
    let program = name(&prefix[0]);
    if WORD_FOR_WORD.contains(&program) { prefix == words } else { words.starts_with(prefix) }
}
