//! The method `soft`: a model writes notes on the older history, and the notes take its place.
//!
//! Works with every model that answers. Of a turn that the cut splits, the dropped start gets notes of its own, written side by
//! side with those on the history. Nothing is made unless every summary that the model will read was made.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future;
use longhand_agent::compaction::{
    CompactionResult, FocusUse, Job, ManualUse, MethodError, MethodTraits, Needs, Outcome, Plan,
    Preparation, Progress, Skip,
};
use longhand_agent::{CompactionMethod, ErrorKind, ModelClient, ModelError};
use longhand_prompts::Prompts;
use longhand_session::archive::{self, Archive};
use longhand_session::{Json, Message, MethodId, file_lists, llm, pairing};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::options::Options;
use crate::projection::{self, Scale};
use crate::summary::{Caps, Failure, Material, Patience, Summarizer, Tally, Task, headline};

/// Stands for a history that does not exist.
const NO_HISTORY: &str = "No prior history.";

/// Between the notes on the history and those on the start of a split turn.
const TURN_SEPARATOR: &str = "\n\n---\n\n**Turn Context (split turn):**\n\n";

/// Payloads with which a provider replaced history. They do not go on beside a summary.
const NATIVE_SLOTS: [&str; 2] = ["openaiRemoteCompaction", "anthropicCompaction"];

/// A model writes notes on the older history, and the notes take its place.
pub struct SoftMethod {
    options: watch::Receiver<Arc<Options>>,
    prompts: Arc<Prompts>,
}

impl SoftMethod {
    /// Summarizes with the options in force when a pass starts.
    pub fn new(options: watch::Receiver<Arc<Options>>, prompts: Arc<Prompts>) -> Self {
        Self { options, prompts }
    }
}

#[async_trait]
impl CompactionMethod for SoftMethod {
    fn id(&self) -> MethodId {
        "soft".into()
    }

    fn traits(&self) -> MethodTraits {
        MethodTraits {
            needs: Needs::Model,
            prepares: true,
            may_speculate: true,
            adds_images: false,
            focus: FocusUse::Taken,
            manual: ManualUse::InOrder,
        }
    }

    fn usable(&self, job: &Job) -> Result<(), Skip> {
        if job.candidates.is_empty() { Err(Skip::NoModel) } else { Ok(()) }
    }

    async fn plan(&self, job: &Job) -> Result<Plan, MethodError> {
        let preparation = prepared(job)?;
        let client = job.candidates.first().ok_or_else(no_model)?;
        let caps = Caps::new(client.model(), &self.options.borrow());
        let prefix_cap =
            if preparation.turn_prefix_messages.is_empty() { 0 } else { caps.turn_prefix };
        let without_notes = finished(preparation, "", None);
        let counter = client.counter();
        let scale = Scale::new(&*counter, job.non_message_tokens);
        let tokens = projection::project(&job.branch, preparation, &without_notes, &scale);
        Ok(Plan {
            tokens_after: Some(tokens + caps.history + prefix_cap),
            is_exact: false,
            frames: 0,
        })
    }

    async fn run(
        &self,
        job: &Job,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Outcome, MethodError> {
        let preparation = prepared(job)?;
        let options = self.options.borrow().clone();
        let sources = Sources::new(preparation, &self.prompts);
        let tally = Tally::default();
        let mut last = None;
        for (at, client) in job.candidates.iter().enumerate() {
            let has_other_candidate = at + 1 < job.candidates.len();
            let summarizer = Summarizer {
                client,
                prompts: &self.prompts,
                caps: Caps::new(client.model(), &options),
                thinking: job.thinking,
                cache_key: format!("{}:compaction", job.branch.session).into(),
                patience: Patience::new(job.trigger, has_other_candidate, &options),
                progress,
                cancel,
                tally: &tally,
            };
            match sources.compact(job, preparation, &summarizer).await {
                Ok(result) => return Ok(Outcome::Entry(result)),
                Err(failure) if may_try_another(&failure) => last = Some(named(failure, client)),
                Err(failure) => return Err(failure.into()),
            }
        }
        Err(last.map_or_else(no_model, MethodError::from))
    }
}

/// The preparation of a job that can be worked on.
fn prepared(job: &Job) -> Result<&Preparation, MethodError> {
    let blocked = |why: &str| MethodError::Blocked(why.into());
    let preparation =
        job.preparation.as_deref().ok_or_else(|| blocked("there is nothing to summarize"))?;
    if preparation.first_kept_entry_id == "" {
        return Err(blocked("First kept entry has no ID - session may need migration"));
    }
    Ok(preparation)
}

fn no_model() -> MethodError {
    let source = ModelError::new(ErrorKind::AuthFailed, "no available model");
    MethodError::Failed { context: "Compaction failed", source }
}

/// Whether another model may do what this one did not. A reply that was refused for what it says, or a request for what it
/// holds, is not sent to one service after the other.
fn may_try_another(failure: &Failure) -> bool {
    match failure {
        Failure::Cancelled => false,
        Failure::Model { error, .. } => {
            [ErrorKind::AuthFailed, ErrorKind::Timeout, ErrorKind::ContextOverflow]
                .iter()
                .any(|kind| error.is(*kind))
                || error.is_retryable() && !error.is(ErrorKind::EmptyResponse)
        }
    }
}

/// A refused key is told with the model that it belongs to.
fn named(failure: Failure, client: &Arc<dyn ModelClient>) -> Failure {
    match failure {
        Failure::Model { task, mut error } if error.is(ErrorKind::AuthFailed) => {
            error.text =
                format!("no usable key for `{}`: {}", client.model().reference(), error.text);
            Failure::Model { task, error }
        }
        other => other,
    }
}

/// What the summaries are made of, in the roles that providers take.
struct Sources {
    history: Vec<Arc<Message>>,
    turn_prefix: Vec<Arc<Message>>,
    /// What the sentences for people are about, besides the notes.
    newest: Vec<Arc<Message>>,
    archive_text: Option<String>,
}

impl Sources {
    fn new(preparation: &Preparation, prompts: &Prompts) -> Self {
        let convert = |messages: &[Arc<Message>]| pairing::repair(llm::convert(messages, prompts));
        let archive = preparation.previous_preserve_data.as_ref().and_then(Archive::read);
        Self {
            history: convert(&preparation.messages_to_summarize),
            turn_prefix: convert(&preparation.turn_prefix_messages),
            newest: convert(&newest(preparation)),
            archive_text: archive.and_then(|archive| archive.source_text()),
        }
    }

