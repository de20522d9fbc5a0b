//! The maintenance of one session: what its passes have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use longhand_agent::branch::Branch;
use longhand_agent::client::{ModelClient, Models, Role};
use longhand_agent::compaction::{
    CompactionMethod, CompactionResult, Job, Preparation, Prepare, Trigger,
};
use longhand_agent::handle::{Live, SessionHandle};
use longhand_agent::live::Frames;
use longhand_agent::maintenance::{Maintenance, MaintenanceError, ManualRequest, Verdict};
use longhand_compaction::Options;
use longhand_prompts::Prompts;
use longhand_session::time::Clock;
use longhand_session::{AssistantMessage, Message};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::order;

/// What a [`Maintainer`] works with.
pub struct Wiring {
    /// The methods that exist, each with a name of its own. Settings order them by name.
    pub methods: Vec<Arc<dyn CompactionMethod>>,
    /// Decides what is cut and what is kept.
    pub prepare: Arc<dyn Prepare>,
    /// Where the model of summaries comes from.
    pub models: Arc<dyn Models>,
    /// Options; each pass reads them once, at its start.
    pub options: watch::Receiver<Arc<Options>>,
    /// Words for models.
    pub prompts: Arc<Prompts>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Where frames lie that archives only refer to.
    pub frames: Option<Frames>,
}

/// Decides when a session's context is made shorter, and does it. One pass at a time.
pub struct Maintainer {
    pub(crate) wiring: Wiring,
    is_busy: AtomicBool,
}

impl Maintainer {
    /// Maintenance of one session.
    pub fn new(wiring: Wiring) -> Self {
        Self { wiring, is_busy: AtomicBool::new(false) }
    }

    /// Claims the one place for a pass; `None` while another pass holds it.
    pub(crate) fn claim(&self) -> Option<Claim<'_>> {
        self.is_busy
            .compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire)
            .ok()
            .map(|_| Claim(&self.is_busy))
    }

    pub(crate) fn options(&self) -> Arc<Options> {
        self.wiring.options.borrow().clone()
    }

    /// What the methods of a pass work on.
    pub(crate) async fn job(&self, start: &Start, trigger: Trigger, focus: Option<String>) -> Job {
        Job {
            branch: start.branch.clone(),
            preparation: Some(start.preparation.clone()),
            system: start.live.system.clone(),
            tools: start.live.tools.clone(),
            model: start.live.client.model().clone(),
            counter: start.live.counter(),
            candidates: self.candidates(&start.live.client).await,
            trigger,
            focus: focus.filter(|text| !text.trim().is_empty()).map(Arc::from),
            non_message_tokens: start.live.non_message_tokens,
            extra_context: Arc::from([]),
            thinking: start.live.thinking,
        }
    }

    /// Models that may write a summary: the one configured for it, then that of the conversation. No other model is asked by
    /// itself: where history goes is the user's choice.
    async fn candidates(&self, conversation: &Arc<dyn ModelClient>) -> Vec<Arc<dyn ModelClient>> {
        let mut candidates = Vec::new();
        match self.wiring.models.for_role(Role::Summarizer).await {
            Ok(Some(summarizer)) => candidates.push(summarizer),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the configured summarizer cannot be used"),
        }
        let is_listed = candidates
            .iter()
            .any(|candidate| candidate.model().reference() == conversation.model().reference());
        if !is_listed {
            candidates.push(conversation.clone());
        }
        candidates
    }
}

/// Holds the one place for a pass; dropping it frees the place.
pub(crate) struct Claim<'a>(&'a AtomicBool);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// What a pass found when it began.
pub(crate) struct Start {
    pub(crate) branch: Arc<Branch>,
    pub(crate) live: Arc<Live>,
    pub(crate) preparation: Arc<Preparation>,
}

impl Maintainer {
    /// The state at the start of a pass; `None` where there is nothing to cut.
    pub(crate) fn start(&self, session: &SessionHandle) -> Option<Start> {
        let (branch, live) = (session.snapshot(), session.live());
        let model = live.client.model().clone();
        let preparation =
            self.wiring.prepare.prepare(&branch, Some(&model), live.non_message_tokens)?;
        Some(Start { branch, live, preparation: Arc::new(preparation) })
    }
}

#[async_trait]
impl Maintenance for Maintainer {
    async fn before_prompt(
        &self,
        session: &SessionHandle,
        _pending: &[Arc<Message>],
        cancel: &CancellationToken,
    ) -> Verdict {
        self.check_before_prompt(session, cancel).await
    }

    async fn between_rounds(
        &self,
        _session: &SessionHandle,
        _last: &AssistantMessage,
        _cancel: &CancellationToken,
    ) -> Verdict {
        Verdict::default()
    }

    async fn after_run(
        &self,
        session: &SessionHandle,
        last: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict {
        self.check_after_run(session, last, cancel).await
    }

    fn check(&self, request: &ManualRequest) -> Result<(), MaintenanceError> {
        order::manual(&self.wiring.methods, &self.options(), request).map(drop)
    }

    async fn compact(
        &self,
        session: &SessionHandle,
        request: ManualRequest,
        cancel: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError> {
        self.compact_manually(session, request, cancel).await
    }
}
