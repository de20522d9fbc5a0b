//! The flags of `longhand export` and `longhand tree`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Common;

/// `longhand export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Session: file, id, title, or `-` for standard input; the newest of this directory without one
    pub(crate) session: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value = "html")]
    pub(crate) format: ExportFormat,
    /// Where it is written, `-` for standard output; without it, a file in this directory that is named for the title
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Take out what looks like a key
    #[arg(long)]
    pub(crate) redact: bool,
    /// Colours of a page
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) theme: PageTheme,
    /// Tell where it was written as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One page that needs nothing else
    Html,
    /// Markdown
    Md,
    /// One JSON document
    Json,
    /// A session file
    Jsonl,
}

/// Colours of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageTheme {
    /// As whoever reads it prefers
    Auto,
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// `longhand tree`.
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// Session: file, id, title, or `-` for standard input; the newest of this directory without one
    pub(crate) session: Option<String>,
    /// Which entries are shown
    #[arg(long, value_enum, default_value = "default")]
    pub(crate) filter: TreeFilter,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// ASCII only
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFilter {
    /// What was said and done
    Default,
    /// The same without results of tools
    NoTools,
    /// What the user said
    UserOnly,
    /// What has a label
    LabeledOnly,
    /// Everything
    All,
}
