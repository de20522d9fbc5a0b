//! What the tests of this crate share: reading events, tools that misbehave, gates and maintenance made of closures.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::BoxFuture;
use longhand_agent::compaction::CompactionResult;
use longhand_agent::event::AssistantMessageEvent;
use longhand_agent::maintenance::{Continuation, MaintenanceError, ManualRequest, Verdict};
use longhand_agent::tool::{
    ApprovalAnswer, ApprovalQuestion, Gate, GateVerdict, Invocation, Tier, ToolOutput,
};
use longhand_agent::{Maintenance, SessionEvent, SessionHandle, Subscription, Tool, ToolSpec};
use longhand_session::{AssistantMessage, EntryId, Message};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// All events that have been told by now.
pub(crate) fn drain(events: &mut Subscription) -> Vec<SessionEvent> {
    std::iter::from_fn(|| events.try_next()).map(|event| event.event).collect()
}

/// The names of events, as in JSON.
pub(crate) fn names(events: &[SessionEvent]) -> Vec<String> {
    events.iter().map(name).collect()
}

/// The name of an event, as in JSON; messages with their role.
pub(crate) fn name(event: &SessionEvent) -> String {
    let json = serde_json::to_value(event).unwrap();
    let kind = json["type"].as_str().unwrap().to_owned();
    match json["message"]["role"].as_str() {
        Some(role) => format!("{kind} {role}"),
        None => kind,
    }
}

/// Waits for the first event that `is` true of, and gives all up to it.
pub(crate) async fn until(
    events: &mut Subscription,
    is: impl Fn(&SessionEvent) -> bool,
) -> Vec<SessionEvent> {
    let mut heard = Vec::new();
    loop {
        let event = events.next().await.expect("the session goes on").event;
        let is_it = is(&event);
        heard.push(event);
        if is_it {
            return heard;
        }
    }
}

/// Waits for the first event of that name.
pub(crate) async fn until_named(events: &mut Subscription, wanted: &str) -> Vec<SessionEvent> {
    until(events, |event| name(event) == wanted).await
}

/// The texts of deltas, joined.
pub(crate) fn delta_text(events: &[SessionEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        SessionEvent::MessageUpdate {
            assistant_message_event: AssistantMessageEvent::TextDelta { delta, .. },
            ..
        } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

type Run = dyn Fn(Value, CancellationToken) -> BoxFuture<'static, ToolOutput> + Send + Sync;

/// A tool made of a closure.
pub(crate) struct FnTool {
    spec: ToolSpec,
    tier: Tier,
    run: Box<Run>,
}

impl FnTool {
    pub(crate) fn new<F>(
        name: &str,
        tier: Tier,
        run: impl Fn(Value, CancellationToken) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ToolOutput> + Send + 'static,
    {
        let spec = ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        Self { spec, tier, run: Box::new(move |args, cancel| Box::pin(run(args, cancel))) }
    }
}

#[async_trait]
impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, _: &Value) -> Tier {
        self.tier
    }

    async fn run(&self, call: Invocation<'_>) -> ToolOutput {
        (self.run)(call.arguments.clone(), call.cancel).await
    }
}

/// A gate that asks about every call, and remembers the answers.
#[derive(Default, Clone)]
pub(crate) struct AskingGate {
    pub(crate) answers: Arc<Mutex<Vec<ApprovalAnswer>>>,
}

impl Gate for AskingGate {
    fn check(&self, tool: &dyn Tool, arguments: &Value) -> GateVerdict {
        GateVerdict::Ask(ApprovalQuestion {
            title: "Run it?".into(),
            body: arguments.to_string(),
            tool_name: tool.spec().name.clone(),
            tier: tool.tier(arguments),
            remember: None,
        })
    }

    fn answered(&self, _: &dyn Tool, _: &Value, answer: ApprovalAnswer) {
        self.answers.lock().unwrap().push(answer);
    }
}

type Hook =
    Box<dyn Fn(SessionHandle, CancellationToken) -> BoxFuture<'static, Verdict> + Send + Sync>;
type Pass = Box<
    dyn Fn(
            SessionHandle,
            CancellationToken,
        ) -> BoxFuture<'static, Result<CompactionResult, MaintenanceError>>
        + Send
        + Sync,
>;

/// Maintenance made of closures, which remembers what it was asked.
#[derive(Default)]
pub(crate) struct FnMaintenance {
    pub(crate) before_prompt: Option<Hook>,
    pub(crate) between_rounds: Option<Hook>,
    pub(crate) after_run: Option<Hook>,
    pub(crate) compact: Option<Pass>,
    pub(crate) resume: Option<Continuation>,
    pub(crate) asked: Mutex<Vec<String>>,
}

/// A closure as a hook.
pub(crate) fn hook<F>(
    run: impl Fn(SessionHandle, CancellationToken) -> F + Send + Sync + 'static,
) -> Hook
where
    F: Future<Output = Verdict> + Send + 'static,
{
    Box::new(move |session, cancel| Box::pin(run(session, cancel)))
}

/// A closure as a pass of the user.
pub(crate) fn pass<F>(
    run: impl Fn(SessionHandle, CancellationToken) -> F + Send + Sync + 'static,
) -> Pass
where
    F: Future<Output = Result<CompactionResult, MaintenanceError>> + Send + 'static,
{
    Box::new(move |session, cancel| Box::pin(run(session, cancel)))
}

impl FnMaintenance {
    async fn run(
        &self,
        name: &str,
        hook: Option<&Hook>,
        session: &SessionHandle,
        cancel: &CancellationToken,
    ) -> Verdict {
        self.asked.lock().unwrap().push(name.into());
        match hook {
            Some(hook) => hook(session.clone(), cancel.clone()).await,
            None => Verdict::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Maintenance for FnMaintenance {
    async fn before_prompt(
        &self,
        session: &SessionHandle,
        _: &[Arc<Message>],
        cancel: &CancellationToken,
    ) -> Verdict {
        self.run("before_prompt", self.before_prompt.as_ref(), session, cancel).await
    }

    async fn between_rounds(
        &self,
        session: &SessionHandle,
        _: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict {
        self.run("between_rounds", self.between_rounds.as_ref(), session, cancel).await
    }

    async fn after_run(
        &self,
        session: &SessionHandle,
        last: &AssistantMessage,
        cancel: &CancellationToken,
    ) -> Verdict {
        let name = format!("after_run {}", json!(last.stop_reason).as_str().unwrap());
        self.run(&name, self.after_run.as_ref(), session, cancel).await
    }

    async fn compact(
        &self,
        session: &SessionHandle,
        _: ManualRequest,
        cancel: &CancellationToken,
    ) -> Result<CompactionResult, MaintenanceError> {
        self.asked.lock().unwrap().push("compact".into());
        match &self.compact {
            Some(pass) => pass(session.clone(), cancel.clone()).await,
            None => Err(MaintenanceError::TooSmall),
        }
    }

    fn resume(&self) -> Option<Continuation> {
        self.resume.clone()
    }
}

/// A compaction that keeps from an entry on.
pub(crate) fn compaction(first_kept: EntryId) -> CompactionResult {
    CompactionResult {
        summary: "what was said".into(),
        first_kept_entry_id: first_kept,
        tokens_before: 100,
        ..CompactionResult::default()
    }
}
