//! Checks the arguments of a call against the schema that the model was given.
//!
//! The schema is the one source: what it says is checked, and nothing is guessed. A number or a boolean that came as a string is taken as
//! what it says, and `null` counts as left out. Understands the few words of JSON schema that the tools' own schemas use.

use longhand_agent::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::tools::failure::Failure;

/// What the model is told of a tool: its schema is closed and takes the intent `i` besides its own properties.
pub(crate) fn tool_spec(
    name: &str,
    description: &str,
    required: &[&str],
    properties: Value,
) -> ToolSpec {
    let mut properties = properties;
    properties["i"] = json!({"type": "string"});
    ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters: json!({
            "type": "object",
            "required": required,
            "properties": properties,
            "additionalProperties": false,
        }),
    }
}

/// The arguments as the tool takes them.
pub(crate) fn parse<T: DeserializeOwned>(spec: &ToolSpec, given: &Value) -> Result<T, Failure> {
    if !given.is_object() {
        return Err(Failure(format!("`{}` takes an object of arguments", spec.name)));
    }
    let fitted = fit(&spec.parameters, given, "")
        .map_err(|text| Failure(format!("`{}`: {text}", spec.name)))?;
    serde_json::from_value(fitted).map_err(|error| Failure(format!("`{}`: {error}", spec.name)))
}

/// The value as the schema wants it. `at` says where in the arguments it stands; empty for the whole.
fn fit(schema: &Value, value: &Value, at: &str) -> Result<Value, String> {
    if let Some(choices) = schema["enum"].as_array() {
        return if choices.contains(value) {
            Ok(value.clone())
        } else {
            let choices: Vec<_> = choices.iter().filter_map(Value::as_str).collect();
            Err(format!(
                "argument `{at}` must be one of {}, not {}",
                choices.join(", "),
                brief(value)
            ))
        };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(value.clone()),
    };
    let Some(taken) = kinds.iter().find_map(|kind| taken_as(kind, value)) else {
        return Err(format!("argument `{at}` must be {}, not {}", article(kinds[0]), brief(value)));
    };
    match &taken {
        Value::Object(members) => fit_object(schema, members, at),
        Value::Array(items) => fit_array(schema, items, at),
        Value::Number(number) => {
            in_bounds(schema, number.as_f64().unwrap_or(0.0), at).map(|()| taken)
        }
        Value::String(text) if text.is_empty() && schema["minLength"].as_u64() > Some(0) => {
            Err(format!("argument `{at}` must not be empty"))
        }
        _ => Ok(taken),
    }
}

/// The value as one of JSON schema's types, if it is one or spells one.
fn taken_as(kind: &str, value: &Value) -> Option<Value> {
    match (kind, value) {
        ("string", Value::String(_))
        | ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("null", Value::Null) => Some(value.clone()),
        ("integer", Value::Number(number)) => whole(number.as_f64()?),
        ("integer", Value::String(text)) => whole(text.trim().parse().ok()?),
        ("number", Value::String(text)) => {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
        }
        ("boolean", Value::String(text)) => text.trim().parse::<bool>().ok().map(Value::from),
        _ => None,
    }
}

/// A number without a fraction that `i64` holds exactly.
fn whole(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then(|| Value::from(number as i64))
}

fn in_bounds(schema: &Value, number: f64, at: &str) -> Result<(), String> {
    if let Some(least) = schema["minimum"].as_f64().filter(|least| number < *least) {
        return Err(format!("argument `{at}` must be at least {least}, not {number}"));
    }
    if let Some(most) = schema["maximum"].as_f64().filter(|most| number > *most) {
        return Err(format!("argument `{at}` must be at most {most}, not {number}"));
    }
    Ok(())
}

fn fit_array(schema: &Value, items: &[Value], at: &str) -> Result<Value, String> {
    if schema["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
        return Err(format!("argument `{at}` must not be empty"));
    }
    if let Some(most) = schema["maxItems"].as_u64().filter(|most| items.len() as u64 > *most) {
        return Err(format!("argument `{at}` takes at most {most} items, not {}", items.len()));
    }
    let fitted = items
        .iter()
        .enumerate()
        .map(|(n, item)| fit(&schema["items"], item, &format!("{at}[{n}]")));
    fitted.collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn fit_object(schema: &Value, members: &Map<String, Value>, at: &str) -> Result<Value, String> {
    let inside = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let known = schema["properties"].as_object();
    let mut fitted = Map::new();
    for (name, value) in members {
        let Some(property) = known.and_then(|known| known.get(name)) else {
            if schema["additionalProperties"].is_object() {
                fitted.insert(
                    name.clone(),
                    fit(&schema["additionalProperties"], value, &inside(name))?,
                );
                continue;
            }
            let known: Vec<_> =
                known.into_iter().flat_map(Map::keys).map(|name| format!("`{name}`")).collect();
            return Err(format!(
                "unknown argument `{}`; known are {}",
                inside(name),
                known.join(", ")
            ));
        };
        if !value.is_null() {
            fitted.insert(name.clone(), fit(property, value, &inside(name))?);
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !fitted.contains_key(name) {
            return Err(format!("argument `{}` is missing", inside(name)));
        }
    }
    Ok(Value::Object(fitted))
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// A value in a few characters.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(40).collect();
    if chars.next().is_some() { format!("{start}…") } else { start }
}
