//! The pass that starts by itself: after a run that left the context over its threshold.

use std::sync::Arc;

use longhand_agent::SessionEvent;
use longhand_agent::compaction::{CompactionMethod, CompactionResult, Job, MethodError, Trigger};
use longhand_agent::handle::SessionHandle;
use longhand_agent::maintenance::{Continuation, Verdict};
use longhand_compaction::{Options, threshold};
use longhand_prompts::Prompt;
use longhand_session::message::StopReason;
use longhand_session::{AssistantMessage, Block, MethodId};
use tokio_util::sync::CancellationToken;

use crate::drafting::{Landed, Pass};
use crate::maintainer::Maintainer;
use crate::measure::Measure;
use crate::{notices, order, progress};

impl Maintainer {
    /// Compacts if a run left the context over its threshold. A failed or stopped reply starts nothing: it measured nothing, and the
    /// user may want to try again first.
    pub(crate) async fn check_after_run(
        &self,
        session: &SessionHandle,
        last: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict {
        if last.is_unfinished() {
            return Verdict::default();
        }
        let options = self.options();
        let tokens = Measure::after(last, &session.snapshot(), &session.live()).decisive();
        match self.compact_over_threshold(session, tokens, &options, cancel).await {
            Ended::Landed { has_headroom: true } => Verdict {
                continuation: self.continuation(last, &options),
                rewritten: true,
                ..Verdict::default()
            },
            Ended::Landed { has_headroom: false } => {
                Verdict { blocked: true, rewritten: true, ..Verdict::default() }
            }
            Ended::NothingToCut => Verdict { blocked: true, ..Verdict::default() },
            Ended::Nothing => Verdict::default(),
        }
    }

    /// Compacts if the context, with the prompt that is about to be sent, is over its threshold. Whatever comes of it, the prompt is
    /// sent: it is its own continuation.
    pub(crate) async fn check_before_prompt(
        &self,
        session: &SessionHandle,
        cancel: &CancellationToken,
    ) -> Verdict {
        let tokens = Measure::before_request(&session.snapshot(), &session.live()).decisive();
        let ended = self.compact_over_threshold(session, tokens, &self.options(), cancel).await;
        Verdict { rewritten: matches!(ended, Ended::Landed { .. }), ..Verdict::default() }
    }

    async fn compact_over_threshold(
        &self,
        session: &SessionHandle,
        tokens: u64,
        options: &Options,
        cancel: &CancellationToken,
    ) -> Ended {
        let window = session.live().client.model().context_window.unwrap_or(0);
        if !threshold::should_compact(tokens, window, options) {
            return Ended::Nothing;
        }
        let Some(_claim) = self.claim() else { return Ended::Nothing };
        let methods = order::configured(&self.wiring.methods, options);
        let pass = Automatic {
            maintainer: self,
            session,
            cancel,
            options,
            window,
            trigger: Trigger::Threshold,
        };
        pass.run(methods, tokens).await
    }

    /// A reply that finished what was asked needs no continuation; one that was on its way goes on.
    fn continuation(&self, last: &AssistantMessage, options: &Options) -> Option<Continuation> {
        if !options.auto_continue || is_final_answer(last) {
            return None;
        }
        Some(Continuation::Prompt(self.wiring.prompts.text(Prompt::AutoContinue).to_owned()))
    }
}

/// How a pass ended.
pub(crate) enum Ended {
    /// A compaction was committed.
    Landed { has_headroom: bool },
    /// There is nothing that could be cut.
    NothingToCut,
    /// No method could run, all failed, or the pass was stopped.
    Nothing,
}

/// One automatic pass.
pub(crate) struct Automatic<'a> {
    pub(crate) maintainer: &'a Maintainer,
    pub(crate) session: &'a SessionHandle,
    pub(crate) cancel: &'a CancellationToken,
    options: &'a Options,
    window: u64,
    pub(crate) trigger: Trigger,
}