    async fn compact(
        &self,
        job: &Job,
        preparation: &Preparation,
        summarizer: &Summarizer<'_>,
    ) -> Result<CompactionResult, Failure> {
        // The first failure drops the other request, and with it the connection.
        let (history, prefix) = future::try_join(
            self.history_notes(job, preparation, summarizer),
            self.prefix_notes(job, summarizer),
        )
        .await?;
        let notes = match prefix {
            Some(prefix) => format!("{history}{TURN_SEPARATOR}{prefix}"),
            None => history,
        };
        let short = self.short_notes(job, &notes, summarizer).await?;
        let mut result = finished(preparation, &notes, short);
        result.spent = summarizer.tally.spent();
        Ok(result)
    }

    async fn history_notes(
        &self,
        job: &Job,
        preparation: &Preparation,
        summarizer: &Summarizer<'_>,
    ) -> Result<String, Failure> {
        let previous = preparation.previous_summary.as_deref().filter(|text| !text.is_empty());
        let is_new = !self.history.is_empty() || self.archive_text.is_some();
        match previous {
            None if !is_new => return Ok(NO_HISTORY.into()),
            // Nothing to add, and no other notes that might have to agree with these.
            Some(previous) if !is_new && self.turn_prefix.is_empty() => return Ok(previous.into()),
            _ => {}
        }
        let material = Material {
            messages: &self.history,
            previous_summary: previous,
            archive_text: self.archive_text.as_deref(),
            extra_context: &job.extra_context,
            focus: job.focus.as_deref(),
        };
        summarizer.summarize(Task::History, &material).await
    }

    async fn prefix_notes(
        &self,
        job: &Job,
        summarizer: &Summarizer<'_>,
    ) -> Result<Option<String>, Failure> {
        if self.turn_prefix.is_empty() {
            return Ok(None);
        }
        let material = Material {
            messages: &self.turn_prefix,
            extra_context: &job.extra_context,
            focus: job.focus.as_deref(),
            ..Material::default()
        };
        summarizer.summarize(Task::TurnPrefix, &material).await.map(Some)
    }

    /// Two or three sentences for people. Worth no failure: the model reads the notes.
    async fn short_notes(
        &self,
        job: &Job,
        notes: &str,
        summarizer: &Summarizer<'_>,
    ) -> Result<Option<String>, Failure> {
        let material = Material {
            messages: &self.newest,
            previous_summary: Some(notes),
            extra_context: &job.extra_context,
            ..Material::default()
        };
        match summarizer.summarize(Task::Short, &material).await {
            Ok(short) => Ok(Some(short)),
            Err(Failure::Cancelled) => Err(Failure::Cancelled),
            Err(Failure::Model { error, .. }) => {
                tracing::warn!(%error, "no short summary; its first line stands in");
                Ok(headline(notes))
            }
        }
    }
}

/// The kept messages. Where the user says nothing in them, with what led to them.
fn newest(preparation: &Preparation) -> Vec<Arc<Message>> {
    let is_user = |message: &Arc<Message>| matches!(**message, Message::User(_));
    if preparation.recent_messages.iter().any(is_user) {
        return preparation.recent_messages.clone();
    }
    let before = match preparation.turn_prefix_messages.as_slice() {
        [] => {
            let history = &preparation.messages_to_summarize;
            &history[history.iter().rposition(is_user).unwrap_or(history.len())..]
        }
        prefix => prefix,
    };
    before.iter().chain(&preparation.recent_messages).cloned().collect()
}

/// The compaction that the notes make.
fn finished(preparation: &Preparation, notes: &str, short: Option<String>) -> CompactionResult {
    let files = &preparation.file_operations;
    let lists = files.lists();
    CompactionResult {
        summary: file_lists::upsert(notes, &lists.block(&files.read)),
        short_summary: short,
        first_kept_entry_id: preparation.first_kept_entry_id.clone(),
        tokens_before: preparation.tokens_before,
        details: Some(lists.details()),
        preserve_data: preparation.previous_preserve_data.as_ref().and_then(carried_on),
        spent: Vec::new(),
    }
}

/// What the next compaction still needs. An archive is in the notes now.
fn carried_on(preserve_data: &Json) -> Option<Json> {
    let without_archive = archive::strip(preserve_data)?;
    let Value::Object(mut slots) = without_archive.value().clone() else { return None };
    slots.retain(|name, _| !NATIVE_SLOTS.contains(&name.as_str()));
    (!slots.is_empty()).then(|| Value::Object(slots).into())
}
