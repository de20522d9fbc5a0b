//! What of a session a model sees: the messages rebuilt from the active branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::json::Json;
use crate::message::Message;

/// The messages of a branch, and the settings in force at its leaf.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionContext {
    /// The messages, oldest first, in all roles.
    pub messages: Vec<Arc<Message>>,
    /// Effort of thinking; `off` where nothing was set.
    pub thinking_level: String,
    /// The effort that was asked for, such as `auto`.
    pub configured_thinking_level: Option<String>,
    /// Service tier by provider family.
    pub service_tier: Option<Json>,
    /// Models by role, as `provider/id`.
    pub models: BTreeMap<String, String>,
    /// Names of injected rules, in first-seen order.
    pub injected_ttsr_rules: Vec<String>,
    /// The mode; `none` outside any.
    pub mode: String,
    /// State of the mode.
    pub mode_data: Option<Json>,
    /// Transcript only, one a message: whether a change explains why the provider's cache was missed.
    pub cache_miss_explained_at: Option<Vec<bool>>,
}
