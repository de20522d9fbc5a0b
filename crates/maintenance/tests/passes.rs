//! Passes over a running session: what they commit, what they say, and what they leave alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use longhand_agent::client::{Models, ModelsError, Role};
use longhand_agent::commit::{Change, Commit, Expect};
use longhand_agent::compaction::{
    CompactionMethod, CompactionResult, FocusUse, Job, ManualUse, MethodError, MethodTraits, Needs,
    Outcome, Plan, Progress, ProgressStep, Skip, Spent, Thinking,
};
use longhand_agent::error::{ErrorKind, ModelError};
use longhand_agent::handle::SessionHandle;
use longhand_agent::maintenance::{MaintenanceError, ManualRequest};
use longhand_agent::testing::{Reply, ScriptedClient, TestSession, usage};
use longhand_agent::{ModelClient, SessionEvent, Subscription, UserInput};
use longhand_compaction::{Options, Preparer};
use longhand_maintenance::{Maintainer, Wiring};
use longhand_prompts::Prompts;
use longhand_session::json::Number;
use longhand_session::time::SystemClock;
use longhand_session::usage::Cost;
use longhand_session::{EntryKind, Json, MethodId, Model, Usage};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A method that does what its script says.
struct Scripted {
    id: &'static str,
    runs: AtomicUsize,
    /// How hard the session of the last run lets its model think.
    thinking: Mutex<Thinking>,
    does: Does,
}

enum Does {
    Summarize(String),
    /// Summarizes with two requests of this usage each.
    Spend(Box<Usage>),
    /// Summarizes after the session was moved to its root.
    Move(Arc<OnceLock<SessionHandle>>),
    Fail,
    Wait,
    Refuse,
}

impl Scripted {
    fn new(id: &'static str, does: Does) -> Arc<Self> {
        Arc::new(Self { id, runs: AtomicUsize::new(0), thinking: Mutex::default(), does })
    }

