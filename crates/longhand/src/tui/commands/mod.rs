//! Slash commands. The table is the one source for completion, help and running: a new command is a file and a line here.

mod clear;
pub(crate) mod compact;
mod fork;
mod frames;
mod help;
mod new;
mod quit;
mod rename;
mod resume;
mod session;

use super::app::{App, Effect};
use super::moment::Moment;

/// A slash command.
pub(crate) struct Command {
    /// Name, without the slash.
    pub(crate) name: &'static str,
    /// Other names.
    pub(crate) aliases: &'static [&'static str],
    /// What may follow, as in the help.
    pub(crate) arguments: &'static str,
    /// What it does, in a few words.
    pub(crate) about: &'static str,
    /// Does it. `arguments` is what followed the name, trimmed.
    pub(crate) run: fn(app: &mut App, arguments: &str, now: Moment) -> Vec<Effect>,
}

/// All commands, in the order of the help.
pub(crate) const TABLE: &[Command] = &[
    compact::COMMAND,
    clear::COMMAND,
    new::COMMAND,
    resume::COMMAND,
    fork::COMMAND,
    frames::COMMAND,
    rename::COMMAND,
    session::COMMAND,
    help::COMMAND,
    quit::COMMAND,
];

impl Command {
    /// Whether the command has that name or alias.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// What a text that begins with `/` asks for.
pub(crate) enum Parsed {
    /// A command, and what follows its name.
    Known(&'static Command, String),
    /// A name that no command has.
    Unknown(String),
}

/// Reads a text as a command; `None` where it is none.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let rest = text.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(match TABLE.iter().find(|command| command.is_called(name)) {
        Some(command) => Parsed::Known(command, arguments.trim().to_owned()),
        None => Parsed::Unknown(name.to_owned()),
    })
}
