//! Messages as archive text: sections with scope markers, calls beside their results.
//!
//! Linear in the messages. What says nothing is left out; long results and arguments are cut in their middle.

mod clip;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use longhand_session::block::ToolCall;
use longhand_session::data_url::{self, Origin};
use longhand_session::message::ToolResult;
use longhand_session::{AssistantMessage, Block, Content, Message, ToolCallId};
use serde_json::Value;

use crate::{DIM_OFF, DIM_ON};
pub use clip::clip;

/// Who speaks in a section of archive text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user.
    User,
    /// The model, to itself.
    Think,
    /// The model.
    Ai,
    /// A tool call with its result.
    Call,
}

/// All scopes.
pub const SCOPES: [Scope; 4] = [Scope::User, Scope::Think, Scope::Ai, Scope::Call];

impl Scope {
    /// What opens a section.
    pub fn marker(self) -> &'static str {
        match self {
            Self::User => "¶user:",
            Self::Think => "¶think:",
            Self::Ai => "¶ai:",
            Self::Call => "¶call:",
        }
    }
}

/// How messages become archive text. Lengths are characters; `None` cuts nothing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SerializeOptions {
    /// Longest tool result.
    pub tool_result_max_chars: Option<usize>,
    /// Longest value of an argument.
    pub tool_arg_max_chars: Option<usize>,
    /// Longest list of arguments.
    pub tool_call_max_chars: Option<usize>,
    /// Part of what is kept of a cut text that comes from its start, 0 to 1.
    pub truncate_head_ratio: f64,
    /// Whether tool results are pale.
    pub dim_tool_results: bool,
    /// Whether reasoning is archived.
    pub reasoning: Reasoning,
}

/// Whether reasoning is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reasoning {
    /// It is.
    #[default]
    Included,
    /// Neither it nor a word about it.
    Excluded,
}

impl Default for SerializeOptions {
    fn default() -> Self {
        Self {
            tool_result_max_chars: Some(2_000),
            tool_arg_max_chars: Some(500),
            tool_call_max_chars: Some(2_000),
            truncate_head_ratio: 0.6,
            dim_tool_results: true,
            reasoning: Reasoning::Included,
        }
    }
}

/// The archive text of messages that are in the roles that providers take.
pub fn serialize(messages: &[Arc<Message>], options: &SerializeOptions) -> String {
    let mut writer =
        Writer { options, results: Results::of(messages), out: String::new(), last: None };
    for message in messages {
        match &**message {
            Message::User(user) => writer.push(Scope::User, &without_ink(&all_text(&user.content))),
            Message::Assistant(assistant) => writer.assistant(assistant),
            Message::ToolResult(result) => writer.orphan(result),
            // Everything else was turned into one of these roles, or is not part of the conversation.
            _ => {}
        }
    }
    writer.out
}

/// Texts of tool results, by call.
struct Results {
    texts: HashMap<ToolCallId, String>,
    useless: HashSet<ToolCallId>,
    called: HashSet<ToolCallId>,
}

impl Results {
    fn of(messages: &[Arc<Message>]) -> Self {
        let mut results =
            Self { texts: HashMap::new(), useless: HashSet::new(), called: HashSet::new() };
        for message in messages {
            match &**message {
                Message::ToolResult(result) => results.add(result),
                Message::Assistant(assistant) => {
                    results.called.extend(assistant.content.iter().filter_map(called_id));
                }
                _ => {}
            }
        }
        results
    }

    fn add(&mut self, result: &ToolResult) {
        let id = result.tool_call_id.clone();
        if result.useless == Some(true) && !result.is_error {
            self.useless.insert(id);
            return;
        }
        let text = block_text(&result.content);
        if !text.is_empty() {
            self.texts.insert(id, text);
        }
    }
}

fn called_id(block: &Block) -> Option<ToolCallId> {
    match block {
        Block::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    }
}

struct Writer<'a> {
    options: &'a SerializeOptions,
    results: Results,
    out: String,
    /// The scope of the last section.
    last: Option<Scope>,
}

