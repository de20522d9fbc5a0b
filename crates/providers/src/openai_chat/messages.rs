//! The conversation in this protocol's messages.
//!
//! Deterministic, and stable under appending: a later message never changes how an earlier one is written. Expects that calls and
//! results were paired before; roles that only a session knows must have been converted, and are left out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use longhand_session::message::{ImageBlock, StopReason, ThinkingBlock, ToolCall, ToolResult};
use longhand_session::{AssistantMessage, Block, Content, Message, Model};
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Quirk};

/// What stands for a picture that the model cannot see.
const IMAGE_OMITTED: &str = "[image omitted: model does not support vision]";

/// Members that reasoning arrives in, and goes back in.
pub(crate) const REASONING_MEMBERS: [&str; 3] =
    ["reasoning_content", "reasoning", "reasoning_text"];

/// The messages after the system prompt.
pub(crate) fn convert(messages: &[Arc<Message>], model: &Model, dialect: &Dialect) -> Vec<Value> {
    let mut writer = Writer {
        model,
        dialect,
        ids: CallIds::default(),
        out: Vec::with_capacity(messages.len()),
        tool_images: Vec::new(),
        follows_results: false,
    };
    for message in messages {
        writer.message(message);
    }
    writer.end_results();
    if dialect.has(Quirk::CacheMarks) {
        mark_newest(&mut writer.out);
    }
    writer.out
}

struct Writer<'a> {
    model: &'a Model,
    dialect: &'a Dialect,
    ids: CallIds,
    out: Vec<Value>,
    /// Pictures of the current run of tool results.
    tool_images: Vec<Value>,
    follows_results: bool,
}

