//! The pass that the user asks for.

use std::sync::Arc;

use longhand_agent::SessionEvent;
use longhand_agent::branch::Branch;
use longhand_agent::compaction::{
    CompactionMethod, CompactionResult, Job, MethodError, Skip, Trigger,
};
use longhand_agent::handle::SessionHandle;
use longhand_agent::maintenance::{MaintenanceError, ManualRequest};
use longhand_session::store::EntryTag;
use tokio_util::sync::CancellationToken;

use crate::automatic::error_chain;
use crate::drafting::Pass;
use crate::maintainer::Maintainer;
use crate::{measure, notices, order, progress};

impl Maintainer {
    /// Compacts now, whatever the size of the context. Says what it does through its answer and through news of the method; the
    /// events of automatic passes are not used.
    pub(crate) async fn compact_manually(
        &self,
        session: &SessionHandle,
        request: ManualRequest,
        cancel: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError> {
        let Some(_claim) = self.claim() else { return Err(MaintenanceError::Busy) };
        let methods = order::manual(&self.wiring.methods, &self.options(), &request)?;
        let Some(start) = self.start(session) else {
            return Err(nothing_to_do(&session.snapshot()));
        };
        let tokens_before =
            measure::stored(&start.branch, &start.live).max(start.preparation.tokens_before);
        let job = self.job(&start, Trigger::Manual, request.focus).await;
        let started_at = self.wiring.clock.now_millis();
        let pass = Pass {
            start,
            trigger: Trigger::Manual,
            tokens_before,
            attempts: Vec::new(),
            started_at,
            frames: self.wiring.frames.clone(),
        };
        self.first_that_lands(session, &methods, &job, pass, cancel).await
    }

    async fn first_that_lands(
        &self,
        session: &SessionHandle,
        methods: &[Arc<dyn CompactionMethod>],
        job: &Job,
        mut pass: Pass,
        cancel: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError> {
        let mut last_failure = None;
        for method in methods {
            let id = method.id();
            if let Err(skip) = method.usable(job) {
                let reason = skip.to_string();
                pass.skipped(id.clone(), reason.clone());
                last_failure.get_or_insert(MaintenanceError::NoMethod(reason.clone()));
                if let (Skip::NeedsVision(_), true) = (&skip, methods.len() == 1) {
                    notices::warn(session, &format!("{id}_needs_vision"), reason.clone()).await;
                }
                session.emit(SessionEvent::MaintenanceMethodSkipped { method: id, reason }).await;
                continue;
            }
            if let Some(MaintenanceError::Failed(cause)) = &last_failure {
                let message = format!("{cause}; trying the next method");
                notices::warn(session, "method_failed", message).await;
            }
            let outcome = match progress::run(&**method, job, session, cancel).await {
                _ if cancel.is_cancelled() => return Err(MaintenanceError::Cancelled),
                Err(MethodError::Cancelled) => return Err(MaintenanceError::Cancelled),
                Err(error) => {
                    if let MethodError::Blocked(why) = &error {
                        notices::blocked(session, &id, why).await;
                    }
                    pass.failed(id, error.to_string());
                    last_failure = Some(MaintenanceError::Failed(error.to_string()));
                    continue;
                }
                Ok(outcome) => outcome,
            };
            let now = self.wiring.clock.now_millis();
            let landed = pass.commit(session, &id, outcome, now, None).await;
            return landed
                .map(|landed| landed.result)
                .map_err(|error| MaintenanceError::Failed(error_chain(&error)));
        }
        Err(last_failure.unwrap_or(MaintenanceError::NoModel))
    }
}

/// Why there is nothing to cut of a branch that cannot be prepared. What a process writes about itself does not count as work since
/// the last compaction.
pub fn nothing_to_do(branch: &Branch) -> MaintenanceError {
    let is_bookkeeping =
        |entry: &longhand_session::Entry| EntryTag::of(&entry.kind) == EntryTag::Bookkeeping;
    let newest = branch.entries.iter().rev().find(|entry| !is_bookkeeping(entry));
    match newest {
        Some(entry) if entry.compaction().is_some() => MaintenanceError::AlreadyCompacted,
        _ => MaintenanceError::TooSmall,
    }
}
