//! What can be set about compaction: plain data. Where settings come from, and what their keys are, is no concern of this crate.

use std::time::Duration;

use longhand_session::MethodId;
use longhand_snapcompact::ShapeChoice;
use longhand_snapcompact::budget::ImageBudgets;

/// What can be set about compaction. An operation reads its options once, at its start.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Options {
    /// Whether a pass may start by itself. A pass that the user asks for does not look at it.
    pub enabled: bool,
    /// Methods in the order to try them. Ids that nobody registered are passed over; an empty order turns automatic passes off.
    pub method_order: Vec<MethodId>,
    /// Percent of the context window above which a pass starts, at least 1 and at most 99. Zero or less: not set.
    pub threshold_percent: f64,
    /// Tokens above which a pass starts; goes before [`Options::threshold_percent`]. Zero or less: not set.
    pub threshold_tokens: f64,
    /// Tokens of the window that are left to the reply. `None` is not the same as naming the default: only an unset reserve
    /// gives way where it would fill most of a small window.
    pub reserve_tokens: Option<u64>,
    /// What an unset reserve does where it would fill more than half of the window.
    pub small_window_reserve: SmallWindowReserve,
    /// How many of the newest tokens stay verbatim.
    pub keep_recent_tokens: u64,
    /// Whether a pass may run between two requests of one turn.
    pub mid_turn_enabled: bool,
    /// Whether the agent goes on by itself after a pass.
    pub auto_continue: bool,
    /// Whether a provider's own compaction and the summarizer endpoint may be used.
    pub remote_enabled: bool,
    /// URL of a summarizer that is asked in place of a model.
    pub remote_endpoint: Option<String>,
    /// Whether the streaming protocol of provider-native compaction may be used.
    pub remote_streaming_v2_enabled: bool,
    /// Tokens of messages that the streaming protocol keeps verbatim.
    pub v2_retained_message_budget: u64,
    /// How failed requests of a pass that runs by itself are repeated.
    pub retry: RetryOptions,
    /// How history is printed.
    pub snapcompact: SnapcompactOptions,
}

/// How history is printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SnapcompactOptions {
    /// The shape of frames.
    pub shape: ShapeChoice,
    /// How many pictures providers take.
    pub image_budgets: ImageBudgets,
    /// What of the system prompt is sent as pictures.
    pub system_prompt: SystemImaging,
    /// Whether large old tool results are sent as pictures.
    pub tool_results: bool,
}

/// What of the system prompt is sent as pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SystemImaging {
    /// Nothing.
    #[default]
    None,
    /// The standing instructions of the user and the project.
    AgentsMd,
    /// All of it.
    All,
}

/// How failed requests are repeated when the failure may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryOptions {
    /// Whether they are.
    pub enabled: bool,
    /// How often at most.
    pub max_retries: u32,
    /// The wait before the first repetition; it doubles with each. A provider that asks for more gets more.
    pub base_delay: Duration,
    /// A request that would have to wait longer has failed.
    pub max_delay: Duration,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            max_retries: 10,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_mins(5),
        }
    }
}

/// What an unset reserve does where it would fill more than half of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmallWindowReserve {
    /// It stays. Windows of about 19,300 to 33,000 tokens then have thresholds far below their half.
    #[default]
    Fixed,
    /// It shrinks to a quarter of the window.
    Scaled,
}

impl Default for Options {
    fn default() -> Self {
        let order = ["remote", "snapcompact", "handoff", "shake", "soft"];
        Self {
            enabled: true,
            method_order: order.map(MethodId::from).to_vec(),
            threshold_percent: -1.0,
            threshold_tokens: -1.0,
            reserve_tokens: None,
            small_window_reserve: SmallWindowReserve::Fixed,
            keep_recent_tokens: 20_000,
            mid_turn_enabled: true,
            auto_continue: true,
            remote_enabled: true,
            remote_endpoint: None,
            remote_streaming_v2_enabled: true,
            v2_retained_message_budget: 64_000,
            retry: RetryOptions::default(),
            snapcompact: SnapcompactOptions::default(),
        }
    }
}