impl Writer<'_> {
    fn message(&mut self, message: &Message) {
        if !matches!(message, Message::ToolResult(_)) {
            self.end_results();
        }
        match message {
            Message::User(user) => self.user("user", &user.content),
            Message::Developer(developer) => {
                let role =
                    if self.dialect.has(Quirk::DeveloperRole) { "developer" } else { "user" };
                self.user(role, &developer.content);
            }
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::ToolResult(result) => self.tool_result(result),
            Message::BashExecution(_)
            | Message::PythonExecution(_)
            | Message::FileMention(_)
            | Message::Custom(_)
            | Message::HookMessage(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_)
            | Message::Unknown(_) => {}
        }
    }

    fn user(&mut self, role: &str, content: &Content) {
        let content = match content {
            Content::Text(text) => Value::from(text.as_str()),
            Content::Blocks(blocks) => match blocks.as_slice() {
                [Block::Text(only)] => Value::from(only.text.as_str()),
                blocks => blocks.iter().filter_map(|block| self.part(block)).collect(),
            },
        };
        let is_blank = match &content {
            Value::String(text) => text.trim().is_empty(),
            Value::Array(parts) => parts.iter().all(|part| {
                part.get("text").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty())
            }),
            _ => true,
        };
        if is_blank {
            return;
        }
        if self.follows_results && self.dialect.has(Quirk::BridgedToolResults) {
            self.out.push(
                json!({"role": "assistant", "content": "I have processed the tool results."}),
            );
        }
        self.follows_results = false;
        self.out.push(json!({"role": role, "content": content}));
    }

    fn part(&self, block: &Block) -> Option<Value> {
        match block {
            Block::Text(text) => Some(json!({"type": "text", "text": text.text})),
            Block::Image(image) => Some(self.image(image)),
            Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolCall(_)
            | Block::ServerTool(_)
            | Block::Unknown(_) => None,
        }
    }

    /// A picture as a part, or a text part that says why there is none.
    fn image(&self, image: &ImageBlock) -> Value {
        let text = |text: &str| json!({"type": "text", "text": text});
        if !self.model.has_vision() || self.dialect.has(Quirk::NoImages) {
            return text(IMAGE_OMITTED);
        }
        let mime = match image.mime_type.as_str() {
            "image/jpg" => "image/jpeg",
            mime @ ("image/jpeg" | "image/png" | "image/gif" | "image/webp") => mime,
            other => return text(&format!("[unsupported image: {other}]")),
        };
        let mut source = json!({"url": format!("data:{mime};base64,{}", image.data)});
        // `original` is not a value of this protocol; leaving it out means the same.
        if let Some(detail) = image.detail.as_deref().filter(|detail| *detail != "original") {
            source["detail"] = detail.into();
        }
        json!({"type": "image_url", "image_url": source})
    }

    fn assistant(&mut self, message: &AssistantMessage) {
        if is_cut_off_reasoning(message) {
            return;
        }
        let is_same_model = message.provider == self.model.provider
            && message.api == self.model.api.as_str()
            && message.model == self.model.id;
        let mut content = String::new();
        let mut reasoning = Reasoning::default();
        let mut calls = Vec::new();
        for (at, block) in message.content.iter().enumerate() {
            match block {
                Block::Text(text) => content.push_str(&text.text),
                Block::Thinking(thinking)
                    if is_same_model && !self.dialect.has(Quirk::ReasoningAsText) =>
                {
                    reasoning.add(thinking);
                }
                Block::Thinking(thinking) if !thinking.thinking.trim().is_empty() => {
                    content.push_str(
                        &self.reasoning_as_text(&thinking.thinking, message.content.get(at + 1)),
                    );
                }
                Block::ToolCall(call) if !call.name.trim().is_empty() => {
                    calls.push(self.call(call));
                }
                // Others' encrypted reasoning and server tools have no place here; assistants send no pictures back.
                Block::Thinking(_)
                | Block::ToolCall(_)
                | Block::RedactedThinking(_)
                | Block::Image(_)
                | Block::ServerTool(_)
                | Block::Unknown(_) => {}
            }
        }
        let reasoning = self.replayed(reasoning, !calls.is_empty());
        if content.is_empty() && calls.is_empty() && reasoning.is_none() {
            return;
        }
        if content.is_empty() && !calls.is_empty() && self.dialect.has(Quirk::ContentWithCalls) {
            content.push('.');
        }
        let mut written = Map::new();
        written.insert("role".into(), "assistant".into());
        written.insert("content".into(), content.into());
        written.extend(reasoning);
        if !calls.is_empty() {
            written.insert("tool_calls".into(), calls.into());
        }
        self.follows_results = false;
        self.out.push(Value::Object(written));
    }

    /// Reasoning of another model, or for a server without a member for it.
    fn reasoning_as_text(&self, thinking: &str, next: Option<&Block>) -> String {
        let separator = match next {
            Some(Block::Text(_)) if self.dialect.has(Quirk::ReasoningAsText) => " ",
            Some(Block::Text(_)) => "\n",
            _ => "",
        };
        format!("<thinking>\n{thinking}\n</thinking>{separator}")
    }

    /// The member that reasoning goes back in, if the server wants it.
    fn replayed(&self, reasoning: Reasoning, has_calls: bool) -> Option<(String, Value)> {
        let has = |quirk| self.dialect.has(quirk);
        let is_wanted = has(Quirk::ReplaysReasoning)
            || has(Quirk::ReasoningAlways)
            || (has_calls && has(Quirk::ReasoningWithCalls));
        if !is_wanted {
            return None;
        }
        if let Some(details) = reasoning.details {
            return Some(("reasoning_details".into(), details));
        }
        let member = reasoning.member.unwrap_or(REASONING_MEMBERS[0]).to_owned();
        if !reasoning.text.is_empty() {
            return Some((member, reasoning.text.into()));
        }
        if has(Quirk::ReasoningAlways) {
            return Some((member, "".into()));
        }
        (has_calls && has(Quirk::ReasoningWithCalls)).then(|| (member, ".".into()))
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let arguments = match call.arguments.value() {
            Value::Object(_) => call.arguments.compact(),
            _ => "{}".into(),
        };
        json!({
            "id": self.ids.wire_id(call.id.as_str(), self.dialect),
            "type": "function",
            "function": {"name": call.name, "arguments": arguments},
        })
    }

    fn tool_result(&mut self, result: &ToolResult) {
        let parts: Vec<Value> =
            result.content.iter().filter_map(|block| self.part(block)).collect();
        let (texts, images): (Vec<Value>, Vec<Value>) =
            parts.into_iter().partition(|part| part["type"] == "text");
        let texts: Vec<&str> = texts.iter().filter_map(|part| part["text"].as_str()).collect();
        let content = if texts.is_empty() && !images.is_empty() {
            "(see attached image)".to_owned()
        } else {
            texts.join("\n")
        };
        self.tool_images.extend(images);
        let mut written = json!({
            "role": "tool",
            "content": content,
            "tool_call_id": self.ids.wire_id(result.tool_call_id.as_str(), self.dialect),
        });
        if self.dialect.has(Quirk::NamedToolResults) {
            written["name"] = result.tool_name.as_str().into();
        }
        self.follows_results = true;
        self.out.push(written);
    }

    /// A result cannot carry pictures: those of a run of results follow in one message of the user.
    fn end_results(&mut self) {
        if self.tool_images.is_empty() {
            return;
        }
        let mut parts =
            vec![json!({"type": "text", "text": "Attached image(s) from tool result:"})];
        parts.append(&mut self.tool_images);
        self.out.push(json!({"role": "user", "content": parts}));
        self.follows_results = false;
    }
}

