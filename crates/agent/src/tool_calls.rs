//! Answers the tool calls of one message: each gets exactly one result, in the order of the calls, however it ends.
//!
//! Calls that only look and follow each other run side by side; every other call runs alone, after those before it. The result of a
//! call that cannot or may not run says so to the model. A call runs as a task of its own: its panic is an error result, and one
//! that does not end after it was stopped is left behind.

use std::sync::Arc;

use longhand_session::entry::CustomEntry;
use longhand_session::message::{Attribution, StopReason, ToolCall, ToolResult};
use longhand_session::time::Timestamp;
use longhand_session::{AssistantMessage, EntryKind, Json, Message, ToolCallId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::commit::EntryDraft;
use crate::event::SessionEvent;
use crate::grace;
use crate::mail::{Heard, Postbox, RunMail, panic_text};
use crate::owner::message_draft;
use crate::run::Run;
use crate::start::Asking;
use crate::tool::{
    ApprovalAnswer, ApprovalQuestion, GateVerdict, Invocation, Tier, Tool, ToolOutput, ToolUpdates,
};

/// Longest argument, in characters, that is noted when a call starts: the note names the call, the message holds it.
const MAX_NOTED_CHARS: usize = 200;

/// `customType` of the entry that is written before a call runs.
pub(crate) const TOOL_EXECUTION_START: &str = "tool_execution_start";

/// The calls of one message.
pub(crate) struct ToolCalls<'a> {
    run: &'a mut Run,
    results: Vec<Arc<Message>>,
}

/// A call and the tool that it may run.
struct Admitted {
    call: ToolCall,
    tool: Arc<dyn Tool>,
}

impl<'a> ToolCalls<'a> {
    pub(crate) fn of(run: &'a mut Run) -> Self {
        Self { run, results: Vec::new() }
    }

