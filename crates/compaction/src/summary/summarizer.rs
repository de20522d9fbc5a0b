//! Asks one model for summaries.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longhand_agent::compaction::{MethodError, Progress, ProgressStep, Spent, Thinking};
use longhand_agent::request::{Purpose, RequestOptions, Retry};
use longhand_agent::{ErrorKind, ModelClient, ModelError, Request};
use longhand_prompts::{Prompt, Prompts};
use longhand_session::message::{Attribution, UserMessage};
use longhand_session::redaction::redact;
use longhand_session::{AssistantMessage, Block, Content, Fragment, Message, TokenCounter};
use tokio_util::sync::CancellationToken;

use super::budget::{self, Caps};
use super::fold::{self, Piece, Taking, Window, Windows};
use super::layout::{Material, Parts};
use super::reply::{self, Verdict};
use super::retry::Patience;
use crate::dialect;
use crate::serialize::without_useless_calls;

/// How often, in one compaction, a smaller window is tried after the model found one too large. Halving reaches the smallest
/// window from any larger one in fewer steps.
const MAX_OVERFLOWS: u32 = 6;

/// Longest headline in characters.
const HEADLINE_CHARS: usize = 200;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Notes on all that came before.
    History,
    /// Notes on the dropped start of a turn whose end is kept.
    TurnPrefix,
    /// Two or three sentences for people.
    Short,
}

impl Task {
    fn purpose(self) -> Purpose {
        match self {
            Self::History => Purpose::CompactionSummary,
            Self::TurnPrefix => Purpose::CompactionTurnPrefix,
            Self::Short => Purpose::CompactionShortSummary,
        }
    }

    fn failure(self) -> &'static str {
        match self {
            Self::History => "Summarization failed",
            Self::TurnPrefix => "Turn prefix summarization failed",
            Self::Short => "Short summary failed",
        }
    }

    fn phase(self) -> &'static str {
        match self {
            Self::History => "summary",
            Self::TurnPrefix => "turn prefix",
            Self::Short => "short summary",
        }
    }

    fn taking(self) -> Taking {
        match self {
            Self::History | Self::TurnPrefix => Taking::Fold,
            Self::Short => Taking::Once,
        }
    }

    fn instructions(self, has_previous: bool) -> Prompt {
        match self {
            Self::History if has_previous => Prompt::CompactionUpdateSummary,
            Self::History => Prompt::CompactionSummary,
            Self::TurnPrefix => Prompt::CompactionTurnPrefix,
            Self::Short => Prompt::CompactionShortSummary,
        }
    }

    fn cap(self, caps: &Caps) -> u64 {
        match self {
            Self::History => caps.history,
            Self::TurnPrefix => caps.turn_prefix,
            Self::Short => caps.short,
        }
    }
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Somebody stopped it.
    Cancelled,
    /// The model did not deliver.
    Model {
        /// What was asked for.
        task: Task,
        /// Why there is none.
        error: ModelError,
    },
}

impl From<Failure> for MethodError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Cancelled => Self::Cancelled,
            Failure::Model { task, error } => {
                Self::Failed { context: task.failure(), source: error }
            }
        }
    }
}

/// Asks one model for the summaries of one compaction.
pub struct Summarizer<'a> {
    /// The model.
    pub client: &'a Arc<dyn ModelClient>,
    /// The words of the requests.
    pub prompts: &'a Prompts,
    /// Most tokens of the replies.
    pub caps: Caps,
    /// How hard the session lets its model think.
    pub thinking: Thinking,
    /// Key of the provider's prompt cache. Not that of the conversation: the two share no prefix.
    pub cache_key: Arc<str>,
    /// How long failures are waited out.
    pub patience: Patience,
    /// Takes a step before each request.
    pub progress: &'a dyn Progress,
    /// Ends everything; no request is left running.
    pub cancel: &'a CancellationToken,
    /// What was done so far, by all models of the compaction.
    pub tally: &'a Tally,
}

/// What the requests of one compaction have come to.
#[derive(Debug, Default)]
pub struct Tally {
    spent: Mutex<Vec<Spent>>,
    overflows: AtomicU32,
}

impl Tally {
    /// What was spent, one item an answered request.
    pub fn spent(&self) -> Vec<Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Summarizer<'_> {
    /// A summary of the material.
    ///
    /// # Errors
    /// There is none: see [`Failure`]. What was spent until then stays in the tally.
    pub async fn summarize(&self, task: Task, material: &Material<'_>) -> Result<String, Failure> {
        let counter = self.client.counter();
        let budget = budget::input_budget(self.client.model(), task.cap(&self.caps));
        let (mut summary, pieces) = self.pieces(material, budget.tokens, &*counter);
        let dialect = dialect::of(self.client.model());
        let mut windows = Windows::new(pieces, budget, task.taking(), dialect, &*counter);
        let mut done = 0;
        loop {
            let window = windows.next();
            self.report(task, done, window.tokens);
            let previous = summary.as_deref();
            let previous = previous.map(|text| fitted(text, windows.budget_tokens(), &*counter));
            let prompt = self.prompt(task, material, &window, previous.as_deref());
            match self.ask(task, &prompt).await {
                Ok(text) if windows.advance(&window) => summary = Some(text),
                Ok(text) => return Ok(text),
                Err(Failure::Model { error, .. })
                    if error.is(ErrorKind::ContextOverflow)
                        && self.may_shrink(&mut windows, &window) =>
                {
                    continue;
                }
                Err(failure) => return Err(failure),
            }
            done += 1;
        }
    }