    fn summarizing(id: &'static str) -> Arc<Self> {
        Self::new(id, Does::Summarize("what was done".into()))
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl CompactionMethod for Scripted {
    fn id(&self) -> MethodId {
        self.id.into()
    }

    fn traits(&self) -> MethodTraits {
        MethodTraits {
            needs: Needs::Nothing,
            prepares: true,
            may_speculate: false,
            adds_images: false,
            focus: FocusUse::Taken,
            manual: ManualUse::InOrder,
        }
    }

    fn usable(&self, _: &Job) -> Result<(), Skip> {
        match self.does {
            Does::Refuse => Err(Skip::NoModel),
            _ => Ok(()),
        }
    }

    async fn plan(&self, _: &Job) -> Result<Plan, MethodError> {
        Ok(Plan { tokens_after: None, is_exact: false, frames: 0 })
    }

    async fn run(
        &self,
        job: &Job,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Outcome, MethodError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        *self.thinking.lock().expect("no test panics here") = job.thinking;
        let step = ProgressStep {
            phase: "working".into(),
            done: None,
            total: None,
            detail: String::new(),
        };
        progress.report(step);
        match &self.does {
            Does::Summarize(summary) => Ok(Outcome::Entry(summarized(job, summary))),
            Does::Spend(usage) => {
                let spent = Spent { model: "test/scripted".into(), usage: (**usage).clone() };
                let spent = vec![spent.clone(), spent];
                let result = summarized(job, "what was done");
                Ok(Outcome::Entry(CompactionResult { spent, ..result }))
            }
            Does::Move(session) => {
                let commit = Commit { expect: Expect::default(), change: Change::MoveLeaf(None) };
                let session = session.get().expect("the session has started");
                session.commit(commit).await.expect("nothing is in the way");
                Ok(Outcome::Entry(summarized(job, "what was done")))
            }
            Does::Wait => {
                cancel.cancelled().await;
                Err(MethodError::Cancelled)
            }
            Does::Fail | Does::Refuse => Err(MethodError::Failed {
                context: "Summarization failed",
                source: ModelError::new(ErrorKind::Transient, "the server is on fire"),
            }),
        }
    }
}

fn summarized(job: &Job, summary: &str) -> CompactionResult {
    let preparation = job.preparation.as_ref().expect("the method prepares");
    CompactionResult {
        summary: summary.to_owned(),
        first_kept_entry_id: preparation.first_kept_entry_id.clone(),
        ..CompactionResult::default()
    }
}

/// No model but that of the conversation.
struct OneModel;

#[async_trait]
impl Models for OneModel {
    async fn resolve(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelsError> {
        Err(ModelsError::None)
    }

    async fn for_role(&self, _: Role) -> Result<Option<Arc<dyn ModelClient>>, ModelsError> {
        Ok(None)
    }

    async fn list(&self) -> Vec<Arc<Model>> {
        Vec::new()
    }
}

fn options(order: &[&str]) -> Options {
    let mut options = Options::default();
    options.method_order = order.iter().copied().map(MethodId::from).collect();
    options.keep_recent_tokens = 20;
    options
}

fn maintainer(methods: &[Arc<Scripted>], options: Options) -> Arc<Maintainer> {
    let (_, options) = watch::channel(Arc::new(options));
    Arc::new(Maintainer::new(Wiring {
        methods: methods.iter().map(|method| method.clone() as Arc<dyn CompactionMethod>).collect(),
        prepare: Arc::new(Preparer::new(options.clone(), Arc::new(longhand_session::ByteEstimate))),
        models: Arc::new(OneModel),
        options,
        prompts: Arc::new(Prompts::default()),
        clock: Arc::new(SystemClock),
        frames: None,
    }))
}

/// A session with a window of 100,000 tokens (threshold 83,616).
async fn session(replies: Vec<Reply>, maintainer: Arc<Maintainer>) -> TestSession {
    TestSession::new(replies).maintenance(maintainer).start().await
}

async fn say(test: &TestSession, words: &str) {
    test.session.prompt(UserInput::text(words)).await.expect("the session takes prompts");
}

/// What maintenance said so far, one line an event.
fn said(events: &mut Subscription) -> Vec<String> {
    std::iter::from_fn(|| events.try_next())
        .filter_map(|event| match event.event {
            SessionEvent::AutoCompactionStart { action, .. } => Some(format!("start {action}")),
            SessionEvent::AutoCompactionEnd {
                action,
                result,
                aborted,
                error_message,
                skipped,
                fallback,
                ..
            } => {
                let outcome = match (result, error_message) {
                    (Some(_), _) => "done".to_owned(),
                    (None, Some(message)) => message,
                    (None, None) if aborted => "aborted".to_owned(),
                    (None, None) => format!("skipped={skipped}"),
                };
                let next = if fallback { ", next" } else { "" };
                Some(format!("end {action}: {outcome}{next}"))
            }
            SessionEvent::MaintenanceMethodSkipped { method, reason } => {
                Some(format!("skipped {method}: {reason}"))
            }
            SessionEvent::Notice { code: Some(code), .. } => Some(code),
            _ => None,
        })
        .collect()
}

fn large_reply() -> Reply {
    Reply::text("word ".repeat(100)).usage(usage(90_000, 100))
}

fn compactions(test: &TestSession) -> usize {
    test.session.snapshot().entries.iter().filter(|entry| entry.compaction().is_some()).count()
}

/// The newest record of a pass.
fn record(test: &TestSession) -> Json {
    let branch = test.session.snapshot();
    let record = branch.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Custom(custom) if custom.custom_type == "maintenance_record" => {
            custom.data.clone()
        }
        _ => None,
    });
    record.expect("a record goes with the compaction")
}

#[tokio::test]
async fn a_run_over_the_threshold_compacts_and_the_conversation_goes_on() {
    let soft = Scripted::summarizing("soft");
    let replies =
        vec![Reply::text("small").usage(usage(10, 5)), large_reply(), Reply::text("on it")];
    let mut test =
        session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    assert_eq!(said(&mut test.events), ["start context-full", "end context-full: done"]);
    assert_eq!(compactions(&test), 1);

    say(&test, "three").await;
    let requests = test.client.requests();
    let last = requests.last().expect("a request was sent");
    let texts: Vec<String> = last.messages.iter().map(|message| format!("{message:?}")).collect();
    assert!(texts[0].contains("what was done"), "the summary comes first: {texts:?}");
    assert!(
        !texts.iter().any(|text| text.contains("\"one\"")),
        "what was summarized is gone: {texts:?}"
    );
}

#[tokio::test]
async fn a_compaction_is_recorded_with_its_reason_and_sizes() {
    let soft = Scripted::summarizing("soft");
    let refused = Scripted::new("remote", Does::Refuse);
    let methods = [refused, soft];
    let replies = vec![Reply::text("small").usage(usage(10, 5)), large_reply()];
    let test = session(replies, maintainer(&methods, options(&["remote", "soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let (branch, record) = (test.session.snapshot(), record(&test));
    let compaction = branch.latest_compaction().expect("the pass compacted");
    assert_eq!(record.get("entryId").and_then(|id| id.as_str()), Some(compaction.id.as_str()));
    assert_eq!(record.get("trigger").and_then(|trigger| trigger.as_str()), Some("threshold"));
    assert_eq!(record.get("tokensBefore").and_then(serde_json::Value::as_u64), Some(90_100));
    let attempts = json!([{"method": "remote", "skip": "no model is available for the summary"}]);
    assert_eq!(record.get("attempts"), Some(&attempts));
}

#[tokio::test]
async fn a_prompt_that_crosses_the_threshold_is_sent_after_a_compaction() {
    let soft = Scripted::summarizing("soft");
    let replies = vec![
        Reply::text("small").usage(usage(10, 5)),
        Reply::text("large").usage(usage(83_000, 100)),
        Reply::text("ok"),
    ];
    let mut test =
        session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    assert_eq!(said(&mut test.events), Vec::<String>::new());
    say(&test, &"a long question ".repeat(200)).await;
    assert_eq!(said(&mut test.events), ["start context-full", "end context-full: done"]);
    let requests = test.client.requests();
    let messages = &requests.last().expect("the prompt was sent").messages;
    assert!(format!("{:?}", messages.first()).contains("what was done"));
    assert!(format!("{:?}", messages.last()).contains("a long question"));
}

#[tokio::test]
async fn below_the_threshold_nothing_happens() {
    let soft = Scripted::summarizing("soft");
    let replies = vec![Reply::text("fits").usage(usage(83_000, 616))];
    let mut test =
        session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    assert_eq!((said(&mut test.events), soft.runs()), (Vec::new(), 0));
}

#[tokio::test]
async fn a_failed_method_gives_way_to_the_next() {
    let methods = [Scripted::new("remote", Does::Fail), Scripted::summarizing("soft")];
    let replies = vec![Reply::text("small").usage(usage(10, 5)), large_reply()];
    let mut test = session(replies, maintainer(&methods, options(&["remote", "soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    assert_eq!(
        said(&mut test.events),
        [
            "start remote",
            "end remote: Auto-compaction failed: Summarization failed: the server is on fire; trying `soft` next, next",
            "start context-full",
            "end context-full: done",
        ]
    );
}

#[tokio::test]
async fn what_the_session_does_not_take_is_not_made_again_by_another_method() {
    let slot = Arc::new(OnceLock::new());
    let next = Scripted::summarizing("soft");
    let methods = [Scripted::new("remote", Does::Move(slot.clone())), next.clone()];
    let replies = vec![Reply::text("small").usage(usage(10, 5)), large_reply()];
    let mut test = session(replies, maintainer(&methods, options(&["remote", "soft"]))).await;
    assert!(slot.set(test.session.clone()).is_ok(), "set once");
    say(&test, "one").await;
    say(&test, "two").await;
    let failed = "end remote: Auto-compaction failed: the session changed meanwhile";
    assert_eq!(said(&mut test.events), ["start remote", failed]);
    assert_eq!((next.runs(), compactions(&test)), (0, 0));
}

#[tokio::test]
async fn a_record_holds_the_cost_of_all_requests_of_the_pass() {
    let cost = Cost { input: Number(0.5), total: Number(0.75), ..Cost::default() };
    let spent = Usage { input: 10, output: 3, cost: Some(cost), ..Usage::default() };
    let soft = Scripted::new("soft", Does::Spend(Box::new(spent)));
    let replies = vec![Reply::text("small").usage(usage(10, 5)), large_reply()];
    let test = session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let usage = record(&test).get("usage").cloned().expect("something was spent");
    assert_eq!(
        [&usage["input"], &usage["output"], &usage["cost"]["input"], &usage["cost"]["total"]],
        [&json!(20), &json!(6), &json!(1), &json!(1.5)]
    );
}

#[tokio::test]
async fn when_all_methods_fail_the_session_goes_on_as_it_was() {
    let methods = [Scripted::new("soft", Does::Fail)];
    let replies =
        vec![Reply::text("small").usage(usage(10, 5)), large_reply(), Reply::text("still here")];
    let mut test = session(replies, maintainer(&methods, options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let failed =
        "end context-full: Auto-compaction failed: Summarization failed: the server is on fire";
    assert_eq!(said(&mut test.events), ["start context-full", failed]);
    say(&test, "three").await;
    assert_eq!(compactions(&test), 0);
    assert_eq!(test.transcript().last().map(String::as_str), Some("assistant: still here"));
}

#[tokio::test]
async fn a_compaction_that_helps_too_little_carries_a_warning() {
    let soft = Scripted::new("soft", Does::Summarize("far too long ".repeat(40_000)));
    let replies = vec![Reply::text("small").usage(usage(10, 5)), large_reply()];
    let mut test =
        session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let expected = ["start context-full", "end context-full: done", "compaction.no_progress"];
    assert_eq!(said(&mut test.events), expected);
    let branch = test.session.snapshot();
    let compaction =
        branch.latest_compaction().and_then(|entry| entry.compaction()).expect("it was committed");
    assert!(compaction.warning.is_some());
}

#[tokio::test]
async fn by_hand_a_session_compacts_at_any_size_and_without_automatic_events() {
    let soft = Scripted::summarizing("soft");
    let replies =
        vec![Reply::text("first answer ".repeat(30)), Reply::text("second answer ".repeat(30))];
    let mut test =
        session(replies, maintainer(std::slice::from_ref(&soft), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let result =
        test.session.compact(ManualRequest::default()).await.expect("there is something to cut");
    assert_eq!(result.summary, "what was done");
    assert_eq!(said(&mut test.events), Vec::<String>::new());
    let again = test.session.compact(ManualRequest::default()).await;
    assert!(matches!(again, Err(MaintenanceError::AlreadyCompacted)), "{again:?}");
}

#[tokio::test]
async fn methods_think_as_hard_as_the_session_lets_its_model() {
    let soft = Scripted::summarizing("soft");
    let replies =
        vec![Reply::text("first answer ".repeat(30)), Reply::text("second answer ".repeat(30))];
    let test = TestSession::new(replies)
        .maintenance(maintainer(std::slice::from_ref(&soft), options(&["soft"])))
        .configure(|config| config.thinking = Thinking::Off)
        .start()
        .await;
    say(&test, "one").await;
    say(&test, "two").await;
    test.session.set_model(test.client.clone()).await;
    test.session.compact(ManualRequest::default()).await.expect("there is something to cut");
    assert_eq!(*soft.thinking.lock().expect("no test panics here"), Thinking::Off);
}

#[tokio::test]
async fn by_hand_an_empty_session_says_that_it_is_too_small() {
    let soft = Scripted::summarizing("soft");
    let test = session(Vec::new(), maintainer(&[soft], options(&["soft"]))).await;
    let result = test.session.compact(ManualRequest::default()).await;
    assert!(matches!(result, Err(MaintenanceError::TooSmall)), "{result:?}");
}

#[tokio::test]
async fn by_hand_an_unknown_method_is_named() {
    let soft = Scripted::summarizing("soft");
    let test = session(Vec::new(), maintainer(&[soft], options(&["soft"]))).await;
    let request = ManualRequest { method: Some("poetry".into()), focus: None };
    let error = test.session.compact(request).await.expect_err("no such method");
    assert_eq!(error.to_string(), "there is no compaction method `poetry`");
}

#[tokio::test]
async fn an_aborted_pass_changes_nothing() {
    let waiting = Scripted::new("soft", Does::Wait);
    let replies =
        vec![Reply::text("first answer ".repeat(30)), Reply::text("second answer ".repeat(30))];
    let test =
        session(replies, maintainer(std::slice::from_ref(&waiting), options(&["soft"]))).await;
    say(&test, "one").await;
    say(&test, "two").await;
    let before = test.transcript();
    let session = test.session.clone();
    let pass = tokio::spawn(async move { session.compact(ManualRequest::default()).await });
    while waiting.runs() == 0 {
        tokio::task::yield_now().await;
    }
    let busy = test.session.compact(ManualRequest::default()).await;
    assert!(matches!(busy, Err(MaintenanceError::Busy)), "{busy:?}");
    test.session.abort().await;
    let result = pass.await.expect("the pass ends");
    assert!(matches!(result, Err(MaintenanceError::Cancelled)), "{result:?}");
    assert_eq!((test.transcript(), compactions(&test)), (before, 0));
}

#[tokio::test]
async fn a_model_of_unknown_window_is_never_over_its_threshold() {
    let soft = Scripted::summarizing("soft");
    let mut model = (**ScriptedClient::new([]).model()).clone();
    model.context_window = None;
    let client = Arc::new(ScriptedClient::with_model(model, [large_reply(), large_reply()]));
    let maintenance = maintainer(std::slice::from_ref(&soft), options(&["soft"]));
    let test = session(Vec::new(), maintenance).await;
    test.session.set_model(client).await;
    say(&test, "one").await;
    say(&test, "two").await;
    assert_eq!(soft.runs(), 0);
}
