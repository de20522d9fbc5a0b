//! Messages and calls, folded into items.

use std::sync::Arc;

use longhand_agent::ToolOutput;
use longhand_agent::event::AssistantMessageEvent;
use longhand_session::message::StopReason;
use longhand_session::{AssistantMessage, Block, Json, Message, ToolCallId};

use super::ViewState;
use super::divider::Divider;
use super::item::{BlockOf, Body, Call, Output, Phase, ShellRun, Thinking};
use crate::tui::moment::Moment;

/// The tool whose calls in a row are shown together.
const GROUPED: &str = "read";

/// The message of the model that grows: which item each of its blocks has become.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenMessage {
    places: Vec<Place>,
}

/// Where a block of the open message is shown.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Not at all.
    Nowhere,
    /// As an item.
    Item(usize),
    /// As a call in an item.
    Call(usize, usize),
}

impl ViewState {
    /// A message begins. The user's and tools' are whole then; the model's is empty.
    pub(super) fn start_message(&mut self, message: &Arc<Message>) {
        // Messages of others are shown when they are stored, which is at once.
        if message.as_assistant().is_some() {
            self.open = Some(OpenMessage::default());
            if let Some(run) = &mut self.run {
                run.first_piece = None;
                run.received_bytes = 0;
            }
        }
    }

    /// The model's message grows. Only the block that the piece belongs to is looked at, and those that begin before it.
    pub(super) fn grow_message(
        &mut self,
        piece: &AssistantMessageEvent,
        partial: &Arc<AssistantMessage>,
        now: Moment,
    ) {
        use AssistantMessageEvent as E;
        let (block, bytes) = match piece {
            E::TextDelta { content_index, delta }
            | E::ThinkingDelta { content_index, delta }
            | E::ToolCallDelta { content_index, delta } => (*content_index, delta.len()),
            E::TextStart { content_index }
            | E::ThinkingStart { content_index }
            | E::ToolCallStart { content_index, .. }
            | E::BlockEnd { content_index } => (*content_index, 0),
            E::Done | E::Error => return,
        };
        if let Some(run) = &mut self.run {
            run.first_piece.get_or_insert(now);
            run.received_bytes += bytes;
        }
        let mut open = self.open.take().unwrap_or_default();
        let known = open.places.len();
        for (index, content) in partial.content.iter().enumerate().take(block + 1) {
            if index < known && index != block {
                continue;
            }
            let shown = BlockOf::growing(partial.clone(), index);
            self.show_block(&mut open, index, (content, shown), Some(now));
        }
        if let (E::BlockEnd { .. }, Some(Place::Item(at))) = (piece, open.places.get(block)) {
            self.end_thinking(*at, now);
        }
        self.open = Some(open);
    }

    /// A message is stored.
    pub(super) fn end_message(&mut self, message: &Arc<Message>) {
        self.add_message(message);
    }

    /// Shows a whole message. One that grew until now takes the place of what was shown of it.
    pub(super) fn add_message(&mut self, message: &Arc<Message>) {
        self.add_cost(message);
        match &**message {
            Message::User(_) => {
                self.push(Body::User(message.clone()));
            }
            // What the program tells the model is none of the conversation that the user reads.
            Message::Developer(_) | Message::Unknown(_) => {}
            Message::Assistant(assistant) => self.add_answer(message, assistant),
            Message::ToolResult(result) => {
                self.add_result(&result.tool_call_id, &result.tool_name, message);
            }
            Message::BashExecution(_) => {
                if let Some(run) = ShellRun::of(message) {
                    self.push(Body::Shell(run));
                }
            }
            Message::PythonExecution(execution) => {
                let text = format!("{}\n{}", execution.code, execution.output);
                self.push(Body::Custom { kind: "python".into(), text });
            }
            Message::FileMention(mention) => {
                let paths: Vec<&str> = mention.files.iter().map(|file| &*file.path).collect();
                self.push(Body::Remark(format!("mentioned {}", paths.join(", "))));
            }
            Message::Custom(custom) | Message::HookMessage(custom) => {
                if custom.display {
                    let text = custom.content.text();
                    self.push(Body::Custom { kind: custom.custom_type.clone(), text });
                }
            }
            Message::BranchSummary(branch) => {
                self.push(Body::Divider(Box::new(Divider::of_branch_message(branch))));
            }
            Message::CompactionSummary(summary) => {
                self.push(Body::Divider(Box::new(Divider::of_message(summary))));
            }
        }
    }

    fn add_answer(&mut self, message: &Arc<Message>, assistant: &AssistantMessage) {
        let mut open = self.open.take().unwrap_or_default();
        for (index, content) in assistant.content.iter().enumerate() {
            let shown = BlockOf::whole(message.clone(), index);
            self.show_block(&mut open, index, (content, shown), None);
        }
        for call in assistant.tool_calls() {
            if let Some(place) = self.calls.get(&call.id).copied() {
                self.change_call(place, |call| {
                    if call.phase == Phase::Arriving {
                        call.phase = Phase::Waiting;
                    }
                });
            }
        }
        match assistant.stop_reason {
            StopReason::Stop | StopReason::ToolUse => {}
            StopReason::Length => {
                self.push(Body::Remark("the answer was cut off at the output limit".into()));
            }
            StopReason::Aborted => {
                self.push(Body::Remark("interrupted".into()));
            }
            StopReason::Error => {
                let text = assistant.error_message.as_deref().unwrap_or("the request failed");
                self.push(Body::Error(text.to_owned()));
            }
        }
    }

