//! The table of keys: the one place that says what can be set. Parsing, explaining and the documentation read it.

use toml::Value;

use super::kind::{Kind, toml_value};

/// One thing that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Dotted name. A segment in angle brackets stands for any name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The default as TOML; `None` is not set.
    pub default: Option<&'static str>,
    /// Who may set it.
    pub trust: Trust,
    /// What it does, for people.
    pub about: &'static str,
}

/// Who may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user and the project.
    Everyone,
    /// The user alone: a project that was cloned from anywhere must not approve calls, choose endpoints or run commands.
    UserOnly,
}

/// Everything that can be set.
pub const KEYS: &[Key] = &[
    key(
        "model",
        Kind::Text,
        None,
        "Model of the conversation: `provider/id`, an id, or an unambiguous part of one",
    ),
    key(
        "summarizer",
        Kind::Text,
        None,
        "Model that writes summaries; unset: the model of the conversation",
    ),
    key(
        "compaction.enabled",
        Kind::Flag,
        Some("true"),
        "Compact by itself when the context is over its threshold",
    ),
    key(
        "compaction.methodOrder",
        Kind::Texts,
        Some(r#"["remote", "snapcompact", "handoff", "shake", "soft"]"#),
        "Methods in the order to try them; names of methods that are not built in are passed over; an empty list turns automatic compaction off",
    ),
    key(
        "compaction.thresholdPercent",
        Kind::Number,
        Some("-1.0"),
        "Percent of the context window above which a pass starts, 1 to 99; -1: not set",
    ),
    key(
        "compaction.thresholdTokens",
        Kind::Number,
        Some("-1.0"),
        "Tokens above which a pass starts, before the percentage; -1: not set",
    ),
    key(
        "compaction.reserveTokens",
        WHOLE,
        None,
        "Tokens of the window left to the reply; unset: 16384, or 15 % of the window where that is more",
    ),
    key(
        "compaction.keepRecentTokens",
        WHOLE,
        Some("20000"),
        "Tokens of the newest messages that stay verbatim",
    ),
    key(
        "compaction.midTurnEnabled",
        Kind::Flag,
        Some("true"),
        "Allow a pass between two requests of one turn",
    ),
    key(
        "compaction.autoContinue",
        Kind::Flag,
        Some("true"),
        "Go on by itself after a pass that interrupted work",
    ),
    key(
        "snapcompact.shape",
        Kind::Choice(&[
            "auto",
            "8x8r-bw",
            "8x8r-sent",
            "8x8u-bw",
            "8x8u-sent",
            "6x6u-bw",
            "6x6u-sent",
            "5x8-bw",
            "5x8-sent",
            "6x12-dim",
            "8x13-bw",
            "8on16-bw",
            "8on22-bw",
            "11on16-bw",
            "silver16-bw",
            "doc-8on16-bw",
            "doc-8on16-sent",
            "doc-8on16-sent-dim",
            "wide16-bw",
        ]),
        Some(r#""auto""#),
        "How history is printed: font, cells and ink; `auto` takes what the model reads best, `wide16-bw` is another name of `silver16-bw`",
    ),
    key(
        "snapcompact.systemPrompt",
        Kind::Choice(&["none", "agents-md", "all"]),
        Some(r#""none""#),
        "What of the system prompt is sent as pictures to models that see: nothing, the standing instructions, or all",
    ),
    key(
        "snapcompact.toolResults",
        Kind::Flag,
        Some("false"),
        "Send large old tool results as pictures to models that see",
    ),
    user_key(
        "snapcompact.fallbackFont",
        Kind::Text,
        None,
        "TrueType file that is asked for characters that the bundled fonts print badly or not at all",
    ),
    key(
        "retry.enabled",
        Kind::Flag,
        Some("true"),
        "Try a summary again that failed for a passing reason",
    ),
    key("retry.maxRetries", WHOLE, Some("10"), "How often it is tried again"),
    key(
        "retry.baseDelayMs",
        WHOLE,
        Some("500"),
        "First wait between tries, in milliseconds; each further one is twice as long",
    ),
    key("retry.maxDelayMs", WHOLE, Some("300000"), "Longest wait between tries, in milliseconds"),
    user_key(
        "tools.approvalMode",
        Kind::Choice(&["always-ask", "write", "yolo"]),
        Some(r#""write""#),
        "Which calls run without a question: reads; reads and writes in the workspace; all",
    ),
    user_key(
        "tools.approval.<tool>",
        Kind::Choice(&["allow", "prompt", "deny"]),
        None,
        "What happens with calls of one tool, whatever the mode",
    ),
    key(
        "tools.artifactSpillThreshold",
        WHOLE,
        Some("50"),
        "Size in KiB from which the result of a tool is kept as an artifact and shown in part",
    ),
    key(
        "tools.maxTimeout",
        WHOLE,
        Some("0"),
        "Longest time of one command in seconds; 0: no limit",
    ),
    key(
        "read.defaultLimit",
        Kind::Whole { min: 1 },
        Some("300"),
        "Lines that `read` gives where no range is asked for",
    ),
    user_key(
        "providers.<id>.baseUrl",
        Kind::Text,
        None,
        "Root of the endpoint, such as `http://127.0.0.1:8080/v1`; one on this machine needs no key",
    ),
    user_key(
        "providers.<id>.api",
        Kind::Choice(&[
            "openai-completions",
            "openai-responses",
            "anthropic-messages",
            "google-generative-ai",
        ]),
        None,
        "Protocol of the endpoint; unset: `openai-completions`, or that of the built-in provider of the same name",
    ),
    user_key(
        "providers.<id>.apiKeyEnv",
        Kind::Text,
        None,
        "Environment variable that holds the key",
    ),
    user_key(
        "providers.<id>.apiKeyCommand",
        Kind::Texts,
        None,
        "Command and arguments that print the key",
    ),
    user_key(
        "providers.<id>.apiKeyFile",
        Kind::Text,
        None,
        "File that holds the key; only its owner may be able to read it",
    ),
    user_key("providers.<id>.headers", Kind::Headers, None, "Further request headers"),
    user_key(
        "providers.<id>.discover",
        Kind::Flag,
        None,
        "Ask the endpoint for its models; unset: where none are listed",
    ),
    user_key(
        "providers.<id>.maxImages",
        WHOLE,
        None,
        "Most pictures of one request; unset: what is known of the provider, else 5",
    ),
    user_key(
        "providers.<id>.maxImageBytes",
        WHOLE,
        None,
        "Most base64 bytes of pictures in one request; unset: 3000000",
    ),
    user_key(
        "providers.<id>.models",
        Kind::Models,
        None,
        "Models of the endpoint: `id`, `name`, `contextWindow`, `maxTokens`, `input`, `reasoning`, `cost`",
    ),
    user_key(
        "sessions.store",
        Kind::Choice(&["jsonl", "sqlite"]),
        Some(r#""jsonl""#),
        "Where new sessions are kept: a file each, or one database with full-text search; sessions of both are found either way",
    ),
    key(
        "exit.printLast",
        Kind::Flag,
        Some("true"),
        "Print the last answer again when the terminal program ends",
    ),
    key(
        "display.collapseCompacted",
        Kind::Flag,
        Some("false"),
        "Fold history away that was compacted",
    ),
    key(
        "terminal.showImages",
        Kind::Flag,
        Some("true"),
        "Draw pictures in the terminal where it can",
    ),
    key(
        "theme.mode",
        Kind::Choice(&["auto", "dark", "light"]),
        Some(r#""auto""#),
        "Colours for a dark or a light background",
    ),
    key(
        "symbols",
        Kind::Choice(&["unicode", "nerd", "ascii"]),
        Some(r#""unicode""#),
        "Set of symbols in the terminal",
    ),
];

const WHOLE: Kind = Kind::Whole { min: 0 };

const fn key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> Key {
    Key { name, kind, default, trust: Trust::Everyone, about }
}

const fn user_key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> Key {
    Key { name, kind, default, trust: Trust::UserOnly, about }
}

impl Key {
    /// Whether a segment of the name is open.
    pub fn is_open(&self) -> bool {
        self.name.contains('<')
    }

    pub(super) fn default_value(&self) -> Option<Value> {
        self.default.and_then(toml_value)
    }

    pub(super) fn segments(&self) -> Vec<&'static str> {
        self.name.split('.').collect()
    }

    /// What stands before and after the open segment; `None` where there is none.
    fn around_open(&self) -> Option<(&'static str, &'static str)> {
        let (before, rest) = self.name.split_once('<')?;
        Some((before, rest.split_once('>')?.1))
    }

    /// The path of `name`, if it is this key. An open segment takes any text, dots included: names of providers have them.
    fn path(&self, name: &str) -> Option<Vec<String>> {
        let Some((before, after)) = self.around_open() else {
            return (name == self.name)
                .then(|| self.segments().into_iter().map(String::from).collect());
        };
        let open =
            name.strip_prefix(before)?.strip_suffix(after).filter(|open| !open.is_empty())?;
        let fill = |segment: &str| if segment.starts_with('<') { open } else { segment }.to_owned();
        Some(self.segments().into_iter().map(fill).collect())
    }
}

/// A key, and the path that a name means.
pub(super) struct Found {
    pub(super) key: &'static Key,
    pub(super) path: Vec<String>,
}

/// The key of a dotted name.
pub(super) fn find(name: &str) -> Option<Found> {
    KEYS.iter().find_map(|key| Some(Found { path: key.path(name)?, key }))
}

/// Whether keys begin with this path.
pub(super) fn is_group(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        let segments = key.segments();
        segments.len() > path.len()
            && segments
                .iter()
                .zip(path)
                .all(|(segment, name)| segment.starts_with('<') || segment == name)
    })
}

/// Whether a name that is no key looks like the place for a literal key.
pub(super) fn names_a_literal_key(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase().replace(['-', '_'], "");
    name.starts_with("providers.") && ["apikey", "key", "token", "secret"].contains(&last.as_str())
}

/// The name with upper and lower case as in the table, where it is a key but for that.
pub(super) fn with_the_case_of_the_table(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let exact = KEYS.iter().find_map(|key| match key.around_open() {
        None => (key.name.to_ascii_lowercase() == lower).then(|| key.name.to_owned()),
        Some((before, after)) => {
            let inner = lower.strip_prefix(&before.to_ascii_lowercase())?;
            let inner = inner.strip_suffix(&after.to_ascii_lowercase())?;
            let open = name.get(before.len()..before.len() + inner.len())?;
            (!open.is_empty()).then(|| format!("{before}{open}{after}"))
        }
    });
    exact.unwrap_or_else(|| name.to_owned())
}

/// The key that a wrong name most likely means.
pub(super) fn closest(name: &str) -> Option<String> {
    let candidates = KEYS.iter().map(|key| filled_like(key, name));
    let (distance, best) = candidates
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&candidate.to_lowercase(), &name.to_lowercase()),
                candidate,
            )
        })
        .min_by_key(|(distance, _)| *distance)?;
    // A third of the letters wrong is still a slip of the fingers; more is another word.
    (distance <= name.chars().count() / 3).then_some(best)
}

/// The name of a key with the open segment filled from the same place of a wrong name.
fn filled_like(key: &Key, name: &str) -> String {
    let names: Vec<_> = name.split('.').collect();
    let segments = key.segments().into_iter().enumerate().map(|(at, segment)| {
        if segment.starts_with('<') { names.get(at).copied().unwrap_or(segment) } else { segment }
    });
    segments.collect::<Vec<_>>().join(".")
}
