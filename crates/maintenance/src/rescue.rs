//! When a context cannot be made shorter by cutting: what an earlier compaction left behind is made smaller.
//!
//! Says nothing of its own start and end: it is a part of the pass that came to a dead end.

use std::sync::Arc;

use longhand_agent::compaction::{CompactionMethod, CompactionResult, Outcome, Preparation};
use longhand_session::{Message, MethodId};

use crate::automatic::Automatic;
use crate::drafting::{Landed, Pass};
use crate::maintainer::Start;
use crate::notices;

impl Automatic<'_> {
    /// Lets the methods make smaller what the newest compaction left. `None` where none of them can.
    pub(crate) async fn rescue(&self, methods: &[Arc<dyn CompactionMethod>]) -> Option<Landed> {
        let pass = self.rescue_pass()?;
        let mut job = self.maintainer.job(&pass.start, self.trigger, None).await;
        job.preparation = None;
        for method in methods.iter().filter(|method| method.usable(&job).is_ok()) {
            let shrunk = tokio::select! {
                () = self.cancel.cancelled() => return None,
                shrunk = method.shrink(&job, self.recovery_band()) => shrunk,
            };
            match shrunk {
                Ok(Some(result)) => {
                    return self.commit_rescue(&pass, &method.id(), result).await;
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
    ) -> Option<Landed> {
        let now = self.maintainer.wiring.clock.now_millis();
        let band = Some(self.recovery_band());
        match pass.commit(self.session, method, Outcome::Entry(result), now, band).await {
            Ok(landed) => {
                let message = format!(
                    "the archive of earlier history was made smaller: the context holds {} tokens now",
                    landed.tokens_after
                );
                notices::inform(self.session, "rescued", message).await;
                Some(landed)
            }
            Err(error) => {
                tracing::warn!(%error, %method, "a smaller archive was not written");
                None
            }
        }
    }
}
