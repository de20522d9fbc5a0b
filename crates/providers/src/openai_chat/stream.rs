//! Folds the chunks of a reply into events and, at the end, into the message.
//!
//! Pure: no clock, no network. Whatever comes, the message holds what was said until then, and only that: the state of the
//! parsing never becomes part of it.

use longhand_agent::{ErrorKind, ModelError, StreamEvent};
use longhand_session::message::{StopReason, ThinkingBlock, ToolCall};
use longhand_session::{AssistantMessage, Block, Json, Model, ToolCallId};
use serde_json::Value;

use super::calls::Calls;
use super::dialect::{Dialect, Quirk};
use super::messages::REASONING_MEMBERS;
use super::usage;
use crate::classify;
use crate::think_tags::{Part, Splitter};

/// A prompt that fills this share of the window leaves no room for a reply.
const FULL_WINDOW_PERCENT: u64 = 99;

/// How the stream ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// The server said that the reply is complete.
    Done,
    /// The connection ended, or the server fell silent after giving the reason for the end.
    Closed,
    /// The request failed or was stopped.
    Failed(ModelError),
}

/// The reply as far as it has come.
pub(crate) struct Fold<'a> {
    model: &'a Model,
    dialect: Dialect,
    message: AssistantMessage,
    /// The text or reasoning block that grows.
    open: Option<Open>,
    tags: Splitter,
    calls: Calls,
    /// The block of each call.
    call_blocks: Vec<usize>,
    finish_reason: Option<String>,
    error: Option<ModelError>,
    has_output: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text(usize),
    Thinking(usize),
}