    /// What to start from, and what to go through. Text of an archive joins the summary before where there is place for it,
    /// and is gone through first where there is not.
    fn pieces(
        &self,
        material: &Material<'_>,
        budget_tokens: u64,
        counter: &dyn TokenCounter,
    ) -> (Option<String>, Vec<Piece>) {
        let messages = without_useless_calls(material.messages).into_iter().map(Piece::Message);
        let previous = material.previous_summary.map(str::to_owned);
        let Some(archive_text) = material.archive_text else {
            return (previous, messages.collect());
        };
        let values = [("archiveText", archive_text)];
        let labelled = self.prompts.render(Prompt::SnapcompactArchiveContext, &values);
        let joined = match material.previous_summary.filter(|summary| !summary.is_empty()) {
            Some(summary) => format!("{summary}\n\n{labelled}"),
            None => labelled,
        };
        if counter.count(Fragment::Text(&joined)) <= budget_tokens {
            return (Some(joined), messages.collect());
        }
        let mut pieces = fold::text_pieces(archive_text, budget_tokens);
        pieces.extend(messages);
        (previous, pieces)
    }

    fn prompt(
        &self,
        task: Task,
        material: &Material<'_>,
        window: &Window,
        previous: Option<&str>,
    ) -> String {
        let previous_summary = previous.filter(|summary| !summary.is_empty());
        Parts {
            conversation: &window.text,
            previous_summary,
            extra_context: material.extra_context,
            instructions: self.prompts.text(task.instructions(previous_summary.is_some())),
            focus: material.focus,
        }
        .prompt()
    }

    fn may_shrink(&self, windows: &mut Windows<'_>, refused: &Window) -> bool {
        self.tally.overflows.fetch_add(1, Ordering::Relaxed) < MAX_OVERFLOWS
            && windows.halve(refused)
    }

    /// Asks until there is an acceptable reply. One that was cut off is asked for again, once, with twice the cap.
    async fn ask(&self, task: Task, prompt: &str) -> Result<String, Failure> {
        let failed = |error| Failure::Model { task, error };
        let first_cap = task.cap(&self.caps);
        let second_cap = first_cap.saturating_mul(2).min(self.caps.limit);
        let mut cap = first_cap;
        loop {
            let reply = self.send(task, prompt, cap).await?;
            match reply::judge(&reply) {
                Verdict::Text(text) => return Ok(redact(&text).into_owned()),
                Verdict::CutOff if cap < second_cap => cap = second_cap,
                Verdict::CutOff => {
                    return Err(failed(reply::cut_off(&self.client.model().id, cap)));
                }
                Verdict::Stopped => return Err(Failure::Cancelled),
                Verdict::Failed(error) => return Err(failed(error)),
            }
        }
    }

    /// Sends one request, again after passing failures.
    async fn send(&self, task: Task, prompt: &str, cap: u64) -> Result<AssistantMessage, Failure> {
        let mut failures = 0;
        loop {
            let request = self.request(task, prompt, cap);
            let answer = tokio::select! {
                () = self.cancel.cancelled() => return Err(Failure::Cancelled),
                answer = self.client.complete(request, self.cancel.child_token()) => answer,
            };
            let error = match answer {
                Ok(reply) => {
                    self.note(&reply);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            if error.is(ErrorKind::Aborted) {
                return Err(Failure::Cancelled);
            }
            failures += 1;
            let Some(delay) = self.patience.delay(failures, &error) else {
                return Err(Failure::Model { task, error });
            };
            tracing::info!(%error, ?delay, model = %self.client.model().reference(), "a summary request failed; it is sent again");
            tokio::select! {
                () = self.cancel.cancelled() => return Err(Failure::Cancelled),
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    fn request(&self, task: Task, prompt: &str, cap: u64) -> Request {
        let mut options = RequestOptions::for_purpose(task.purpose());
        options.max_output_tokens = Some(cap);
        options.effort = budget::effort(self.thinking, self.client.model());
        options.cache_key = Some(self.cache_key.clone());
        options.retry = Retry::Caller;
        let message = Message::User(UserMessage {
            content: Content::Blocks(vec![Block::text(prompt)]),
            attribution: Some(Attribution::Agent),
            ..UserMessage::default()
        });
        Request {
            system: vec![Arc::from(self.prompts.text(Prompt::SummarizationSystem))],
            messages: vec![Arc::new(message)],
            tools: Arc::from([]),
            options,
        }
    }

    fn note(&self, reply: &AssistantMessage) {
        let Some(usage) = reply.usage.clone() else { return };
        let model = self.client.model().reference().to_string();
        let mut spent = self.tally.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.push(Spent { model, usage });
    }

    fn report(&self, task: Task, done: u64, tokens: u64) {
        self.progress.report(ProgressStep {
            phase: task.phase().into(),
            done: Some(done),
            total: None,
            detail: format!("about {tokens} tokens to `{}`", self.client.model().reference()),
        });
    }
}

/// A summary before, no longer than a window: one that a larger model wrote may fill the window of a smaller one.
fn fitted<'a>(
    summary: &'a str,
    budget_tokens: u64,
    counter: &dyn TokenCounter,
) -> std::borrow::Cow<'a, str> {
    let tokens = counter.count(Fragment::Text(summary));
    if tokens <= budget_tokens {
        return summary.into();
    }
    fold::clipped(summary, tokens, budget_tokens).into()
}

/// The first line of a summary that says something: stands in for a short summary that could not be had.
pub fn headline(summary: &str) -> Option<String> {
    let lines = summary.lines().map(str::trim);
    let line = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'))?;
    Some(line.chars().take(HEADLINE_CHARS).collect())
}
