//! The flags of `longhand sessions`.

use clap::{Args, Subcommand, ValueEnum};

use super::Common;

/// `longhand sessions`.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// What is done with sessions; without one they are listed.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List them, pinned ones first, then the newest
    List(Listing),
    /// Find those that hold some words, in titles and first messages, then in everything that was said
    Search(Search),
    /// Move one to the trash, where it stays for 30 days
    Delete(Named),
    /// Keep one at the top of lists
    Pin(Named),
    /// Take a pin away
    Unpin(Named),
    /// Show what can go, and remove it with `--yes`
    Gc(Gc),
    /// Bring them from files into the database, or back; originals stay
    Convert(Convert),
}

/// Which sessions, and how they are shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Listing {
    /// Also those of other directories
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// One session a line, tab separated, without a heading
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `longhand sessions search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Words; all must be there
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// A session by its name.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Session: file, id or title
    pub(crate) session: String,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `longhand sessions gc`.
#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// Remove it
    #[arg(long)]
    pub(crate) yes: bool,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `longhand sessions convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Session: file, id or title
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) session: Option<String>,
    /// All sessions that are not there yet
    #[arg(long)]
    pub(crate) all: bool,
    /// What to keep them in
    #[arg(long, value_enum, value_name = "STORE")]
    pub(crate) to: Store,
    /// Move each original to the trash, once its copy is known to be the same
    #[arg(long)]
    pub(crate) remove: bool,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What sessions are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    /// A file for each
    Jsonl,
    /// One database for all, with full-text search
    Sqlite,
}

impl Sessions {
    /// The flags that every command has.
    pub(crate) fn common(&self) -> &Common {
        match &self.action {
            None => &self.listing.common,
            Some(Action::List(listing)) => &listing.common,
            Some(Action::Search(search)) => &search.listing.common,
            Some(Action::Delete(named) | Action::Pin(named) | Action::Unpin(named)) => {
                &named.common
            }
            Some(Action::Gc(gc)) => &gc.common,
            Some(Action::Convert(convert)) => &convert.common,
        }
    }
}