impl Automatic<'_> {
    /// Tries the methods in order until one lands. Each try is one pair of events. A result that cannot be committed ends the pass:
    /// what the next method makes of the same branch could not be committed either, and might cost as much again.
    async fn run(&self, methods: Vec<Arc<dyn CompactionMethod>>, tokens_before: u64) -> Ended {
        let Some(first) = methods.first() else { return Ended::Nothing };
        let Some(start) = self.maintainer.start(self.session) else {
            return self.without_cut(&first.id(), &methods, tokens_before).await;
        };
        let job = self.maintainer.job(&start, self.trigger, None).await;
        let started_at = self.maintainer.wiring.clock.now_millis();
        let mut pass = Pass {
            start,
            trigger: self.trigger,
            tokens_before,
            attempts: Vec::new(),
            started_at,
            frames: self.maintainer.wiring.frames.clone(),
        };
        let usable = self.usable(methods, &job, &mut pass).await;
        for (position, method) in usable.iter().enumerate() {
            let next = usable.get(position + 1).map(|method| method.id());
            match self.attempt(&**method, &job, &pass).await {
                Ok(landed) if self.has_headroom(&landed) => {
                    return self.landed(&method.id(), landed).await;
                }
                Ok(landed) => {
                    let landed = self.rescue(&usable).await.unwrap_or(landed);
                    return self.landed(&method.id(), landed).await;
                }
                Err(Failure::Cancelled) => {
                    self.end(&method.id(), None, true, None, false).await;
                    return Ended::Nothing;
                }
                Err(Failure::Failed(cause)) => {
                    self.failed(&method.id(), &cause, next.as_ref()).await;
                    pass.failed(method.id(), cause);
                }
                Err(Failure::Uncommitted(cause)) => {
                    self.failed(&method.id(), &cause, None).await;
                    return Ended::Nothing;
                }
            }
        }
        Ended::Nothing
    }

    /// The methods that can run. The others are named once, with the reason.
    async fn usable(
        &self,
        methods: Vec<Arc<dyn CompactionMethod>>,
        job: &Job,
        pass: &mut Pass,
    ) -> Vec<Arc<dyn CompactionMethod>> {
        let mut usable = Vec::new();
        for method in methods {
            match method.usable(job) {
                Ok(()) => usable.push(method),
                Err(skip) => {
                    let (method, reason) = (method.id(), skip.to_string());
                    pass.skipped(method.clone(), reason.clone());
                    self.session
                        .emit(SessionEvent::MaintenanceMethodSkipped { method, reason })
                        .await;
                }
            }
        }
        usable
    }

    async fn attempt(
        &self,
        method: &dyn CompactionMethod,
        job: &Job,
        pass: &Pass,
    ) -> Result<Landed, Failure> {
        self.emit_start(&method.id()).await;
        let outcome = match progress::run(method, job, self.session, self.cancel).await {
            Ok(outcome) => outcome,
            Err(error) => {
                if let MethodError::Blocked(why) = &error {
                    notices::blocked(self.session, &method.id(), why).await;
                }
                return Err(error.into());
            }
        };
        if self.cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let now = self.maintainer.wiring.clock.now_millis();
        pass.commit(self.session, &method.id(), outcome, now, Some(self.recovery_band()))
            .await
            .map_err(|error| Failure::Uncommitted(error_chain(&error)))
    }

    async fn landed(&self, method: &MethodId, landed: Landed) -> Ended {
        let has_headroom = self.has_headroom(&landed);
        self.end(method, Some(landed.result), false, None, false).await;
        if !has_headroom {
            self.no_progress(landed.tokens_after).await;
        }
        Ended::Landed { has_headroom }
    }

    async fn failed(&self, method: &MethodId, cause: &str, next: Option<&MethodId>) {
        let prefix = error_prefix(self.trigger);
        let message = match next {
            Some(next) => format!("{prefix}{cause}; trying `{next}` next"),
            None => format!("{prefix}{cause}"),
        };
        self.end(method, None, false, Some(message), next.is_some()).await;
    }

    /// Nothing can be cut; perhaps what an earlier compaction left can be made smaller.
    async fn without_cut(
        &self,
        method: &MethodId,
        methods: &[Arc<dyn CompactionMethod>],
        tokens: u64,
    ) -> Ended {
        self.emit_start(method).await;
        if let Some(landed) = self.rescue(methods).await {
            return self.landed(method, landed).await;
        }
        if self.cancel.is_cancelled() {
            self.end(method, None, true, None, false).await;
            return Ended::Nothing;
        }
        self.session
            .emit(SessionEvent::AutoCompactionEnd {
                action: order::action(method),
                result: None,
                aborted: false,
                will_retry: false,
                error_message: None,
                skipped: true,
                fallback: false,
            })
            .await;
        self.no_progress(tokens).await;
        Ended::NothingToCut
    }

    async fn no_progress(&self, tokens: u64) {
        let message = format!(
            "the context holds {tokens} of {} tokens and cannot be made shorter: shorten large tool output, attach fewer images, \
             or use a model with a larger window",
            self.window
        );
        notices::warn(self.session, "no_progress", message).await;
    }

    async fn emit_start(&self, method: &MethodId) {
        let action = order::action(method);
        self.session.emit(SessionEvent::AutoCompactionStart { reason: self.trigger, action }).await;
    }

    async fn end(
        &self,
        method: &MethodId,
        result: Option<CompactionResult>,
        aborted: bool,
        error_message: Option<String>,
        fallback: bool,
    ) {
        let event = SessionEvent::AutoCompactionEnd {
            action: order::action(method),
            result,
            aborted,
            will_retry: false,
            error_message,
            skipped: false,
            fallback,
        };
        self.session.emit(event).await;
    }

    fn has_headroom(&self, landed: &Landed) -> bool {
        landed.tokens_after <= self.recovery_band()
    }

    pub(crate) fn recovery_band(&self) -> u64 {
        threshold::Bands::new(self.window, self.options).recovery
    }
}

/// Why a try did not land.
enum Failure {
    Cancelled,
    /// The method made nothing.
    Failed(String),
    /// The session did not take what the method made.
    Uncommitted(String),
}

impl From<MethodError> for Failure {
    fn from(error: MethodError) -> Self {
        match error {
            MethodError::Cancelled => Self::Cancelled,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// What an error says, with its causes.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// How the message of a failed pass begins. The words are fixed: other programs look for them.
fn error_prefix(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Overflow => "Context overflow recovery failed: ",
        Trigger::Incomplete => "Incomplete response recovery failed: ",
        Trigger::Threshold | Trigger::Idle => "Auto-compaction failed: ",
        Trigger::Manual => "Compaction failed: ",
    }
}

/// Whether a reply is an answer in words and nothing else, so that nothing is left to go on with.
fn is_final_answer(message: &AssistantMessage) -> bool {
    let has_words = |block: &Block| block.as_text().is_some_and(|text| !text.trim().is_empty());
    let is_silent = |block: &Block| {
        matches!(
            block,
            Block::Text(_) | Block::Thinking(_) | Block::RedactedThinking(_) | Block::ServerTool(_)
        )
    };
    message.stop_reason == StopReason::Stop
        && message.content.iter().any(has_words)
        && message.content.iter().all(is_silent)
}
