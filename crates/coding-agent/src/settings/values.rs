//! The values in force, typed. Each field is a key of the table: a test holds the two together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use longhand_compaction::options::SystemImaging;
use longhand_session::model::InputKind;
use longhand_snapcompact::budget::ImageBudgets;
use serde::Deserialize;

/// The values in force.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// Model of the conversation, as the user names it.
    pub model: Option<String>,
    /// Model of summaries; `None` takes that of the conversation.
    pub summarizer: Option<String>,
    /// When and how the context is made shorter.
    pub compaction: CompactionSettings,
    /// How history is printed.
    pub snapcompact: SnapcompactSettings,
    /// Retries of automatic passes.
    pub retry: RetrySettings,
    /// Tools and their approval.
    pub tools: ToolSettings,
    /// The `read` tool.
    pub read: ReadSettings,
    /// Endpoints by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Keeping sessions.
    pub sessions: SessionSettings,
    /// Leaving the program.
    pub exit: ExitSettings,
    /// The transcript.
    pub display: DisplaySettings,
    /// What the terminal draws.
    pub terminal: TerminalSettings,
    /// Colours.
    pub theme: ThemeSettings,
    /// Set of symbols: `unicode`, `nerd` or `ascii`.
    pub symbols: String,
}

/// When and how the context is made shorter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionSettings {
    /// Whether passes start by themselves.
    pub enabled: bool,
    /// Methods in the order to try them.
    pub method_order: Vec<String>,
    /// Percent of the window above which a pass starts; zero or less: not set.
    pub threshold_percent: f64,
    /// Tokens above which a pass starts; zero or less: not set.
    pub threshold_tokens: f64,
    /// Tokens left to the reply.
    pub reserve_tokens: Option<u64>,
    /// Tokens of the newest messages that stay verbatim.
    pub keep_recent_tokens: u64,
    /// Whether a pass may run between two requests of one turn.
    pub mid_turn_enabled: bool,
    /// Whether the agent goes on by itself after a pass.
    pub auto_continue: bool,
}

/// How history is printed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnapcompactSettings {
    /// Name of the shape, or `auto`.
    pub shape: String,
    /// `none`, `agents-md` or `all`.
    pub system_prompt: String,
    /// Whether large old tool results are sent as pictures.
    pub tool_results: bool,
    /// A font of the user's own.
    pub fallback_font: Option<PathBuf>,
}

/// Retries of automatic passes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RetrySettings {
    /// Whether a failed summary is tried again.
    pub enabled: bool,
    /// How often.
    pub max_retries: u64,
    /// The first wait, in milliseconds. Each further one is twice as long.
    pub base_delay_ms: u64,
    /// The longest wait, in milliseconds.
    pub max_delay_ms: u64,
}

/// Tools and their approval.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolSettings {
    /// `always-ask`, `write` or `yolo`.
    pub approval_mode: String,
    /// `allow`, `prompt` or `deny` by tool.
    pub approval: BTreeMap<String, String>,
    /// Size from which a result is kept as an artifact, in KiB.
    pub artifact_spill_threshold: u64,
    /// Longest time of one command, in seconds; 0 is no limit.
    pub max_timeout: u64,
}

/// The `read` tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadSettings {
    /// Lines of one call without a range.
    pub default_limit: u64,
}

/// One endpoint.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// Root of the endpoint.
    pub base_url: Option<String>,
    /// Wire protocol, by its stored name.
    pub api: Option<String>,
    /// Variable that holds the key.
    pub api_key_env: Option<String>,
    /// Command that prints the key.
    pub api_key_command: Option<Vec<String>>,
    /// File that holds the key; must be readable by its owner alone.
    pub api_key_file: Option<PathBuf>,
    /// Further request headers.
    pub headers: BTreeMap<String, String>,
    /// Whether the endpoint is asked for its models; `None` decides by whether any are listed here.
    pub discover: Option<bool>,
    /// Most pictures of one request.
    pub max_images: Option<u64>,
    /// Most base64 bytes of pictures in one request.
    pub max_image_bytes: Option<u64>,
    /// Models of the endpoint.
    pub models: Vec<ModelSettings>,
}

/// One model of an endpoint.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelSettings {
    /// Id as the endpoint knows it.
    pub id: String,
    /// Name for people.
    #[serde(default)]
    pub name: Option<String>,
    /// Tokens of prompt and reply.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// Most tokens of one reply.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// Kinds of input.
    #[serde(default)]
    pub input: Option<Vec<InputKind>>,
    /// Whether the model can think; `None` leaves it to the endpoint.
    #[serde(default)]
    pub reasoning: Option<bool>,
    /// Prices in USD per million tokens.
    #[serde(default)]
    pub cost: Option<ModelPrice>,
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ModelPrice {
    /// Uncached prompt tokens.
    pub input: f64,
    /// Reply tokens.
    pub output: f64,
    /// Prompt tokens read from cache.
    pub cache_read: f64,
    /// Prompt tokens written to cache.
    pub cache_write: f64,
}

/// Keeping sessions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionSettings {
    /// Where new ones are kept.
    pub store: StoreKind,
}

/// What sessions are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// A file for each.
    Jsonl,
    /// One database for all.
    Sqlite,
}

/// Leaving the program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExitSettings {
    /// Whether the last answer is printed again.
    pub print_last: bool,
}

/// The transcript.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DisplaySettings {
    /// Whether history above a divider is folded away.
    pub collapse_compacted: bool,
}

/// What the terminal draws.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSettings {
    /// Whether pictures are drawn.
    pub show_images: bool,
}

/// Colours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThemeSettings {
    /// `auto`, `dark` or `light`.
    pub mode: String,
}

impl Settings {
    /// Options of compaction.
    pub fn compaction_options(&self) -> longhand_compaction::Options {
        let set = &self.compaction;
        let mut options = longhand_compaction::Options::default();
        options.enabled = set.enabled;
        options.method_order = set.method_order.iter().map(|name| name.as_str().into()).collect();
        options.threshold_percent = set.threshold_percent;
        options.threshold_tokens = set.threshold_tokens;
        options.reserve_tokens = set.reserve_tokens;
        options.keep_recent_tokens = set.keep_recent_tokens;
        options.mid_turn_enabled = set.mid_turn_enabled;
        options.auto_continue = set.auto_continue;
        // Names that no shape has do not get here: the table of keys holds them back.
        options.snapcompact.shape = self.snapcompact.shape.parse().unwrap_or_default();
        options.snapcompact.image_budgets = self.image_budgets();
        options.snapcompact.tool_results = self.snapcompact.tool_results;
        options.snapcompact.system_prompt = match self.snapcompact.system_prompt.as_str() {
            "agents-md" => SystemImaging::AgentsMd,
            "all" => SystemImaging::All,
            _ => SystemImaging::None,
        };
        options.retry.enabled = self.retry.enabled;
        options.retry.max_retries = u32::try_from(self.retry.max_retries).unwrap_or(u32::MAX);
        options.retry.base_delay = Duration::from_millis(self.retry.base_delay_ms);
        options.retry.max_delay = Duration::from_millis(self.retry.max_delay_ms);
        options
    }

    /// How many pictures requests may carry, as far as the user says so.
    pub fn image_budgets(&self) -> ImageBudgets {
        let mut budgets = ImageBudgets::default();
        for (provider, set) in &self.providers {
            if let Some(most) = set.max_images {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                budgets.images.insert(provider.clone(), most);
            }
            if let Some(most) = set.max_image_bytes {
                budgets.bytes.insert(provider.clone(), most);
            }
        }
        budgets
    }
}