/// A turn that ended before it said anything: its reasoning leads nowhere.
fn is_cut_off_reasoning(message: &AssistantMessage) -> bool {
    matches!(message.stop_reason, StopReason::Length | StopReason::Error | StopReason::Aborted)
        && !message.content.iter().any(|block| match block {
            Block::Text(text) => !text.text.trim().is_empty(),
            Block::ToolCall(_) => true,
            _ => false,
        })
}

/// The reasoning of one turn of the same model.
#[derive(Default)]
struct Reasoning<'a> {
    text: String,
    member: Option<&'a str>,
    details: Option<Value>,
}

impl<'a> Reasoning<'a> {
    fn add(&mut self, thinking: &'a ThinkingBlock) {
        self.text.push_str(&thinking.thinking);
        match thinking.thinking_signature.as_deref() {
            Some(member) if REASONING_MEMBERS.contains(&member) => self.member = Some(member),
            Some(details) if details.starts_with('[') => {
                self.details = serde_json::from_str(details).ok();
            }
            _ => {}
        }
    }
}

/// Call ids as the server takes them: one for each, none for two.
#[derive(Default)]
struct CallIds {
    wire: HashMap<String, String>,
    used: HashSet<String>,
}

impl CallIds {
    fn wire_id(&mut self, id: &str, dialect: &Dialect) -> String {
        if let Some(known) = self.wire.get(id) {
            return known.clone();
        }
        // Another protocol of the same provider joins two ids with a bar; the first names the call.
        let call = id.split('|').next().unwrap_or(id);
        let (mut wire, max) = if dialect.has(Quirk::NineLetterCallIds) {
            let letters: String =
                call.chars().filter(char::is_ascii_alphanumeric).take(9).collect();
            (format!("{letters:0<9}"), 9)
        } else if dialect.has(Quirk::ShortCallIds) {
            (call.chars().take(40).collect(), 40)
        } else {
            (call.to_owned(), usize::MAX)
        };
        let base = wire.clone();
        for number in 2.. {
            if self.used.insert(wire.clone()) {
                break;
            }
            let suffix = number.to_string();
            let kept = max.saturating_sub(suffix.len());
            wire = base.chars().take(kept).collect::<String>() + &suffix;
        }
        self.wire.insert(id.to_owned(), wire.clone());
        wire
    }
}

/// Marks where the cached prefix of the prompt ends: the last text of the newest message that has one.
fn mark_newest(messages: &mut [Value]) {
    let mark = json!({"type": "ephemeral"});
    for message in messages.iter_mut().rev().filter(|message| message["role"] != "tool") {
        match &mut message["content"] {
            Value::String(text) if !text.is_empty() => {
                message["content"] = json!([{"type": "text", "text": text, "cache_control": mark}]);
                return;
            }
            Value::Array(parts) => {
                if let Some(part) = parts.iter_mut().rev().find(|part| part["type"] == "text") {
                    part["cache_control"] = mark;
                    return;
                }
            }
            _ => {}
        }
    }
}