    fn show_block(
        &mut self,
        open: &mut OpenMessage,
        index: usize,
        shown: (&Block, BlockOf),
        now: Option<Moment>,
    ) {
        let (content, shown) = shown;
        if open.places.len() <= index {
            open.places.resize(index + 1, Place::Nowhere);
        }
        open.places[index] = match (open.places[index], content) {
            (Place::Nowhere, Block::Text(_)) => Place::Item(self.push(Body::Text(shown))),
            (Place::Nowhere, Block::Thinking(_)) => {
                let thinking = Thinking { block: shown, since: now, took: None };
                Place::Item(self.push(Body::Thinking(thinking)))
            }
            (Place::Nowhere, Block::ToolCall(call)) => {
                let (item, card) = self.push_call(Call::new(call.name.clone()));
                self.fill_call(item, card, &call.id, &call.name, &call.arguments);
                Place::Call(item, card)
            }
            (Place::Call(item, card), Block::ToolCall(call)) => {
                self.fill_call(item, card, &call.id, &call.name, &call.arguments);
                Place::Call(item, card)
            }
            (Place::Item(at), Block::Text(_)) => {
                self.change(at, |body| *body = Body::Text(shown));
                Place::Item(at)
            }
            (Place::Item(at), Block::Thinking(_)) => {
                self.change(at, |body| {
                    if let Body::Thinking(thinking) = body {
                        thinking.block = shown;
                    }
                });
                Place::Item(at)
            }
            // Images of the model, its provider's own tools, and reasoning that only the provider can read.
            (place, _) => place,
        };
    }

    /// A reasoning block is complete.
    fn end_thinking(&mut self, at: usize, now: Moment) {
        self.change(at, |body| {
            if let Body::Thinking(thinking) = body {
                thinking.took = thinking.since.map(|since| now.since(since));
            }
        });
    }

    /// Adds a call: to the reads above it, where it is one more.
    fn push_call(&mut self, call: Call) -> (usize, usize) {
        if call.tool == GROUPED
            && let Some(item) = self.items.last_mut()
            && let Body::Calls(calls) = &mut item.body
            && calls.iter().all(|other| other.tool == GROUPED)
        {
            item.revision += 1;
            calls.push(call);
            let card = calls.len() - 1;
            return (self.items.len() - 1, card);
        }
        (self.push(Body::Calls(vec![call])), 0)
    }

    fn fill_call(
        &mut self,
        item: usize,
        card: usize,
        id: &ToolCallId,
        tool: &str,
        arguments: &Json,
    ) {
        if !id.as_str().is_empty() {
            self.calls.insert(id.clone(), (item, card));
        }
        self.change_call((item, card), |call| {
            tool.clone_into(&mut call.tool);
            call.arguments = arguments.clone();
        });
    }

    fn change_call(&mut self, (item, card): (usize, usize), change: impl FnOnce(&mut Call)) {
        self.change(item, |body| {
            if let Body::Calls(calls) = body
                && let Some(call) = calls.get_mut(card)
            {
                change(call);
            }
        });
    }

    /// The place of a call. One that was never announced gets a card of its own.
    fn place_of(&mut self, id: &ToolCallId, tool: &str) -> (usize, usize) {
        if let Some(place) = self.calls.get(id) {
            return *place;
        }
        let place = self.push_call(Call::new(tool));
        self.calls.insert(id.clone(), place);
        place
    }

    pub(super) fn start_call(&mut self, id: &ToolCallId, tool: &str, arguments: &Json) {
        let place = self.place_of(id, tool);
        self.change_call(place, |call| {
            call.phase = Phase::Running;
            call.arguments = arguments.clone();
        });
    }

    pub(super) fn update_call(&mut self, id: &ToolCallId, partial: &ToolOutput) {
        if let Some(place) = self.calls.get(id).copied() {
            self.change_call(place, |call| call.output = Some(Output::Unstored(partial.clone())));
        }
    }

    pub(super) fn end_call(&mut self, id: &ToolCallId, result: &ToolOutput, is_error: bool) {
        if let Some(place) = self.calls.get(id).copied() {
            self.change_call(place, |call| {
                call.phase = Phase::Done;
                call.output = Some(Output::Unstored(ToolOutput { is_error, ..result.clone() }));
            });
        }
    }

    fn add_result(&mut self, id: &ToolCallId, tool: &str, message: &Arc<Message>) {
        let place = self.place_of(id, tool);
        self.change_call(place, |call| {
            call.phase = Phase::Done;
            call.output = Some(Output::Stored(message.clone()));
        });
    }

    pub(super) fn replace_result(&mut self, id: &ToolCallId, message: &Arc<Message>) {
        if let Some(place) = self.calls.get(id).copied() {
            self.change_call(place, |call| call.output = Some(Output::Stored(message.clone())));
        }
    }

    /// The run is over: calls that have not ended never will. Looks at the newest items only, back to what the user said.
    pub(super) fn abandon_calls(&mut self) {
        for item in self.items.iter_mut().rev() {
            match &mut item.body {
                Body::User(_) => return,
                Body::Calls(calls) => {
                    for call in calls.iter_mut().filter(|call| call.phase != Phase::Done) {
                        call.phase = Phase::Abandoned;
                        item.revision += 1;
                    }
                }
                _ => {}
            }
        }
    }
}
