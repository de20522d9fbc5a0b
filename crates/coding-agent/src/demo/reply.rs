//! What the demo says to a request. A pure function: the same request gives the same reply.

use std::sync::Arc;

use longhand_agent::Request;
use longhand_agent::request::{Purpose, ToolChoice};
use longhand_session::message::{ToolCall, ToolResult, UserMessage};
use longhand_session::{AssistantMessage, Block, Message, ToolCallId};
use serde_json::Value;

use super::digest::{self, counted, one_line};
use super::plain_request::PlainRequest;
use super::transcript::first_argument;

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// One part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A call of a tool.
    Call {
        /// Id of the call.
        id: ToolCallId,
        /// Name of the tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
}

const HELP: &str = "I am the demo provider: a script, not a model. I understand these requests, and run real tools for them:

- `read FILE` shows a file, `read FILE:10-20` some lines of it
- `list DIR` lists a folder
- `search TEXT` finds a text in the files
- `run CMD` runs a shell command
- `write FILE: TEXT` writes a file
- `help` shows this list

Everything around me is real: tools, approval, the transcript, compaction. `run seq 1 2000` fills the context quickly.";

const GREETING: &str = "Hello. I am the demo provider: a script, not a model. I cannot answer questions or write code, but I can show you around: \
I call real tools, and the transcript, the approval of calls and the compaction of a long context work as with a model.

Try `list .` first, then `read FILE` with one of the names, or `help` for all that I understand.";

const NOT_UNDERSTOOD: &str = "That is beyond a script. I understand `read FILE`, `list DIR`, `search TEXT`, `run CMD`, `write FILE: TEXT` and `help`. \
For real answers choose a model: a key in the environment, or a local server with `--set providers.local.baseUrl=URL`.";

/// The reply to a request. Summaries are digests of the conversation in it; a turn is a plain request, the result of one, or
/// guidance.
pub fn reply(request: &Request) -> Script {
    let parts = match request.options.purpose {
        Purpose::Turn => turn(request),
        _ => vec![Part::Text(digest::digest(request))],
    };
    Script { parts }
}

fn turn(request: &Request) -> Vec<Part> {
    let messages = &request.messages;
    let results = trailing_results(messages);
    if !results.is_empty() {
        let before = messages[..messages.len() - results.len()].last();
        let call = before.and_then(|message| message.as_assistant());
        let sentences: Vec<_> = results.iter().map(|result| what_came_back(result, call)).collect();
        return vec![Part::Text(sentences.join(" "))];
    }
    match messages.iter().rev().find_map(|message| typed_by_user(message)) {
        // The program itself spoke last, after a compaction: the user's words are dealt with if a reply follows them.
        Some(_) if is_answered(messages) => {
            vec![Part::Text("What you asked for is done. Waiting for the next request.".into())]
        }
        Some(message) => to_user(request, &message.content.text()),
        None => vec![Part::Text(GREETING.into())],
    }
}

fn to_user(request: &Request, text: &str) -> Vec<Part> {
    let text = match PlainRequest::find(text) {
        Some(Ok(plain)) => match plain.call(&request.tools) {
            Some((tool, arguments)) => return call(request, tool, arguments),
            None => HELP.into(),
        },
        Some(Err(misused)) => {
            format!(
                "I am a script and take such a request only in the form `{}`. `help` lists all of them.",
                misused.usage
            )
        }
        None if has_replied(&request.messages) => NOT_UNDERSTOOD.into(),
        None => GREETING.into(),
    };
    vec![Part::Text(text)]
}

fn call(request: &Request, tool: &str, arguments: Value) -> Vec<Part> {
    let is_offered = request.tools.iter().any(|spec| spec.name == tool);
    if !is_offered || request.options.tool_choice == Some(ToolChoice::None) {
        return vec![Part::Text(format!(
            "I would call `{tool}` for that, but this session has no such tool."
        ))];
    }
    let said = format!("I call `{tool}`.");
    // Unique in the session: no two requests end in a message of the same time and have the same length.
    let time = request.messages.last().map_or(0, |message| message.timestamp());
    let id = ToolCallId::from(format!("demo_{time:x}_{}", request.messages.len()));
    vec![Part::Text(said), Part::Call { id, tool: tool.into(), arguments }]
}

fn what_came_back(result: &ToolResult, reply: Option<&AssistantMessage>) -> String {
    let call =
        reply.and_then(|reply| reply.tool_calls().find(|call| call.id == result.tool_call_id));
    let name = call.map_or_else(|| result.tool_name.clone(), call_label);
    let text: String = result.content.iter().filter_map(Block::as_text).collect();
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let first = one_line(&text).replace('`', "'");
    if result.is_error {
        return format!("`{name}` failed: `{first}`.");
    }
    match lines {
        0 => format!("`{name}` gave nothing."),
        _ => format!("`{name}` gave {}; the first one is `{first}`.", counted(lines, "line")),
    }
}

fn call_label(call: &ToolCall) -> String {
    match first_argument(call.arguments.value()) {
        Some(argument) => one_line(&format!("{} {argument}", call.name)).replace('`', "'"),
        None => call.name.clone(),
    }
}

fn trailing_results(messages: &[Arc<Message>]) -> Vec<&ToolResult> {
    let count =
        messages.iter().rev().take_while(|message| message.as_tool_result().is_some()).count();
    messages[messages.len() - count..]
        .iter()
        .filter_map(|message| message.as_tool_result())
        .collect()
}

/// A message that the user typed, not one that the program wrote in the user's stead.
fn typed_by_user(message: &Message) -> Option<&UserMessage> {
    match message {
        Message::User(user) if user.synthetic != Some(true) => Some(user),
        _ => None,
    }
}

fn is_answered(messages: &[Arc<Message>]) -> bool {
    let since_user = messages.iter().rev().take_while(|message| typed_by_user(message).is_none());
    since_user
        .into_iter()
        .any(|message| message.as_assistant().is_some_and(|reply| !reply.is_unfinished()))
}

fn has_replied(messages: &[Arc<Message>]) -> bool {
    messages.iter().any(|message| message.as_assistant().is_some())
}
