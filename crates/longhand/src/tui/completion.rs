//! The menu of slash commands while one is typed.
//!
//! Computed anew from the text that is there, so a menu can never act on an older one.

use super::commands::{Command, TABLE};
use super::look::Look;
use super::theme::Role;
use super::width;
use super::wrap::{self, Row};

/// Rows of commands that are shown at once.
const MAX_ROWS: usize = 10;

/// How well a command fits what was typed; the first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Name,
    Alias,
    Prefix,
    WordPrefix,
    Fuzzy,
}

/// Commands that fit a text.
pub(crate) struct Menu {
    commands: Vec<&'static Command>,
    /// Whether the text is a whole name or alias, which Enter runs whatever is chosen.
    pub(crate) is_exact: bool,
}

impl Menu {
    /// The menu for a text; `None` where it does not begin a command, or none fits.
    pub(crate) fn for_text(text: &str) -> Option<Self> {
        let typed = text.strip_prefix('/')?.to_lowercase();
        if typed.contains(char::is_whitespace) || typed.contains('/') {
            return None;
        }
        let fits = TABLE.iter().filter_map(|command| Some((rank(command, &typed)?, command)));
        let mut fits: Vec<(Rank, &Command)> = fits.collect();
        // A stable sort: equals stay in the order of the table.
        fits.sort_by_key(|(rank, _)| *rank);
        let is_exact = fits.first().is_some_and(|(rank, _)| *rank <= Rank::Alias);
        let commands: Vec<_> = fits.into_iter().map(|(_, command)| command).collect();
        (!commands.is_empty()).then_some(Self { commands, is_exact })
    }

    /// How many commands fit.
    pub(crate) fn len(&self) -> usize {
        self.commands.len()
    }

    /// The command at a place of the menu; the last where the place is beyond it.
    pub(crate) fn command(&self, chosen: usize) -> &'static Command {
        self.commands[chosen.min(self.commands.len() - 1)]
    }

    /// The menu and the line that says which keys it takes.
    pub(crate) fn rows(&self, chosen: usize, max_rows: usize, look: &Look<'_>) -> Vec<Row> {
        let chosen = chosen.min(self.commands.len() - 1);
        let shown = MAX_ROWS.min(max_rows.saturating_sub(1)).max(1);
        let first = (chosen + 1).saturating_sub(shown);
        let names = self.commands.iter().map(|command| width::of(command.name)).max().unwrap_or(0);
        let visible = self.commands.iter().enumerate().skip(first).take(shown);
        let mut rows: Vec<Row> = visible
            .map(|(i, command)| {
                let (mark, role) = if i == chosen {
                    (look.theme.symbols.chosen, Role::Accent)
                } else {
                    (" ", Role::Text)
                };
                let mut row = vec![look.piece(format!(" {mark} {:names$}  ", command.name), role)];
                if !command.arguments.is_empty() {
                    row.push(look.piece(format!("{}   ", command.arguments), Role::Muted));
                }
                row.push(look.piece(command.about, Role::Dim));
                wrap::fit(row, look.columns)
            })
            .collect();
        let dot = look.theme.symbols.dot;
        let keys =
            format!(" tab complete {dot} enter run /{} {dot} esc close", self.command(chosen).name);
        let count = format!("{}/{} ", self.commands.len(), TABLE.len());
        rows.push(wrap::justify(
            vec![look.piece(keys, Role::Dim)],
            vec![look.piece(count, Role::Dim)],
            look.columns,
        ));
        rows
    }
}

fn rank(command: &Command, typed: &str) -> Option<Rank> {
    let names = || std::iter::once(&command.name).chain(command.aliases);
    let in_order = |name: &str| {
        let mut letters = name.chars();
        typed.chars().all(|c| letters.any(|letter| letter == c))
    };
    if command.name == typed {
        Some(Rank::Name)
    } else if command.aliases.contains(&typed) {
        Some(Rank::Alias)
    } else if names().any(|name| name.starts_with(typed)) {
        Some(Rank::Prefix)
    } else if names().any(|name| name.split('-').any(|word| word.starts_with(typed))) {
        Some(Rank::WordPrefix)
    } else if in_order(command.name) {
        Some(Rank::Fuzzy)
    } else {
        None
    }
}