    /// Runs the calls of a message and stores their results.
    pub(crate) async fn answer(mut self, message: &AssistantMessage) -> Vec<Arc<Message>> {
        let calls: Vec<&ToolCall> = message.tool_calls().collect();
        if let Some(refusal) = refusal_of_all(message) {
            let outputs = calls.into_iter().map(|call| (call, ToolOutput::error(refusal)));
            self.store(outputs.collect()).await;
            return self.results;
        }
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(self.batch_length(rest));
            let outputs = self.run_batch(batch).await;
            self.store(batch.iter().copied().zip(outputs).collect()).await;
            rest = later;
        }
        self.results
    }

    /// How many of the next calls run side by side.
    fn batch_length(&self, calls: &[&ToolCall]) -> usize {
        let looks_only = |call: &&ToolCall| {
            let tool = self.tool(&call.name);
            tool.is_none_or(|tool| tool.tier(call.arguments.value()) == Tier::Read)
        };
        calls.iter().take_while(|call| looks_only(call)).count().max(1)
    }

    fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.run.surroundings.tools.iter().find(|tool| tool.spec().name == name)
    }

    async fn run_batch(&mut self, batch: &[&ToolCall]) -> Vec<ToolOutput> {
        let mut admissions = Vec::with_capacity(batch.len());
        for call in batch {
            admissions.push(self.admit(call).await);
        }
        self.note_starts(admissions.iter().filter_map(|admission| admission.as_ref().ok())).await;
        let (postbox, turn) = (&self.run.postbox, &self.run.turn);
        let outputs = admissions.into_iter().map(|admission| async {
            match admission {
                Ok(admitted) => run_call(admitted, postbox, turn).await,
                Err(output) => output,
            }
        });
        futures::future::join_all(outputs).await
    }

    /// Whether a call may run; if not, its result.
    async fn admit(&mut self, call: &ToolCall) -> Result<Admitted, ToolOutput> {
        if self.run.turn.is_cancelled() {
            return Err(ToolOutput::error("Not run: the user stopped the turn."));
        }
        let arguments = call.arguments.value();
        if let Some(why) = arguments.get("__parseError").and_then(Value::as_str) {
            let raw = arguments.get("__rawJson").and_then(Value::as_str).unwrap_or_default();
            return Err(ToolOutput::error(format!(
                "Not run: the arguments of `{}` are not valid JSON: {why}. They were: {raw}",
                call.name
            )));
        }
        let Some(tool) = self.tool(&call.name).cloned() else {
            return Err(self.unknown_tool(&call.name));
        };
        match self.run.surroundings.gate.check(&*tool, arguments) {
            GateVerdict::Allow => Ok(Admitted { call: call.clone(), tool }),
            GateVerdict::Deny(reason) => Err(ToolOutput::error(reason)),
            GateVerdict::Ask(question) => self.ask(call, tool, question).await,
        }
    }

    fn unknown_tool(&self, name: &str) -> ToolOutput {
        let tools = self.run.surroundings.tools.iter();
        let names: Vec<&str> = tools.map(|tool| tool.spec().name.as_str()).collect();
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        ToolOutput::error(format!("There is no tool `{name}`. The tools are: {known}."))
    }

    async fn ask(
        &mut self,
        call: &ToolCall,
        tool: Arc<dyn Tool>,
        question: ApprovalQuestion,
    ) -> Result<Admitted, ToolOutput> {
        if self.run.surroundings.asking == Asking::Nobody {
            self.run.approval_was_needed = true;
            return Err(ToolOutput::error(
                "Not run: this call needs approval and nobody can be asked. `--approval-mode` sets what runs without asking.",
            ));
        }
        let id = call.id.clone();
        let answer = self.run.postbox.ask(|reply| RunMail::Ask { call: id, question, reply }).await;
        let Some(answer) = answer else {
            return Err(ToolOutput::error("Not run: the user stopped the turn."));
        };
        self.run.surroundings.gate.answered(&*tool, call.arguments.value(), answer.clone());
        match answer {
            ApprovalAnswer::Yes | ApprovalAnswer::Always => {
                Ok(Admitted { call: call.clone(), tool })
            }
            ApprovalAnswer::No { reason: Some(reason) } => {
                Err(ToolOutput::error(format!("Not run: the user refused: {reason}")))
            }
            ApprovalAnswer::No { reason: None } => {
                Err(ToolOutput::error("Not run: the user refused."))
            }
            ApprovalAnswer::Stop => {
                Err(ToolOutput::error("Not run: the user refused and stopped the turn."))
            }
        }
    }

    /// Notes in the session that calls are about to run, so that a crash leaves a trace of them.
    async fn note_starts<'b>(&self, admitted: impl Iterator<Item = &'b Admitted>) {
        let now = Timestamp::from_millis(self.run.surroundings.clock.now_millis());
        let (mut drafts, mut events) = (Vec::new(), Vec::new());
        for Admitted { call, .. } in admitted {
            drafts.push(start_note(call, &now));
            events.push(SessionEvent::ToolExecutionStart {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: call.arguments.clone(),
            });
        }
        if !drafts.is_empty() {
            self.run.append(drafts, Heard::Whole).await;
        }
        for event in events {
            self.run.postbox.emit(event).await;
        }
    }

    async fn store(&mut self, outputs: Vec<(&ToolCall, ToolOutput)>) {
        let now = self.run.surroundings.clock.now_millis();
        let drafts = outputs.into_iter().map(|(call, output)| result_draft(call, output, now));
        let stored = self.run.append(drafts.collect(), Heard::Whole).await;
        self.results.extend(stored.iter().filter_map(|entry| entry.message().cloned()));
    }
}

/// Why no call of a message runs: the message is not whole.
fn refusal_of_all(message: &AssistantMessage) -> Option<&'static str> {
    match message.stop_reason {
        StopReason::Stop | StopReason::ToolUse => None,
        StopReason::Length => Some(
            "Not run: the reply reached the output limit, so that this call may not be whole. Call again, with less in one reply.",
        ),
        StopReason::Error | StopReason::Aborted => Some("aborted"),
    }
}

