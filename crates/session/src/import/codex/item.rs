//! One record of a Codex transcript: what it says, in our terms.

use serde_json::value::RawValue;

use super::compacted::{self, Compacted};
use super::content;
use crate::block::{Block, ThinkingBlock, ToolCall};
use crate::ids::ToolCallId;
use crate::import::fields::{
    count, is_true, items, members, millis, name, object, pick, text, words,
};

/// A record.
pub(super) struct Item<'a> {
    /// Milliseconds since the epoch.
    pub(super) millis: Option<i64>,
    pub(super) says: Vec<Says<'a>>,
    /// What it repeats, if the transcript has that too.
    pub(super) echo: Option<Echo>,
}

/// What a record says.
pub(super) enum Says<'a> {
    Session {
        id: Option<String>,
        cwd: Option<String>,
    },
    Model(String),
    User(Vec<Block>),
    Reply(Vec<Block>),
    Result {
        call: ToolCallId,
        content: Vec<Block>,
        is_error: bool,
    },
    Compacted(Compacted<'a>),
    /// The last turns are gone, so many.
    RolledBack(u64),
    Title(String),
    /// Nothing of a conversation. The name says what it is.
    Skipped(String),
}

/// What an event may repeat.
pub(super) enum Echo {
    /// A text in a voice.
    Text(Voice, String),
    /// A call of a tool.
    Call(ToolCallId),
}

/// Who says a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Voice {
    User,
    Reply,
    Thinking,
}

impl<'a> Item<'a> {
    pub(super) fn read(line: u64, record: &'a RawValue) -> Self {
        let [timestamp, kind, payload] = pick(record.get(), ["timestamp", "type", "payload"]);
        let kind = text(kind).unwrap_or_default();
        let mut echo = None;
        let says = match (kind.as_str(), payload) {
            ("session_meta", Some(meta)) => session(meta),
            ("turn_context", _) => {
                let [model] = members(payload, ["model"]);
                name(model).map(Says::Model).into_iter().collect()
            }
            ("response_item", Some(item)) => response_item(line, item),
            ("event_msg", Some(event)) => {
                let (says, of) = event_message(line, event);
                echo = of;
                says
            }
            ("compacted", Some(compacted)) => {
                vec![
                    compacted::read(compacted)
                        .map_or_else(|| skipped("compacted"), Says::Compacted),
                ]
            }
            // The oldest transcripts hold items as they are, after a first line without a type.
            ("", None) => session(record),
            (_, None) => response_item(line, record),
            (other, Some(_)) => vec![skipped(other)],
        };
        Self { millis: millis(timestamp), says, echo }
    }
}

fn skipped(name: &str) -> Says<'static> {
    Says::Skipped(name.to_owned())
}

fn session(meta: &RawValue) -> Vec<Says<'static>> {
    let [id, cwd] = pick(meta.get(), ["id", "cwd"]);
    vec![Says::Session { id: words(id), cwd: words(cwd) }]
}

fn thinking(text: String) -> Block {
    Block::Thinking(ThinkingBlock { thinking: text, ..ThinkingBlock::default() })
}

fn call(id: ToolCallId, tool: &str, arguments: crate::json::Json) -> ToolCall {
    ToolCall { id, name: tool.to_owned(), arguments, ..ToolCall::default() }
}

fn reply(blocks: Vec<Block>) -> Vec<Says<'static>> {
    if blocks.is_empty() { vec![skipped("empty reply")] } else { vec![Says::Reply(blocks)] }
}

fn response_item(line: u64, item: &RawValue) -> Vec<Says<'static>> {
    let [kind, role, content, summary, call_id, id, tool, arguments, input, output, action] = pick(
        item.get(),
        [
            "type",
            "role",
            "content",
            "summary",
            "call_id",
            "id",
            "name",
            "arguments",
            "input",
            "output",
            "action",
        ],
    );
    let call_id = || {
        let id = words(call_id).or_else(|| words(id));
        ToolCallId::from(id.unwrap_or_else(|| format!("codex-call-{line}")))
    };
    let kind = text(kind).unwrap_or_default();
    match kind.as_str() {
        "message" => message(role, content),
        "reasoning" => {
            let texts = [items(summary), items(content)].concat();
            let texts =
                texts.into_iter().filter_map(|part| words(members(Some(part), ["text"])[0]));
            reply(texts.map(thinking).collect())
        }
        "function_call" => {
            let tool = name(tool).unwrap_or_else(|| "unknown".into());
            let arguments = content::arguments(arguments);
            reply(vec![Block::ToolCall(call(call_id(), &tool, arguments))])
        }
        "custom_tool_call" => {
            let tool = name(tool).unwrap_or_else(|| "unknown".into());
            let arguments = serde_json::json!({"input": text(input).unwrap_or_default()});
            let mut call = call(call_id(), &tool, arguments.into());
            call.extra.insert("customWireName", serde_json::Value::from(tool).into());
            reply(vec![Block::ToolCall(call)])
        }
        "local_shell_call" => {
            reply(vec![Block::ToolCall(call(call_id(), "local_shell", object(action)))])
        }
        "web_search_call" => {
            reply(vec![Block::ToolCall(call(call_id(), "web_search", object(action)))])
        }
        "tool_search_call" => {
            let arguments = content::arguments(arguments);
            reply(vec![Block::ToolCall(call(call_id(), "tool_search", arguments))])
        }
        "tool_search_output" => {
            let [status, tools] = pick(item.get(), ["status", "tools"]);
            let is_error = text(status).as_deref() == Some("failed");
            let content = content::of_output(output.or(tools));
            vec![Says::Result { call: call_id(), content, is_error }]
        }
        other if other.ends_with("_output") => {
            let content = content::of_output(output);
            vec![Says::Result { call: call_id(), content, is_error: false }]
        }
        other => vec![skipped(other)],
    }
}

