//! The command line, parsed. Decides nothing: what a flag means is said by whoever reads it.

pub(crate) mod export;
pub(crate) mod frames;
pub(crate) mod sessions;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "longhand",
    version,
    about = "A terminal coding agent whose context never runs out",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Without a key: `longhand --model demo/offline` works offline, with real tools."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// Flags that start the agent.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Launch {
    /// What to say first; `@FILE` adds a file, `-` reads standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Answer once, as text, and exit
    #[arg(short, long)]
    pub(crate) print: bool,
    /// How to answer when not interactive
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Continue the newest session of this directory
    #[arg(short = 'c', long = "continue", group = "source")]
    pub(crate) continue_newest: bool,
    /// Continue a session, by file, id or title; without a value, the newest of this directory is listed
    #[arg(short, long, group = "source", value_name = "ID|PATH", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "a flag with an optional value has three states")]
    pub(crate) resume: Option<Option<String>>,
    /// Copy a session, by file, id or title, and continue the copy
    #[arg(long, group = "source", value_name = "ID|PATH")]
    pub(crate) fork: Option<String>,
    /// Import a session of Claude Code, by id, file or title, and continue it; without a value they are listed
    #[arg(long, group = "source", value_name = "ID|FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "a flag with an optional value has three states")]
    pub(crate) from_claude: Option<Option<String>>,
    /// The same for a session of Codex
    #[arg(long, group = "source", value_name = "ID|FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "a flag with an optional value has three states")]
    pub(crate) from_codex: Option<Option<String>>,
    /// Keep nothing on disk
    #[arg(long, group = "source")]
    pub(crate) no_session: bool,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Which tool calls run without asking
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) approval_mode: Option<Approval>,
    /// Same as `--approval-mode yolo`
    #[arg(long, conflicts_with = "approval_mode")]
    pub(crate) auto_approve: bool,
    /// Enable only these tools, comma separated
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "no_tools")]
    pub(crate) tools: Option<Vec<String>>,
    /// Enable no tools
    #[arg(long)]
    pub(crate) no_tools: bool,
    /// Replace the first part of the system prompt by this text or file
    #[arg(long, value_name = "TEXT|FILE", allow_hyphen_values = true)]
    pub(crate) system_prompt: Option<String>,
    /// Add this text or file to the system prompt
    #[arg(long, value_name = "TEXT|FILE", allow_hyphen_values = true)]
    pub(crate) append_system_prompt: Option<String>,
    /// Read no AGENTS.md and the like
    #[arg(long)]
    pub(crate) no_context_files: bool,
    /// Use the built-in demo model: scripted replies, real tools, no network
    #[arg(long, conflicts_with = "model")]
    pub(crate) demo: bool,
    /// Also print the model's reasoning (text mode)
    #[arg(long)]
    pub(crate) print_thoughts: bool,
    /// Stop after this time: `600`, `10m`, `1h`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<std::time::Duration>,
    /// Draw without colours
    #[arg(long)]
    pub(crate) no_color: bool,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw no pictures
    #[arg(long)]
    pub(crate) no_images: bool,
}

/// Flags of the agent and of subcommands that need a model or a place.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Where sessions are kept and looked up
    #[arg(long, value_name = "DIR")]
    pub(crate) session_dir: Option<PathBuf>,
    /// Model: `provider/id`, an id, or an unambiguous part of one
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Model that writes summaries
    #[arg(long, value_name = "MODEL")]
    pub(crate) summarizer: Option<String>,
    /// One setting for this run
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) settings: Vec<String>,
    /// A further settings file, above the others
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) configs: Vec<PathBuf>,
    /// Compaction methods in the order to try them, comma separated
    #[arg(long, value_name = "LIST")]
    pub(crate) compact_methods: Option<String>,
    /// Never compact by itself
    #[arg(long)]
    pub(crate) no_auto_compact: bool,
    /// Start in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// How a single answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The answer as text
    Text,
    /// One event a line
    Json,
}

/// Which tool calls run without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approval {
    /// Only those that look
    AlwaysAsk,
    /// Also those that change files of the workspace
    Write,
    /// All
    Yolo,
}

impl Approval {
    /// The name in settings.
    pub(crate) fn as_setting(self) -> &'static str {
        match self {
            Self::AlwaysAsk => "always-ask",
            Self::Write => "write",
            Self::Yolo => "yolo",
        }
    }
}

