//! Calls and results in pairs: the last repair before a request goes to a wire.
//!
//! A provider refuses a request in which a call has no result or a result has no call. Whatever cut, crash or foreign writer
//! made the messages, after [`repair`] each call is directly followed by exactly one result, and nothing else is a result.
//! Repairing again changes nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ids::ToolCallId;
use crate::message::{
    AssistantMessage, Block, Content, Message, StopReason, ToolResult, UserMessage,
};

/// Brings calls and results together. Messages that need no change keep their identity. Linear in the messages.
pub fn repair(messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let mut refused = HashSet::new();
    let messages: Vec<_> =
        messages.into_iter().filter_map(|message| sound(message, &mut refused)).collect();
    let answers = Answers::find(&messages);
    let mut repaired = Vec::with_capacity(messages.len());
    let mut window = Window::default();
    for (index, message) in messages.iter().enumerate() {
        match &**message {
            Message::ToolResult(result) => {
                if let Some(turn) = answers.turn_of_result.get(&index) {
                    if *turn == window.turn && window.open.remove(&result.tool_call_id) {
                        repaired.push(Arc::clone(message));
                    }
                } else if window.open.is_empty()
                    && !answers.calls.contains(&result.tool_call_id)
                    && !refused.contains(&result.tool_call_id)
                {
                    repaired.extend(stale_note(result));
                }
            }
            Message::Assistant(turn) => {
                window.close(&messages, &answers, &mut repaired);
                window.open_for(index, turn);
                repaired.push(Arc::clone(message));
            }
            _ => {
                window.close(&messages, &answers, &mut repaired);
                repaired.push(Arc::clone(message));
            }
        }
    }
    window.close(&messages, &answers, &mut repaired);
    repaired
}

/// The message without calls that no result could answer; nothing, if it then says nothing. Ids of such calls go to `refused`.
fn sound(message: Arc<Message>, refused: &mut HashSet<ToolCallId>) -> Option<Arc<Message>> {
    let Message::Assistant(turn) = &*message else { return Some(message) };
    let mut seen = HashSet::new();
    let content: Vec<&Block> = turn
        .content
        .iter()
        .filter(|block| {
            let Some(call) = block.as_tool_call() else { return true };
            if call.id.as_str().trim().is_empty() || call.name.trim().is_empty() {
                refused.insert(call.id.clone());
                return false;
            }
            // A provider refuses two calls of one id in a turn.
            seen.insert(&call.id)
        })
        .collect();
    if content.len() == turn.content.len() {
        return (!says_nothing(turn)).then_some(message);
    }
    let content: Vec<Block> = content.into_iter().cloned().collect();
    let turn = AssistantMessage { content, ..(**turn).clone() };
    (!turn.content.is_empty() && !says_nothing(&turn))
        .then(|| Arc::new(Message::Assistant(Box::new(turn))))
}

/// Whether a turn was cut off before it said or called anything.
fn says_nothing(turn: &AssistantMessage) -> bool {
    matches!(turn.stop_reason, StopReason::Length | StopReason::Error | StopReason::Aborted)
        && !turn.content.iter().any(|block| match block {
            Block::Text(block) => !block.text.trim().is_empty(),
            Block::ToolCall(_) => true,
            _ => false,
        })
}

/// Which result answers which call.
struct Answers {
    /// Ids of all calls.
    calls: HashSet<ToolCallId>,
    /// Index of the turn by index of the result, for results that come after a call of their id, spare ones included.
    turn_of_result: HashMap<usize, usize>,
    /// Index of the first result by turn and call.
    result: HashMap<(usize, ToolCallId), usize>,
}

impl Answers {
    /// Gives each result to the nearest turn before it that makes its call: some providers use an id again.
    fn find(messages: &[Arc<Message>]) -> Self {
        let mut newest_turn = HashMap::new();
        let mut turn_of_result = HashMap::new();
        let mut answers = HashMap::new();
        for (index, message) in messages.iter().enumerate() {
            match &**message {
                Message::Assistant(turn) => {
                    newest_turn.extend(turn.tool_calls().map(|call| (call.id.clone(), index)));
                }
                Message::ToolResult(result) => {
                    if let Some(turn) = newest_turn.get(&result.tool_call_id) {
                        turn_of_result.insert(index, *turn);
                        answers.entry((*turn, result.tool_call_id.clone())).or_insert(index);
                    }
                }
                _ => {}
            }
        }
        Self { calls: newest_turn.into_keys().collect(), turn_of_result, result: answers }
    }
}

/// The turn whose results are being collected.
#[derive(Default)]
struct Window<'a> {
    turn: usize,
    reply: Option<&'a AssistantMessage>,
    /// Calls without result so far.
    open: HashSet<ToolCallId>,
}

impl<'a> Window<'a> {
    fn open_for(&mut self, turn: usize, reply: &'a AssistantMessage) {
        self.turn = turn;
        self.reply = Some(reply);
        self.open = reply.tool_calls().map(|call| call.id.clone()).collect();
    }

    /// Answers what is still open: with a result that came late, else with one that says that there is none.
    fn close(&mut self, messages: &[Arc<Message>], answers: &Answers, out: &mut Vec<Arc<Message>>) {
        let Some(reply) = self.reply.take() else { return };
        for call in reply.tool_calls().filter(|call| self.open.contains(&call.id)) {
            let late = answers.result.get(&(self.turn, call.id.clone()));
            out.push(late.map_or_else(
                || Arc::new(Message::ToolResult(missing(reply, &call.id, &call.name))),
                |index| Arc::clone(&messages[*index]),
            ));
        }
        self.open.clear();
    }
}

fn missing(reply: &AssistantMessage, id: &ToolCallId, tool_name: &str) -> ToolResult {
    let text = if reply.is_unfinished() { "aborted" } else { "No result provided" };
    ToolResult {
        tool_call_id: id.clone(),
        tool_name: tool_name.to_owned(),
        content: vec![Block::text(text)],
        is_error: true,
        timestamp: reply.timestamp,
        ..ToolResult::default()
    }
}

/// A result without call, told as what it was. Never as the developer's word: tools may return anything.
fn stale_note(result: &ToolResult) -> Option<Arc<Message>> {
    let text = result.content.iter().filter_map(Block::as_text).collect::<Vec<_>>().join("\n");
    if text.trim().is_empty() {
        return None;
    }
    let (tool, id) = (&result.tool_name, &result.tool_call_id);
    let error = if result.is_error { r#" is-error="true""# } else { "" };
    let text = format!(
        "<stale-tool-result tool=\"{tool}\" id=\"{id}\"{error}>\n{text}\n</stale-tool-result>"
    );
    Some(Arc::new(Message::User(UserMessage {
        content: Content::Text(text),
        timestamp: result.timestamp,
        ..UserMessage::default()
    })))
}
