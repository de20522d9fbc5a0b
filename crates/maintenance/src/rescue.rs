//! When nothing is left to cut: what an earlier compaction left behind is made smaller.

use std::sync::Arc;

use longhand_agent::compaction::{CompactionMethod, CompactionResult, Outcome, Preparation};
use longhand_session::{Message, MethodId};

use crate::automatic::{Automatic, Ended};
use crate::drafting::{Landed, Pass};
use crate::maintainer::Start;
use crate::notices;

impl Automatic<'_> {
    /// Lets the methods make smaller what the newest compaction left. `None` where none of them can.
    pub(crate) async fn rescue(&self, methods: &[Arc<dyn CompactionMethod>]) -> Option<Ended> {
        let pass = self.rescue_pass()?;
        let mut job = self.maintainer.job(&pass.start, self.trigger, None).await;
        job.preparation = None;
        for method in methods.iter().filter(|method| method.usable(&job).is_ok()) {
            match method.shrink(&job, self.recovery_band()).await {
                Ok(Some(result)) => {
                    return Some(self.commit_rescue(&pass, &method.id(), result).await);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, method = %method.id(), "nothing was made smaller");
                }
            }
        }
        None
    }

    /// A pass over what is kept since the newest compaction.
    fn rescue_pass(&self) -> Option<Pass> {
        let (branch, live) = (self.session.snapshot(), self.session.live());
        let entry = branch.latest_compaction()?.compaction()?.clone();
        let is_kept =
            |message: &&Arc<Message>| !matches!(***message, Message::CompactionSummary(_));
        let preparation = Preparation {
            first_kept_entry_id: entry.first_kept_entry_id.clone(),
            recent_messages: branch.live.iter().filter(is_kept).cloned().collect(),
            tokens_before: entry.tokens_before,
            ..Preparation::default()
        };
        Some(Pass {
            start: Start { branch, live, preparation: Arc::new(preparation) },
            trigger: self.trigger,
            tokens_before: entry.tokens_before,
            attempts: Vec::new(),
            started_at: self.maintainer.wiring.clock.now_millis(),
            frames: self.maintainer.wiring.frames.clone(),
        })
    }

    async fn commit_rescue(
        &self,
        pass: &Pass,
        method: &MethodId,
        result: CompactionResult,
    ) -> Ended {
        self.emit_start(method).await;
        let now = self.maintainer.wiring.clock.now_millis();
        let outcome = Outcome::Entry(result);
        let band = Some(self.recovery_band());
        match pass.commit(self.session, method, outcome, now, band).await {
            Ok(landed) => {
                self.tell_rescued(&landed).await;
                self.landed(method, landed).await
            }
            Err(error) => {
                self.failed(method, &crate::automatic::error_chain(&error), None).await;
                Ended::Nothing
            }
        }
    }

    async fn tell_rescued(&self, landed: &Landed) {
        let message = format!(
            "the archive of earlier history was made smaller: the context holds {} tokens now",
            landed.tokens_after
        );
        notices::inform(self.session, "rescued", message).await;
    }
}
