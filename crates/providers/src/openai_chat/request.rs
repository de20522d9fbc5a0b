//! The body of a request. Pure: the same request and model give the same body.

use std::sync::Arc;

use longhand_agent::request::{Request, ToolChoice};
use longhand_agent::{ModelError, ToolSpec};
use longhand_session::tokens::{self, EncryptedReasoning};
use longhand_session::{Fragment, Message, Model, TokenCounter};
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Quirk, ReasoningControl};
use super::messages;
use crate::output_limit::{self, Limits, SHARED_CAP_TOKENS};

/// What a server's refusal taught about this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lessons {
    /// The reply may not be longer.
    pub(crate) max_output_tokens: Option<u64>,
    /// An empty list of tools is refused.
    pub(crate) refuses_empty_tools: bool,
}

/// The body to send.
///
/// # Errors
/// The prompt leaves too little of the window for a reply.
pub(crate) fn body(
    request: &Request,
    model: &Model,
    prompt_tokens: u64,
    lessons: Lessons,
) -> Result<Value, ModelError> {
    let dialect = Dialect::of(model);
    let has = |quirk| dialect.has(quirk);
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    set("model", model.request_model_id.as_ref().unwrap_or(&model.id).as_str().into());
    let mut all = system(&request.system, &dialect);
    all.extend(messages::convert(&request.messages, model, &dialect));
    set("messages", all.into());
    set("stream", true.into());
    if !has(Quirk::NoUsageInStream) {
        set("stream_options", json!({"include_usage": true}));
    }
    if has(Quirk::Store) {
        set("store", false.into());
    }
    if let Some(limit) = output_limit(request, model, &dialect, prompt_tokens, lessons)? {
        let key = if has(Quirk::OldOutputLimit) { "max_tokens" } else { "max_completion_tokens" };
        set(key, limit.into());
    }
    for (key, value) in
        tools(request, &dialect, lessons).into_iter().chain(reasoning(request, model, &dialect))
    {
        set(key, value);
    }
    Ok(Value::Object(body))
}

/// Tokens of the whole prompt by a local count. Linear in the prompt.
pub(crate) fn prompt_tokens(request: &Request, counter: &dyn TokenCounter) -> u64 {
    let text = |text: &str| counter.count(Fragment::Text(text));
    let tool = |tool: &ToolSpec| {
        text(&tool.name) + text(&tool.description) + text(&tool.parameters.to_string())
    };
    request.system.iter().map(|segment| text(segment)).sum::<u64>()
        + request.tools.iter().map(tool).sum::<u64>()
        + tokens::count_messages(counter, &request.messages, EncryptedReasoning::Excluded)
}

fn system(segments: &[Arc<str>], dialect: &Dialect) -> Vec<Value> {
    let role = if dialect.has(Quirk::DeveloperRole) { "developer" } else { "system" };
    let segments: Vec<&str> =
        segments.iter().map(|segment| &**segment).filter(|s| !s.trim().is_empty()).collect();
    if segments.is_empty() {
        return Vec::new();
    }
    if dialect.has(Quirk::SeparateSystemMessages) {
        return segments.iter().map(|segment| json!({"role": role, "content": segment})).collect();
    }
    vec![json!({"role": role, "content": segments.join("\n\n")})]
}

fn output_limit(
    request: &Request,
    model: &Model,
    dialect: &Dialect,
    prompt_tokens: u64,
    lessons: Lessons,
) -> Result<Option<u64>, ModelError> {
    let wanted = request.options.max_output_tokens;
    let limit = output_limit::decide(Limits {
        wanted,
        model_max: model.max_output_tokens,
        default_cap: (!dialect.has(Quirk::OwnOutputLimit)).then_some(SHARED_CAP_TOKENS),
        window: model.context_window,
        prompt_tokens,
    })?;
    if let Some(max) = lessons.max_output_tokens {
        return Ok(Some(limit.map_or(max, |limit| limit.min(max))));
    }
    Ok(limit.filter(|_| wanted.is_some() || !dialect.has(Quirk::NoDefaultOutputLimit)))
}

fn tools(request: &Request, dialect: &Dialect, lessons: Lessons) -> Vec<(&'static str, Value)> {
    let choice = request.options.tool_choice.as_ref().filter(|_| !dialect.has(Quirk::NoToolChoice));
    if request.tools.is_empty() {
        // Some gateways demand the key where history has calls, others refuse an empty list.
        let has_calls = request.messages.iter().any(|message| match &**message {
            Message::Assistant(assistant) => assistant.tool_calls().next().is_some(),
            Message::ToolResult(_) => true,
            _ => false,
        });
        let is_sent =
            has_calls && !dialect.has(Quirk::NoEmptyTools) && !lessons.refuses_empty_tools;
        return if is_sent { vec![("tools", json!([]))] } else { Vec::new() };
    }
    let only = match choice {
        Some(ToolChoice::Named(name)) if dialect.has(Quirk::WordToolChoice) => Some(name),
        _ => None,
    };
    let specs: Value = request
        .tools
        .iter()
        .filter(|spec| only.is_none_or(|name| *name == spec.name))
        .map(|spec| tool(spec, dialect))
        .collect();
    let mut members = vec![("tools", specs)];
    members.extend(choice.map(|choice| {
        let value = match choice {
            ToolChoice::Auto => "auto".into(),
            ToolChoice::None => "none".into(),
            ToolChoice::Required => "required".into(),
            ToolChoice::Named(_) if only.is_some() => "required".into(),
            ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
        };
        ("tool_choice", value)
    }));
    members
}

fn tool(spec: &ToolSpec, dialect: &Dialect) -> Value {
    let mut parameters = spec.parameters.clone();
    if dialect.has(Quirk::GrammarSchemas) {
        widen(&mut parameters);
    }
    json!({
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": parameters},
    })
}

/// Writes `true` and `false` that stand for schemas as objects. `additionalProperties` may stay a boolean.
fn widen(schema: &mut Value) {
    let widen_one = |schema: &mut Value| match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        other => widen(other),
    };
    let Value::Object(members) = schema else { return };
    for (key, value) in members {
        match (key.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(schemas),
            ) => {
                schemas.values_mut().for_each(widen_one);
            }
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(widen_one);
            }
            ("items" | "not" | "if" | "then" | "else" | "contains", schema) => widen_one(schema),
            ("additionalProperties", schema @ Value::Object(_)) => widen(schema),
            _ => {}
        }
    }
}

fn reasoning(request: &Request, model: &Model, dialect: &Dialect) -> Vec<(&'static str, Value)> {
    let effort = request.options.effort.and_then(|wish| model.clamp_effort(wish));
    let effort = effort.and_then(|effort| serde_json::to_value(effort).ok());
    let mut members = Vec::new();
    if dialect.reasoning == ReasoningControl::Qwen {
        members.push(("preserve_thinking", true.into()));
        members.push(("chat_template_kwargs", json!({"preserve_thinking": true})));
    }
    let Some(effort) = effort else { return members };
    match dialect.reasoning {
        ReasoningControl::Effort => members.push(("reasoning_effort", effort)),
        ReasoningControl::Object => members.push(("reasoning", json!({"effort": effort}))),
        ReasoningControl::SwitchAndEffort => {
            members.push(("thinking", json!({"type": "enabled"})));
            members.push(("reasoning_effort", effort));
        }
        ReasoningControl::Qwen => members.push(("enable_thinking", true.into())),
        ReasoningControl::Absent => {}
    }
    members
}

/// Whether the server routes by a header that names the session.
pub(crate) fn routes_by_session(model: &Model) -> bool {
    Dialect::of(model).has(Quirk::RoutesBySession)
}