impl<'a> Fold<'a> {
    /// Before the first chunk.
    pub(crate) fn new(model: &'a Model) -> Self {
        let message = AssistantMessage {
            api: model.api.as_str().to_owned(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            ..AssistantMessage::default()
        };
        Self {
            model,
            dialect: Dialect::of(model),
            message,
            open: None,
            tags: Splitter::default(),
            calls: Calls::default(),
            call_blocks: Vec::new(),
            finish_reason: None,
            error: None,
            has_output: false,
        }
    }

    /// Whether anything was said: from then on a replay would repeat it.
    pub(crate) fn has_output(&self) -> bool {
        self.has_output
    }

    /// Whether the server gave the reason for the end.
    pub(crate) fn has_finish_reason(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Whether the server reported usage.
    pub(crate) fn has_usage(&self) -> bool {
        self.message.usage.is_some()
    }

    /// Takes one chunk. An error inside it ends the reply.
    ///
    /// # Errors
    /// The server reports a failure.
    pub(crate) fn chunk(
        &mut self,
        chunk: &Value,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Value> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(error.clone());
        }
        if chunk.get("object").is_some_and(|object| object == "error") {
            return Err(chunk.clone());
        }
        self.note(chunk);
        let choices = chunk.get("choices").and_then(Value::as_array);
        let Some(choice) = choices.and_then(|choices| choices.first()) else { return Ok(()) };
        self.usage(choice.get("usage"));
        if let Some(error) = choice.get("error").filter(|error| error.is_object()) {
            return Err(error.clone());
        }
        // A server that does not stream answers with one whole message.
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, events);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish_reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn note(&mut self, chunk: &Value) {
        let text =
            |key: &str| chunk.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if self.message.response_id.is_none() {
            self.message.response_id = text("id").map(str::to_owned);
        }
        if let Some(upstream) = text("provider") {
            self.message.extra.insert("upstreamProvider", Json::from(Value::from(upstream)));
        }
        self.usage(chunk.get("usage"));
    }

    fn usage(&mut self, reported: Option<&Value>) {
        if let Some(usage) = reported.and_then(|reported| usage::read(reported, self.model)) {
            self.message.usage = Some(usage);
        }
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        for member in REASONING_MEMBERS {
            let Some(text) =
                delta.get(member).and_then(Value::as_str).filter(|text| !text.is_empty())
            else {
                continue;
            };
            self.thinking(text, Some(member), events);
            // Some servers send the same reasoning under two names.
            break;
        }
        let content = match delta.get("content").or_else(|| delta.get("refusal")) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
            }
            _ => String::new(),
        };
        for part in self.tags.push(&content) {
            self.part(part, events);
        }
        if let Some(pieces) = delta.get("tool_calls").and_then(Value::as_array) {
            self.tool_calls(pieces, events);
        } else if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            self.tool_calls(std::slice::from_ref(call), events);
        }
    }

    fn part(&mut self, part: Part, events: &mut Vec<StreamEvent>) {
        match part {
            Part::Text(text) => self.text(text, events),
            Part::Thinking(text) => self.thinking(&text, None, events),
        }
    }

    fn text(&mut self, delta: String, events: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        let index = if let Some(Open::Text(index)) = self.open {
            index
        } else {
            let index = self.begin(Block::text(""), events);
            self.open = Some(Open::Text(index));
            events.push(StreamEvent::TextStart { index });
            index
        };
        if let Some(Block::Text(block)) = self.message.content.get_mut(index) {
            block.text.push_str(&delta);
        }
        self.has_output = true;
        events.push(StreamEvent::TextDelta { index, delta });
    }

    fn thinking(&mut self, delta: &str, member: Option<&str>, events: &mut Vec<StreamEvent>) {
        let index = if let Some(Open::Thinking(index)) = self.open {
            index
        } else {
            let block = ThinkingBlock {
                thinking_signature: member.map(str::to_owned),
                ..ThinkingBlock::default()
            };
            let index = self.begin(Block::Thinking(block), events);
            self.open = Some(Open::Thinking(index));
            events.push(StreamEvent::ThinkingStart { index });
            index
        };
        if let Some(Block::Thinking(block)) = self.message.content.get_mut(index) {
            block.thinking.push_str(delta);
        }
        self.has_output = true;
        events.push(StreamEvent::ThinkingDelta { index, delta: delta.to_owned() });
    }

    /// Ends the open block and begins another.
    fn begin(&mut self, block: Block, events: &mut Vec<StreamEvent>) -> usize {
        self.end_open(events);
        self.message.content.push(block);
        self.message.content.len() - 1
    }

    fn end_open(&mut self, events: &mut Vec<StreamEvent>) {
        if let Some(Open::Text(index) | Open::Thinking(index)) = self.open.take() {
            events.push(StreamEvent::BlockEnd { index });
        }
    }

    fn tool_calls(&mut self, pieces: &[Value], events: &mut Vec<StreamEvent>) {
        if let Some(part) = self.tags.finish() {
            self.part(part, events);
        }
        for change in self.calls.push(pieces) {
            if change.is_new {
                self.has_output = true;
                let index = self.begin(Block::ToolCall(ToolCall::default()), events);
                self.call_blocks.push(index);
                let name = self.calls.name(change.call).to_owned();
                events.push(StreamEvent::ToolCallStart { index, name });
            }
            if !change.delta.is_empty() {
                self.has_output = true;
                let index = self.call_blocks[change.call];
                events.push(StreamEvent::ToolCallDelta { index, delta: change.delta });
            }
        }
    }

    /// Ends the reply: the message, and why it failed if it did. `new_id` names calls that came without an id.
    pub(crate) fn finish(
        mut self,
        end: End,
        events: &mut Vec<StreamEvent>,
        new_id: &dyn Fn() -> ToolCallId,
    ) -> (AssistantMessage, Option<ModelError>) {
        if let Some(part) = self.tags.finish() {
            self.part(part, events);
        }
        self.end_open(events);
        self.write_calls(events, new_id);
        self.error = match end {
            End::Failed(error) => Some(error),
            End::Done => self.stop(),
            End::Closed if self.finish_reason.is_some() => self.stop(),
            End::Closed => Some(ModelError::new(
                ErrorKind::Transient,
                format!("the reply of `{}` ended before it was complete", self.model.reference()),
            )),
        };
        if let Some(error) = &self.error {
            self.message.stop_reason =
                if error.is(ErrorKind::Aborted) { StopReason::Aborted } else { StopReason::Error };
            self.message.error_message = Some(error.text.clone());
            self.message.error_status = error.status.map(u64::from);
        }
        (self.message, self.error)
    }

    fn write_calls(&mut self, events: &mut Vec<StreamEvent>, new_id: &dyn Fn() -> ToolCallId) {
        let mut blanks = Vec::new();
        for (call, index) in self.calls.iter().zip(&self.call_blocks) {
            if call.is_blank() {
                blanks.push(*index);
                continue;
            }
            self.message.content[*index] = Block::ToolCall(ToolCall {
                id: if call.id.is_empty() { new_id() } else { call.id.as_str().into() },
                name: call.name.clone(),
                arguments: Json::from(Value::Object(call.arguments())),
                ..ToolCall::default()
            });
            events.push(StreamEvent::BlockEnd { index: *index });
        }
        for index in blanks.into_iter().rev() {
            self.message.content.remove(index);
        }
    }

    /// What the server's reason for the end means.
    fn stop(&mut self) -> Option<ModelError> {
        let given = self.finish_reason.clone().unwrap_or_else(|| "stop".into());
        let has_calls = self.message.tool_calls().next().is_some();
        let failed = |text: String| (StopReason::Error, Some(finish_error(text)));
        let (stop_reason, error) = match given.to_ascii_lowercase().as_str() {
            // Servers confuse the two: whether there are calls is what counts.
            "stop" | "end" | "tool_calls" | "function_call" => {
                (if has_calls { StopReason::ToolUse } else { StopReason::Stop }, None)
            }
            "length" | "max_tokens" => (StopReason::Length, self.overflow()),
            "error" => failed("Provider returned error finish_reason".into()),
            "insufficient_system_resource" => {
                failed(format!("Provider returned error finish_reason: {given}"))
            }
            _ => failed(format!("Provider finish_reason: {given}")),
        };
        self.message.stop_reason = stop_reason;
        error.or_else(|| self.empty(stop_reason))
    }

    /// A reply that ended at its limit before it began: the prompt left no room.
    fn overflow(&self) -> Option<ModelError> {
        if self.message.content.iter().any(|block| !matches!(block, Block::Thinking(_))) {
            return None;
        }
        let usage = self.message.usage.as_ref();
        let has_no_output =
            self.message.content.is_empty() && usage.is_none_or(|usage| usage.output == 0);
        let is_full = usage.zip(self.model.context_window).is_some_and(|(usage, window)| {
            usage.billed_prompt().saturating_mul(100) >= window.saturating_mul(FULL_WINDOW_PERCENT)
        });
        (has_no_output && (is_full || self.dialect.has(Quirk::EmptyLengthIsOverflow))).then(|| {
            ModelError::new(
                ErrorKind::ContextOverflow,
                format!(
                    "`{}` returned no content: the prompt filled the context window (raise the server's context size or shorten the prompt)",
                    self.model.reference()
                ),
            )
        })
    }

    fn empty(&self, stop_reason: StopReason) -> Option<ModelError> {
        let says_something = self.message.content.iter().any(|block| match block {
            Block::Text(text) => !text.text.trim().is_empty(),
            Block::Thinking(_) | Block::RedactedThinking(_) => false,
            _ => true,
        });
        (stop_reason == StopReason::Stop && !says_something).then(|| ModelError {
            kinds: vec![ErrorKind::Transient, ErrorKind::EmptyResponse],
            status: None,
            hint: None,
            text: format!("`{}` returned an empty reply", self.model.reference()),
        })
    }
}

fn finish_error(text: String) -> ModelError {
    ModelError { kinds: classify::kinds(None, &text), status: None, hint: None, text }
}