/// Work on sessions that starts no agent.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a session holds and what fills its context
    Inspect(Inspect),
    /// Show the request that a model would get
    Context(Context),
    /// Compact a session once
    Compact(Compact),
    /// Write the frames of a session's archive, print any text as frames, read frames back
    Frames(frames::Frames),
    /// Write a session as a page, as Markdown, as JSON or as a session file
    Export(export::Export),
    /// Show the tree of a session
    Tree(export::Tree),
    /// List, search, delete, pin and clean up sessions
    Sessions(sessions::Sessions),
    /// Make sessions of other programs into sessions of this one
    Import(Import),
}

/// `longhand inspect`.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Session: file, id, title, or `-` for standard input; the newest of this directory without one
    pub(crate) session: Option<String>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// How many of the largest entries to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// List all entries
    #[arg(long, conflicts_with = "top")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `longhand context`.
#[derive(Debug, Args)]
pub(crate) struct Context {
    /// Session: file, id, title, or `-` for standard input; the newest of this directory without one
    pub(crate) session: Option<String>,
    /// As if this entry were the newest
    #[arg(long, value_name = "ENTRY")]
    pub(crate) at: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ContextFormat,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// How a context is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContextFormat {
    /// For people
    Text,
    /// The rebuilt messages, with sizes
    Json,
    /// The body of a Chat Completions request
    #[value(name = "wire:openai-chat")]
    WireOpenaiChat,
}

/// `longhand compact`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Compact {
    /// Session: file, id or title; the newest of this directory without one
    pub(crate) session: Option<String>,
    /// Method
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// What the summary should dwell on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) focus: Option<String>,
    /// Say what would happen; ask no model, write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the compacted session to this file and leave the original as it is
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Use the built-in demo model for the summary
    #[arg(long, conflicts_with = "model")]
    pub(crate) demo: bool,
    /// Exit with 0 when there is nothing to do
    #[arg(long)]
    pub(crate) allow_noop: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// `longhand import`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Import {
    /// The program that the sessions come from
    #[arg(value_enum)]
    pub(crate) program: ForeignProgram,
    /// Sessions: files, starts of ids, or titles
    #[arg(value_name = "ID|FILE")]
    pub(crate) sessions: Vec<String>,
    /// Show the sessions that are there, newest first, and import none
    #[arg(long, conflicts_with_all = ["sessions", "all", "out", "dry_run", "again"])]
    pub(crate) list: bool,
    /// Import all that are there
    #[arg(long, conflicts_with = "sessions")]
    pub(crate) all: bool,
    /// Write the new sessions into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Say what would come over and what would be left out; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Import what was imported before once more
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) again: bool,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A program whose sessions can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForeignProgram {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// A positive time: seconds, or a number with `s`, `m` or `h`.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let (number, seconds) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 60.0),
        Some(b'h') => (&text[..text.len() - 1], 3_600.0),
        _ => (text, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| "write `600`, `10m` or `1h`".to_owned())?;
    std::time::Duration::try_from_secs_f64(number * seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "the time must be above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(std::iter::once("longhand").chain(words.iter().copied()))
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn sources_of_a_session_exclude_each_other() {
        for words in [
            ["-c", "--no-session"],
            ["-c", "--resume"],
            ["--resume", "--no-session"],
            ["-c", "--fork=x"],
        ] {
            assert!(parse(&words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn text_flags_take_a_word_that_begins_with_a_dash() {
        let arguments = parse(&["--append-system-prompt", "-be brief", "hello"]).unwrap();
        assert_eq!(arguments.launch.append_system_prompt.as_deref(), Some("-be brief"));
        assert_eq!(arguments.launch.prompt, ["hello"]);
    }

    #[test]
    fn a_value_spliced_to_a_switch_is_refused() {
        assert!(parse(&["--print=yes"]).is_err());
    }

    #[test]
    fn resume_takes_a_value_only_if_it_is_one() {
        let resume = |words: &[&str]| parse(words).unwrap().launch.resume;
        assert_eq!(resume(&["--resume"]), Some(None));
        assert_eq!(resume(&["--resume", "--ascii"]), Some(None));
        assert_eq!(resume(&["-r", "abc"]), Some(Some("abc".into())));
    }

    #[test]
    fn times_are_seconds_or_carry_a_unit() {
        for (text, seconds) in [("600", 600.0), ("10m", 600.0), ("1.5h", 5_400.0), ("2s", 2.0)] {
            assert_eq!(duration(text), Ok(std::time::Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "0", "-1", "m", "NaN", "1d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