impl Writer<'_> {
    /// Adds to the last section if it is of the same scope, else opens one.
    fn push(&mut self, scope: Scope, content: &str) {
        if content.is_empty() {
            return;
        }
        if self.last == Some(scope) {
            if !self.out.ends_with('\n') && !content.starts_with('\n') {
                self.out.push('\n');
            }
        } else {
            if self.last.is_some() {
                self.out.push_str("\n\n");
            }
            self.out.push_str(scope.marker());
            self.last = Some(scope);
        }
        self.out.push_str(content);
    }

    /// Within what comes before a call, reasoning goes before words.
    fn assistant(&mut self, message: &AssistantMessage) {
        let mut thoughts = Vec::new();
        let mut words = Vec::new();
        for block in &message.content {
            match block {
                Block::Text(text) => keep(&mut words, &text.text),
                Block::Thinking(thinking) if self.options.reasoning == Reasoning::Included => {
                    keep(&mut thoughts, &thinking.thinking);
                }
                Block::ToolCall(call) if !self.results.useless.contains(&call.id) => {
                    self.flush(&mut thoughts, &mut words);
                    let line = self.call(call);
                    self.push(Scope::Call, &line);
                }
                _ => {}
            }
        }
        self.flush(&mut thoughts, &mut words);
    }

    fn flush(&mut self, thoughts: &mut Vec<String>, words: &mut Vec<String>) {
        self.push(Scope::Think, &std::mem::take(thoughts).join("\n"));
        self.push(Scope::Ai, &std::mem::take(words).join("\n"));
    }

    fn call(&self, call: &ToolCall) -> String {
        let mut line = format!("{}({})", call.name, self.arguments(call));
        let intent = intent(call);
        if !intent.is_empty() {
            line.push_str("//");
            line.push_str(&intent);
        }
        if let Some(text) = self.results.texts.get(&call.id) {
            line.push('\n');
            line.push_str(&self.result(text));
        }
        line
    }

    fn arguments(&self, call: &ToolCall) -> String {
        let Value::Object(arguments) = call.arguments.value() else { return String::new() };
        let value = |value: &Value| {
            let json = value.to_string();
            self.clip(&data_url::elide(&json, Origin::Source), self.options.tool_arg_max_chars)
        };
        let arguments = arguments.iter().filter(|(key, _)| *key != INTENT);
        let pairs: Vec<String> =
            arguments.map(|(key, json)| format!("{key}={}", value(json))).collect();
        self.clip(&pairs.join(", "), self.options.tool_call_max_chars)
    }

    /// A result without a call, which was not taken along with one.
    fn orphan(&mut self, result: &ToolResult) {
        let id = &result.tool_call_id;
        if self.results.called.contains(id) || self.results.useless.contains(id) {
            return;
        }
        let text = block_text(&result.content);
        if !text.is_empty() {
            let block = format!("\n{}", self.result(&text));
            self.push(Scope::Call, &block);
        }
    }

    fn result(&self, text: &str) -> String {
        let text = without_ink(text);
        let text = data_url::elide(&text, Origin::Source);
        let body = self.clip(&text, self.options.tool_result_max_chars);
        if self.options.dim_tool_results {
            format!("<out>\n{DIM_ON}{body}{DIM_OFF}\n</out>")
        } else {
            format!("<out>\n{body}\n</out>")
        }
    }

    fn clip(&self, text: &str, most: Option<usize>) -> String {
        match most {
            Some(most) => clip(text, most, self.options.truncate_head_ratio),
            None => text.to_owned(),
        }
    }
}

/// Argument in which some tools are told why they are called.
const INTENT: &str = "i";

/// Why the model calls, on one line.
fn intent(call: &ToolCall) -> String {
    let said =
        call.intent.as_deref().or_else(|| call.arguments.get(INTENT).and_then(Value::as_str));
    let said = without_ink(said.unwrap_or_default());
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn keep(parts: &mut Vec<String>, text: &str) {
    let text = without_ink(text);
    if !text.trim().is_empty() {
        parts.push(text);
    }
}

fn all_text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => block_text(blocks),
    }
}

fn block_text(blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::as_text).collect()
}

/// Ink is switched by the archive alone.
fn without_ink(text: &str) -> String {
    text.replace([DIM_ON, DIM_OFF], "")
}
