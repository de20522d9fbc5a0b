//! A maintenance pass while it runs.

use longhand_agent::compaction::{ProgressStep, Trigger};
use longhand_session::MethodId;

use crate::tui::moment::Moment;

/// A maintenance pass that runs now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pass {
    /// Since when.
    pub(crate) since: Moment,
    /// Why.
    pub(crate) trigger: Trigger,
    /// What is done: `context-full`, `remote`, `handoff`, `shake`, `snapcompact`; the method's name, or empty, for a pass of the user.
    pub(crate) action: String,
    /// The methods that were heard of, in order.
    pub(crate) methods: Vec<MethodId>,
    /// Methods that were passed over, and why.
    pub(crate) skipped: Vec<(MethodId, String)>,
    /// The newest news of the method that runs.
    pub(crate) step: Option<ProgressStep>,
}

impl Pass {
    /// A pass that begins.
    pub(crate) fn new(trigger: Trigger, action: impl Into<String>, now: Moment) -> Self {
        Self {
            since: now,
            trigger,
            action: action.into(),
            methods: Vec::new(),
            skipped: Vec::new(),
            step: None,
        }
    }

    /// Takes the news of a method.
    pub(super) fn progress(&mut self, method: &MethodId, step: &ProgressStep) {
        self.see(method);
        self.step = Some(step.clone());
    }

    /// Takes note that a method was passed over.
    pub(super) fn skip(&mut self, method: &MethodId, reason: &str) {
        self.see(method);
        self.step = None;
        self.skipped.push((method.clone(), reason.to_owned()));
    }

    fn see(&mut self, method: &MethodId) {
        if !self.methods.contains(method) {
            self.methods.push(method.clone());
            self.step = None;
        }
    }

    /// What is done, in words.
    pub(crate) fn title(&self) -> String {
        let action = match (self.trigger, self.action.as_str()) {
            (Trigger::Manual, _) => return "Compacting".to_owned(),
            (_, "remote") => "Auto server compaction",
            (_, "handoff") => "Auto-handoff",
            (_, "shake") => "Auto-shake",
            (_, "snapcompact") => "Auto-snapcompact",
            (_, _) => "Auto context-full maintenance",
        };
        let reason = match self.trigger {
            Trigger::Overflow => "Context overflow detected, ",
            Trigger::Incomplete => "Response incomplete, ",
            Trigger::Idle => "Idle ",
            Trigger::Manual | Trigger::Threshold => "",
        };
        format!("{reason}{action}")
    }

    /// How its failure is announced.
    pub(crate) fn failure(&self, error: &str) -> String {
        let what = match self.trigger {
            Trigger::Manual => "Compaction failed",
            Trigger::Overflow => "Context overflow recovery failed",
            Trigger::Incomplete => "Incomplete response recovery failed",
            Trigger::Threshold | Trigger::Idle => "Auto-compaction failed",
        };
        format!("{what}: {error}")
    }
}
