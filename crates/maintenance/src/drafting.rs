//! From what a method made to a commit: the projected size, the record of the pass, and the warning when it helped too little.

use std::time::Duration;

use longhand_agent::commit::{Change, Commit, CommitError, CompactionDraft, Expect};
use longhand_agent::compaction::{CompactionResult, Outcome, Trigger};
use longhand_agent::handle::SessionHandle;
use longhand_agent::live::Frames;
use longhand_agent::maintenance::{Attempt, MaintenanceRecord};
use longhand_compaction::projection::{self, Scale};
use longhand_session::archive::FrameSource;
use longhand_session::usage::Cost;
use longhand_session::{MethodId, Usage};

use crate::maintainer::Start;

/// What a pass has done so far.
pub(crate) struct Pass {
    pub(crate) start: Start,
    pub(crate) trigger: Trigger,
    /// Size of the context when the pass began, in tokens.
    pub(crate) tokens_before: u64,
    /// Methods that were passed over.
    pub(crate) attempts: Vec<Attempt>,
    /// Milliseconds since the epoch.
    pub(crate) started_at: i64,
    /// Where frames lie that archives only refer to.
    pub(crate) frames: Option<Frames>,
}

/// What a commit left behind.
pub(crate) struct Landed {
    pub(crate) result: CompactionResult,
    pub(crate) tokens_after: u64,
}

impl Pass {
    pub(crate) fn skipped(&mut self, method: MethodId, reason: String) {
        self.attempts.push(Attempt { method, skip: Some(reason), error: None });
    }

    pub(crate) fn failed(&mut self, method: MethodId, error: String) {
        self.attempts.push(Attempt { method, skip: None, error: Some(error) });
    }

    /// Commits what a method made. `warning_over` is the size, in tokens, above which the compaction carries a warning.
    pub(crate) async fn commit(
        &self,
        session: &SessionHandle,
        method: &MethodId,
        outcome: Outcome,
        now: i64,
        warning_over: Option<u64>,
    ) -> Result<Landed, CommitError> {
        let mut result = match outcome {
            Outcome::Entry(result) => result,
            Outcome::Patch(patch) => return self.commit_patch(session, patch).await,
        };
        result.tokens_before = self.tokens_before;
        let tokens_after = self.project(&result);
        let warning = warning_over
            .filter(|limit| tokens_after > *limit)
            .map(|limit| too_little(self.tokens_before, tokens_after, limit));
        let draft = CompactionDraft {
            result: result.clone(),
            method: Some(method.clone()),
            from_extension: false,
            tokens_after: Some(tokens_after),
            warning,
            record: Some(self.record(method, &result, tokens_after, now)),
        };
        session.commit(self.expecting(Change::Compaction(Box::new(draft)))).await?;
        Ok(Landed { result, tokens_after })
    }

    async fn commit_patch(
        &self,
        session: &SessionHandle,
        patch: longhand_agent::commit::PatchSet,
    ) -> Result<Landed, CommitError> {
        session.commit(self.expecting(Change::Patch(patch))).await?;
        let tokens_after = crate::measure::stored(&session.snapshot(), &session.live());
        let result =
            CompactionResult { tokens_before: self.tokens_before, ..CompactionResult::default() };
        Ok(Landed { result, tokens_after })
    }

    /// A change that lands only on the branch that the pass began with.
    fn expecting(&self, change: Change) -> Commit {
        let branch = &self.start.branch;
        let expect = Expect {
            leaf_prefix: branch.leaf.clone(),
            epoch: Some(branch.epoch),
            generation: Some(branch.generation),
        };
        Commit { expect, change }
    }

    fn project(&self, result: &CompactionResult) -> u64 {
        let counter = self.start.live.counter();
        let Start { branch, live, preparation } = &self.start;
        let frames = self.frames.as_deref().map(|frames| frames as &dyn FrameSource);
        let scale = Scale { frames, ..Scale::new(&*counter, live.non_message_tokens) };
        projection::project(branch, preparation, result, &scale)
    }

    fn record(
        &self,
        method: &MethodId,
        result: &CompactionResult,
        tokens_after: u64,
        now: i64,
    ) -> MaintenanceRecord {
        let duration =
            Duration::from_millis(now.saturating_sub(self.started_at).max(0).unsigned_abs());
        MaintenanceRecord {
            kind: "compaction".into(),
            entry_id: None,
            trigger: self.trigger,
            method: method.clone(),
            attempts: self.attempts.clone(),
            tokens_before: self.tokens_before,
            tokens_after,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            model: result.spent.first().map(|spent| spent.model.clone()),
            usage: sum(result),
        }
    }
}

/// All requests of a pass together; `None` where nothing was asked.
fn sum(result: &CompactionResult) -> Option<Usage> {
    let mut spent = result.spent.iter().map(|spent| &spent.usage);
    let mut total = spent.next()?.clone();
    for usage in spent {
        total.input = total.input.saturating_add(usage.input);
        total.output = total.output.saturating_add(usage.output);
        total.cache_read = total.cache_read.saturating_add(usage.cache_read);
        total.cache_write = total.cache_write.saturating_add(usage.cache_write);
        total.total_tokens = total.total_tokens.saturating_add(usage.total_tokens);
        if let Some(cost) = &usage.cost {
            add_cost(total.cost.get_or_insert_default(), cost);
        }
    }
    Some(total)
}

fn add_cost(total: &mut Cost, cost: &Cost) {
    total.input.0 += cost.input.0;
    total.output.0 += cost.output.0;
    total.cache_read.0 += cost.cache_read.0;
    total.cache_write.0 += cost.cache_write.0;
    total.total.0 += cost.total.0;
}

fn too_little(before: u64, after: u64, limit: u64) -> String {
    format!(
        "still {after} tokens of {before} after the compaction, over {limit}: shorten large tool output, attach fewer images, \
         or use a model with a larger window"
    )
}