fn message(role: Option<&RawValue>, content: Option<&RawValue>) -> Vec<Says<'static>> {
    let role = text(role).unwrap_or_default();
    let blocks = content::blocks(content);
    match role.as_str() {
        "user" | "assistant" if blocks.is_empty() => vec![skipped("empty message")],
        "user" => vec![Says::User(blocks)],
        "assistant" => vec![Says::Reply(blocks)],
        other => vec![Says::Skipped(format!("message {other}"))],
    }
}

/// What an event says, and what it repeats.
fn event_message(line: u64, event: &RawValue) -> (Vec<Says<'static>>, Option<Echo>) {
    let [kind, message, said, call_id, call_id_too, images, turns, thread_name] = pick(
        event.get(),
        ["type", "message", "text", "call_id", "callId", "images", "num_turns", "thread_name"],
    );
    let kind = text(kind).unwrap_or_default();
    let call_id = words(call_id).or_else(|| words(call_id_too));
    let call_id = ToolCallId::from(call_id.unwrap_or_else(|| format!("codex-call-{line}")));
    match kind.as_str() {
        "user_message" => {
            let said = text(message).unwrap_or_default();
            let pictures = items(images).into_iter().filter_map(content::picture);
            let words = (!said.trim().is_empty()).then(|| Block::text(said.clone()));
            let blocks: Vec<Block> = words.into_iter().chain(pictures).collect();
            if blocks.is_empty() {
                return (vec![skipped("empty message")], None);
            }
            (vec![Says::User(blocks)], Some(Echo::Text(Voice::User, said)))
        }
        "agent_message" => match words(message) {
            Some(said) => {
                (reply(vec![Block::text(said.clone())]), Some(Echo::Text(Voice::Reply, said)))
            }
            None => (vec![skipped("empty reply")], None),
        },
        "agent_reasoning" => match words(said) {
            Some(said) => {
                (reply(vec![thinking(said.clone())]), Some(Echo::Text(Voice::Thinking, said)))
            }
            None => (vec![skipped("empty reply")], None),
        },
        "dynamic_tool_call_request" => {
            let [tool, arguments] = pick(event.get(), ["tool", "arguments"]);
            let tool = name(tool).unwrap_or_else(|| "unknown".into());
            let block = call(call_id.clone(), &tool, content::arguments(arguments));
            (reply(vec![Block::ToolCall(block)]), Some(Echo::Call(call_id)))
        }
        "dynamic_tool_call_response" => {
            let [content, content_too, success] =
                pick(event.get(), ["content_items", "contentItems", "success"]);
            let is_error = success.is_some_and(|raw| raw.get() == "false");
            let content = content::of_output(content.or(content_too));
            let result = Says::Result { call: call_id.clone(), content, is_error };
            (vec![result], Some(Echo::Call(call_id)))
        }
        "mcp_tool_call_end" => (mcp_call(&call_id, event), Some(Echo::Call(call_id))),
        "web_search_end" => {
            let [query, action] = pick(event.get(), ["query", "action"]);
            let arguments = match text(query) {
                Some(query) => serde_json::json!({ "query": query }).into(),
                None => object(action),
            };
            let block = call(call_id.clone(), "web_search", arguments);
            (reply(vec![Block::ToolCall(block)]), Some(Echo::Call(call_id)))
        }
        "thread_name_updated" => (vec![Says::Title(text(thread_name).unwrap_or_default())], None),
        "thread_rolled_back" => (vec![Says::RolledBack(count(turns))], None),
        other => (vec![Says::Skipped(format!("event {other}"))], None),
    }
}

/// A call of a tool on a server, and its result.
fn mcp_call(call_id: &ToolCallId, event: &RawValue) -> Vec<Says<'static>> {
    let [invocation, result] = pick(event.get(), ["invocation", "result"]);
    let [server, tool, arguments] = members(invocation, ["server", "tool", "arguments"]);
    let part = |raw| name(raw).unwrap_or_else(|| "unknown".into());
    let tool = format!("{}/{}", part(server), part(tool));
    let call = call(call_id.clone(), &tool, content::arguments(arguments));
    let [ok, error] = members(result, ["Ok", "Err"]);
    let (content, is_error) = match (ok, error) {
        (_, Some(error)) => (content::of_output(Some(error)), true),
        (Some(ok), None) => {
            let [is_error, is_error_too] = pick(ok.get(), ["isError", "is_error"]);
            (content::of_mcp_result(ok), is_true(is_error) || is_true(is_error_too))
        }
        (None, None) => (Vec::new(), false),
    };
    let result = Says::Result { call: call_id.clone(), content, is_error };
    vec![Says::Reply(vec![Block::ToolCall(call)]), result]
}
