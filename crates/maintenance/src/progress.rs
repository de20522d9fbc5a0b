//! Runs a method and passes its news on to the session.

use longhand_agent::SessionEvent;
use longhand_agent::compaction::{
    CompactionMethod, Job, MethodError, Outcome, Progress, ProgressStep,
};
use longhand_agent::handle::SessionHandle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Runs a method. When news comes faster than the session takes it, only the newest is passed on.
pub(crate) async fn run(
    method: &dyn CompactionMethod,
    job: &Job,
    session: &SessionHandle,
    cancel: &CancellationToken,
) -> Result<Outcome, MethodError> {
    let (sender, mut news) = watch::channel(None);
    let reporter = Reporter(sender);
    let mut running = method.run(job, &reporter, cancel);
    loop {
        tokio::select! {
            biased;
            outcome = &mut running => return outcome,
            Ok(()) = news.changed() => {
                let step = news.borrow_and_update().clone();
                if let Some(step) = step {
                    session.emit(SessionEvent::MaintenanceProgress { method: method.id(), step }).await;
                }
            }
        }
    }
}

struct Reporter(watch::Sender<Option<ProgressStep>>);

impl Progress for Reporter {
    fn report(&self, step: ProgressStep) {
        self.0.send_replace(Some(step));
    }
}
