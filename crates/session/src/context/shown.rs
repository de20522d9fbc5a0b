//! What a model is shown of messages, one after another: no call without result, no turn that failed or was stopped, and no result
//! of such a turn. A stopped turn is shown where the note about its interrupted thinking follows.

use std::sync::Arc;

use imbl::{HashSet, Vector};

use super::dangling;
use crate::ids::ToolCallId;
use crate::llm;
use crate::message::{AssistantMessage, Message};

/// The messages that a model is shown so far. Clones share what they have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) messages: Vector<Arc<Message>>,
    /// Calls that have a result anywhere, also later than the messages so far.
    pub(super) answered: HashSet<ToolCallId>,
    /// Calls whose results are not shown, because the newest turn that made them is not.
    hidden_calls: HashSet<ToolCallId>,
    /// A stopped turn that is hidden unless the next message is the note about it.
    stopped: Option<Arc<Message>>,
}

impl Shown {
    /// Nothing yet. All messages that will come are given for their results.
    pub(super) fn expecting(messages: &[Arc<Message>]) -> Self {
        let results = messages.iter().filter_map(|message| message.as_tool_result());
        let answered = results.map(|result| result.tool_call_id.clone()).collect();
        Self { answered, ..Self::default() }
    }

    /// The same messages, now that more calls are known to have results. None of these calls is in the messages.
    pub(super) fn with_answered(self, answered: HashSet<ToolCallId>) -> Self {
        Self { answered, ..self }
    }

    /// Takes in the next message.
    pub(super) fn push(&mut self, message: Arc<Message>) {
        let message = match dangling::strip(&message, |id| self.answered.contains(id)) {
            None => message,
            Some((turn, _)) if turn.content.is_empty() => return,
            Some((turn, _)) => Arc::new(Message::Assistant(Box::new(turn))),
        };
        if let Some(stopped) = self.stopped.take()
            && llm::is_interruption_note(Some(&message))
        {
            self.hidden_calls.retain(|id| calls(&stopped).all(|call| call != id));
            self.messages.push_back(stopped);
        }
        match &*message {
            Message::Assistant(turn) if turn.is_unfinished() => {
                self.hidden_calls.extend(calls(&message).cloned());
                self.stopped = Some(message);
                return;
            }
            Message::Assistant(_) => {
                for call in calls(&message) {
                    self.hidden_calls.remove(call);
                }
            }
            Message::ToolResult(result) if self.hidden_calls.contains(&result.tool_call_id) => {
                return;
            }
            _ => {}
        }
        self.messages.push_back(message);
    }
}

/// The calls that a message makes.
pub(super) fn calls(message: &Message) -> impl Iterator<Item = &ToolCallId> {
    let turn = message.as_assistant().into_iter();
    turn.flat_map(AssistantMessage::tool_calls).map(|call| &call.id)
}
