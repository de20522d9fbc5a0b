//! Passes that the user asked for, as their owner sees them.
//!
//! Such a pass has the session to itself: a turn that is going on is stopped first and resumed after, and prompts wait.

use std::sync::Arc;

use futures::FutureExt;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::runs::RunRecord;
use super::{Activity, Owner};
use crate::compaction::CompactionResult;
use crate::mail::{Mail, panic_text};
use crate::maintenance::{MaintenanceError, ManualRequest};

type PassReply = oneshot::Sender<Result<CompactionResult, MaintenanceError>>;

/// A pass that was asked for.
pub(super) struct Requested {
    request: ManualRequest,
    reply: PassReply,
    pub(super) cancel: CancellationToken,
    /// Whether it stopped a turn that the user was waiting for.
    pub(super) interrupts_turn: bool,
}

/// A pass that is going on.
pub(super) struct ActivePass {
    pub(super) cancel: CancellationToken,
    reply: PassReply,
    /// The run that it interrupted.
    interrupted: Option<Interrupted>,
}

struct Interrupted {
    record: RunRecord,
    is_unanswered: bool,
}

impl Owner {
    pub(super) fn compact(&mut self, request: ManualRequest, reply: PassReply) {
        let checked = self.surroundings.maintenance.check(&request);
        let cancel = CancellationToken::new();
        let requested = Requested { request, reply, cancel, interrupts_turn: false };
        if let Err(error) = checked {
            return refuse(requested, error);
        }
        match &mut self.state.activity {
            _ if self.state.is_closing => refuse(requested, MaintenanceError::Closed),
            Activity::Pass(_) => refuse(requested, MaintenanceError::Busy),
            Activity::Run(run) if run.then.is_some() => refuse(requested, MaintenanceError::Busy),
            Activity::Run(run) => {
                let interrupts_turn = run.is_unanswered();
                self.stop_everything();
                if let Activity::Run(run) = &mut self.state.activity {
                    run.then = Some(Requested { interrupts_turn, ..requested });
                }
            }
            Activity::Nobody => self.start_pass(requested, None),
        }
    }

    /// Starts a pass; a run that was stopped for it has ended.
    pub(super) fn start_pass(&mut self, requested: Requested, stopped: Option<RunRecord>) {
        let Some((postbox, session)) = self.postbox().zip(self.handle()) else { return };
        let Requested { request, reply, cancel, interrupts_turn } = requested;
        let interrupted = stopped.map(|record| Interrupted {
            record,
            is_unanswered: interrupts_turn && !self.branch.ends_with_answer(),
        });
        self.state.activity =
            Activity::Pass(ActivePass { cancel: cancel.clone(), reply, interrupted });
        let maintenance = Arc::clone(&self.surroundings.maintenance);
        tokio::spawn(async move {
            let pass = async {
                if cancel.is_cancelled() {
                    return Err(MaintenanceError::Cancelled);
                }
                maintenance.compact(&session, request, &cancel).await
            };
            let result = std::panic::AssertUnwindSafe(pass).catch_unwind().await;
            let result = result.unwrap_or_else(|panic| {
                Err(MaintenanceError::Failed(format!("a defect: {}", panic_text(&*panic))))
            });
            postbox.send(Mail::PassEnded(result)).await;
        });
    }

    /// Ends a pass. The session goes to a prompt that waits, else to queued input, else back to the turn that was interrupted.
    pub(super) async fn end_pass(&mut self, result: Result<CompactionResult, MaintenanceError>) {
        let Activity::Pass(pass) = std::mem::take(&mut self.state.activity) else { return };
        let is_fine = result.as_ref().map_or_else(MaintenanceError::is_noop, |_| true);
        let may_resume = is_fine && !self.state.is_closing;
        let _ = pass.reply.send(result);
        let others_wait = !self.state.waiting.is_empty() || !self.state.queue.is_empty();
        if let Some(Interrupted { record, is_unanswered }) = pass.interrupted {
            let how = self.surroundings.maintenance.resume();
            match how.filter(|_| is_unanswered && may_resume && !others_wait) {
                Some(how) => return self.resume_run(record, how).await,
                None => self.tell_end(record),
            }
        }
        if self.state.is_closing {
            return;
        }
        if self.state.waiting.is_empty() {
            self.start_queued().await;
        } else {
            self.start_waiting().await;
        }
    }

    /// Starts a run with queued input, if there is any.
    async fn start_queued(&mut self) {
        let mut inputs = self.state.queue.take_steering();
        if inputs.is_empty() {
            inputs.extend(self.state.queue.take_follow_up());
        }
        if !inputs.is_empty() {
            self.emit_queue();
            self.start_run(inputs, None).await;
        }
    }
}

fn refuse(requested: Requested, error: MaintenanceError) {
    let _ = requested.reply.send(Err(error));
}