/// Runs one call in a task of its own.
async fn run_call(admitted: Admitted, postbox: &Postbox, turn: &CancellationToken) -> ToolOutput {
    let Admitted { call, tool } = admitted;
    let (id, name) = (call.id.clone(), call.name.clone());
    let updates = Updates {
        call: id.clone(),
        name: name.clone(),
        postbox: postbox.clone(),
        ended: CancellationToken::new(),
    };
    let _ended = updates.ended.clone().drop_guard();
    let cancel = turn.child_token();
    let task = AbortOnDropHandle::new(tokio::spawn(async move {
        let (id, arguments) = (&call.id, call.arguments.value());
        tool.run(Invocation { id, arguments, updates: &updates, cancel }).await
    }));
    let output = match grace::until_over(task, turn).await {
        Some(Ok(output)) => output,
        Some(Err(error)) => ToolOutput::error(match error.try_into_panic() {
            Ok(panic) => format!("`{name}` failed by a defect of its own: {}", panic_text(&*panic)),
            Err(_) => "aborted".into(),
        }),
        None => ToolOutput::error("aborted: the tool did not end in time"),
    };
    let ended = SessionEvent::ToolExecutionEnd {
        tool_call_id: id,
        tool_name: name,
        is_error: output.is_error,
        result: output.clone(),
    };
    postbox.emit(ended).await;
    output
}

/// Partial output of a call on its way to those who listen.
struct Updates {
    call: ToolCallId,
    name: String,
    postbox: Postbox,
    /// The call has its result; what a tool that was left behind still says is not heard.
    ended: CancellationToken,
}

impl ToolUpdates for Updates {
    fn update(&self, partial: ToolOutput) {
        if !self.ended.is_cancelled() {
            self.postbox.try_emit(SessionEvent::ToolExecutionUpdate {
                tool_call_id: self.call.clone(),
                tool_name: self.name.clone(),
                partial_result: partial,
            });
        }
    }
}

fn result_draft(call: &ToolCall, output: ToolOutput, timestamp: i64) -> EntryDraft {
    message_draft(Message::ToolResult(ToolResult {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: output.content,
        details: output.details,
        is_error: output.is_error,
        useless: (output.is_useless && !output.is_error).then_some(true),
        attribution: Some(Attribution::Agent),
        timestamp,
        ..ToolResult::default()
    }))
}

fn start_note(call: &ToolCall, now: &Timestamp) -> EntryDraft {
    let mut data = call_note(call);
    data.insert("startedAt".into(), json!(now));
    EntryKind::Custom(CustomEntry {
        custom_type: TOOL_EXECUTION_START.into(),
        data: Some(Value::Object(data).into()),
        ..CustomEntry::default()
    })
    .into()
}

/// What a session notes of a call besides the message that makes it.
pub(crate) fn call_note(call: &ToolCall) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("toolCallId".into(), call.id.as_str().into());
    data.insert("toolName".into(), call.name.as_str().into());
    let noted = noted_arguments(&call.arguments);
    if !noted.is_empty() {
        data.insert("args".into(), noted.into());
    }
    let said = || call.arguments.get("i").and_then(Value::as_str);
    if let Some(intent) = call.intent.as_deref().or_else(said) {
        data.insert("intent".into(), intent.into());
    }
    data
}

/// The arguments that tell calls apart, cut to [`MAX_NOTED_CHARS`].
fn noted_arguments(arguments: &Json) -> Map<String, Value> {
    let text = |key: &'static str| Some((key, arguments.get(key)?.as_str()?));
    let noted = ["command", "path"].into_iter().filter_map(text);
    noted.map(|(key, text)| (key.to_owned(), cut(text).into())).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_NOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
