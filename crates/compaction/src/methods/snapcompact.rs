//! The method `snapcompact`: older history becomes text edges and printed frames, which a model with eyes reads.
//!
//! Needs no model and no network, and gives the same bytes for the same history. Nothing is made that would not make the context
//! smaller, or that a request could not carry.

mod attempt;

use std::sync::Arc;

use async_trait::async_trait;
use longhand_agent::CompactionMethod;
use longhand_agent::compaction::{
    CompactionResult, FocusUse, Job, ManualUse, MethodError, MethodTraits, Needs, Outcome, Plan,
    Preparation, Progress, ProgressStep, Skip,
};
use longhand_agent::live::Frames;
use longhand_prompts::Prompts;
use longhand_session::archive::{Archive, BLOB_PREFIX};
use longhand_session::{Entry, MethodId};
use longhand_snapcompact::Renderer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::options::Options;
use attempt::Attempt;

/// Name of the method.
const ID: &str = "snapcompact";

/// Older history becomes text edges and printed frames.
pub struct SnapcompactMethod {
    options: watch::Receiver<Arc<Options>>,
    prompts: Arc<Prompts>,
    renderer: Renderer,
    frames: Option<Frames>,
}

impl SnapcompactMethod {
    /// Prints with `renderer`, with the options in force when a pass starts. `frames` is where frames of earlier archives lie that
    /// are only referred to.
    pub fn new(
        options: watch::Receiver<Arc<Options>>,
        prompts: Arc<Prompts>,
        renderer: Renderer,
        frames: Option<Frames>,
    ) -> Self {
        Self { options, prompts, renderer, frames }
    }

    fn attempt(&self, job: &Job, preparation: Arc<Preparation>) -> Attempt {
        Attempt {
            options: self.options.borrow().clone(),
            prompts: self.prompts.clone(),
            renderer: self.renderer.clone(),
            frames: self.frames.clone(),
            job: job.clone(),
            preparation: self.with_present_frames(preparation),
        }
    }

    /// A preparation whose earlier archive refers only to frames that are there, so that the others are drawn again from their text.
    fn with_present_frames(&self, preparation: Arc<Preparation>) -> Arc<Preparation> {
        let before = preparation.previous_preserve_data.as_ref();
        let (Some(source), Some(data)) = (&self.frames, before) else { return preparation };
        let Some(mut archive) = Archive::read(data) else { return preparation };
        let count = archive.frames.len();
        archive.frames.retain(|frame| {
            !frame.data.starts_with(BLOB_PREFIX) || source.encoded_bytes(&frame.data).is_some()
        });
        if archive.frames.len() == count {
            return preparation;
        }
        let previous_preserve_data = Some(archive.write(Some(data)));
        Arc::new(Preparation { previous_preserve_data, ..(*preparation).clone() })
    }
}

#[async_trait]
impl CompactionMethod for SnapcompactMethod {
    fn id(&self) -> MethodId {
        ID.into()
    }

    fn traits(&self) -> MethodTraits {
        MethodTraits {
            needs: Needs::Vision,
            prepares: true,
            may_speculate: false,
            adds_images: true,
            focus: FocusUse::Refused,
            manual: ManualUse::InOrder,
        }
    }

    fn usable(&self, job: &Job) -> Result<(), Skip> {
        if job.model.has_vision() {
            Ok(())
        } else {
            Err(Skip::NeedsVision(job.model.reference().to_string()))
        }
    }

    async fn plan(&self, job: &Job) -> Result<Plan, MethodError> {
        let made = computed(self.attempt(job, prepared(job)?), Attempt::make).await?;
        Ok(Plan { tokens_after: Some(made.tokens), is_exact: true, frames: made.frames })
    }

    async fn run(
        &self,
        job: &Job,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Outcome, MethodError> {
        let attempt = self.attempt(job, prepared(job)?);
        progress.report(ProgressStep {
            phase: "printing history".to_owned(),
            done: None,
            total: None,
            detail: String::new(),
        });
        tokio::select! {
            // What is being drawn is thrown away: nothing was written.
            () = cancel.cancelled() => Err(MethodError::Cancelled),
            made = computed(attempt, Attempt::make) => Ok(Outcome::Entry(made?.result)),
        }
    }

    async fn shrink(
        &self,
        job: &Job,
        room_tokens: u64,
    ) -> Result<Option<CompactionResult>, MethodError> {
        let Some(preparation) = left_behind(job) else { return Ok(None) };
        let attempt = self.attempt(job, Arc::new(preparation));
        let made = computed(attempt, move |attempt| attempt.shrink(room_tokens)).await?;
        Ok(made.map(|made| made.result))
    }
}

/// The preparation of a job that can be worked on.
fn prepared(job: &Job) -> Result<Arc<Preparation>, MethodError> {
    let blocked = |why: &str| MethodError::Blocked(why.into());
    let preparation =
        job.preparation.clone().ok_or_else(|| blocked("there is nothing to archive"))?;
    if preparation.first_kept_entry_id == "" {
        return Err(blocked("First kept entry has no ID - session may need migration"));
    }
    Ok(preparation)
}

/// The newest compaction of a branch, as if it were made again with nothing new; `None` unless this method made it, and with at
/// least two frames.
fn left_behind(job: &Job) -> Option<Preparation> {
    let entry: &Arc<Entry> = job.branch.latest_compaction()?;
    let compaction = entry.compaction().filter(|made| made.method.as_deref() == Some(ID))?;
    let archive = compaction.preserve_data.as_ref().and_then(Archive::read)?;
    if archive.frames.len() < 2 {
        return None;
    }
    let mut files = longhand_session::FileOperations::default();
    if let Some(details) = &compaction.details {
        files.add_details(details);
    }
    let after_summary = |message: &&Arc<longhand_session::Message>| {
        !matches!(***message, longhand_session::Message::CompactionSummary(_))
    };
    Some(Preparation {
        first_kept_entry_id: compaction.first_kept_entry_id.clone(),
        recent_messages: job.branch.live.iter().filter(after_summary).cloned().collect(),
        tokens_before: compaction.tokens_before,
        previous_preserve_data: compaction.preserve_data.clone(),
        file_operations: files,
        ..Preparation::default()
    })
}

/// Runs what takes the processor where it does not hold up anybody.
async fn computed<T: Send + 'static>(
    attempt: Attempt,
    work: impl FnOnce(&Attempt) -> Result<T, MethodError> + Send + 'static,
) -> Result<T, MethodError> {
    let done = tokio::task::spawn_blocking(move || work(&attempt)).await;
    done.unwrap_or_else(|error| Err(failed(&error)))
}

fn failed(error: &dyn std::error::Error) -> MethodError {
    MethodError::Blocked(format!("the history cannot be printed: {error}"))
}
