//! What servers say of their models, read from their answers. Pure.
//!
//! The window that a server serves wins over the one that the model was trained for. What a server does not say stays unknown.

use longhand_session::model::{Effort, InputKind, Price};
use serde_json::Value;

/// Output limit of models of which only the window is known.
const USUAL_MAX_OUTPUT_TOKENS: u64 = 32_768;

/// Output limit that Ollama's models are asked to keep.
const OLLAMA_MAX_OUTPUT_TOKENS: u64 = 8_192;

/// A model as its provider describes it. `None` is what it does not say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) context_window: Option<u64>,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) input: Option<Vec<InputKind>>,
    pub(crate) efforts: Option<Vec<Effort>>,
    pub(crate) price: Option<Price>,
}

/// A positive number of tokens.
fn tokens(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64).filter(|tokens| *tokens > 0)
}

fn entries(answer: &Value) -> Option<&Vec<Value>> {
    answer.get("data").and_then(Value::as_array).or_else(|| answer.as_array())
}

fn has_word(list: Option<&Value>, word: &str) -> bool {
    list.and_then(Value::as_array).is_some_and(|words| words.iter().any(|item| item == word))
}

fn kinds(has_vision: bool) -> Vec<InputKind> {
    if has_vision { vec![InputKind::Text, InputKind::Image] } else { vec![InputKind::Text] }
}

/// The list at `models`; `None` where the answer is no list.
pub(crate) fn listed(answer: &Value) -> Option<Vec<Found>> {
    Some(entries(answer)?.iter().filter_map(entry).collect())
}

fn entry(entry: &Value) -> Option<Found> {
    let at = |pointer: &str| entry.pointer(pointer);
    let window = [
        "/meta/n_ctx",
        "/max_model_len",
        "/context_length",
        "/max_input_tokens",
        "/context_window",
    ]
    .into_iter()
    .find_map(|pointer| tokens(at(pointer)))
    .or_else(|| configured_window(entry));
    let stated_output =
        ["/max_output_tokens", "/max_completion_tokens", "/top_provider/max_completion_tokens"]
            .into_iter()
            .find_map(|pointer| tokens(at(pointer)));
    let reasons = has_word(at("/supported_parameters"), "reasoning");
    Some(Found {
        id: entry.get("id")?.as_str()?.to_owned(),
        name: entry.get("name").and_then(Value::as_str).map(str::to_owned),
        context_window: window,
        max_output_tokens: stated_output
            .or(window.map(|window| window.min(USUAL_MAX_OUTPUT_TOKENS))),
        input: at("/architecture/input_modalities")
            .map(|modalities| kinds(has_word(Some(modalities), "image")))
            .or_else(|| has_word(at("/capabilities"), "multimodal").then(|| kinds(true))),
        efforts: reasons.then(|| vec![Effort::Low, Effort::Medium, Effort::High]),
        price: at("/pricing").and_then(price),
    })
}

/// Prices are written as USD a token, in strings.
fn price(pricing: &Value) -> Option<Price> {
    let usd_per_million = |key: &str| {
        let usd: f64 = pricing.get(key)?.as_str()?.parse().ok()?;
        (usd.is_finite() && usd >= 0.0).then_some(usd * 1e6)
    };
    Some(Price {
        input: usd_per_million("prompt")?,
        output: usd_per_million("completion")?,
        cache_read: usd_per_million("input_cache_read").unwrap_or(0.0),
        cache_write: usd_per_million("input_cache_write").unwrap_or(0.0),
    })
}

/// The window in the arguments that llama.cpp starts a model with.
fn configured_window(entry: &Value) -> Option<u64> {
    let arguments = entry.pointer("/status/args")?.as_array()?;
    let at = arguments.iter().position(|argument| argument == "--ctx-size" || argument == "-c")?;
    arguments.get(at + 1)?.as_str()?.parse().ok().filter(|tokens| *tokens > 0)
}

pub(crate) fn is_llama_cpp(answer: &Value) -> bool {
    entries(answer)
        .is_some_and(|entries| entries.iter().any(|entry| entry["owned_by"] == "llamacpp"))
}

/// Adds what llama.cpp tells of the one model that it has loaded.
pub(crate) fn add_llama_cpp_props(found: &mut [Found], props: &Value) {
    let [model] = found else { return };
    let window = tokens(props.pointer("/default_generation_settings/n_ctx"))
        .or_else(|| tokens(props.get("n_ctx")));
    model.context_window = model.context_window.or(window);
    let predicts_without_end =
        ["/default_generation_settings/params/n_predict", "/default_generation_settings/n_predict"]
            .into_iter()
            .any(|pointer| props.pointer(pointer).and_then(Value::as_i64) == Some(-1));
    if predicts_without_end || model.max_output_tokens.is_none() {
        model.max_output_tokens = model.context_window;
    }
    if let Some(vision) = props.pointer("/modalities/vision").and_then(Value::as_bool) {
        model.input = Some(kinds(vision));
    }
}

/// Takes the trained window where nothing says which one is served.
pub(crate) fn fall_back_to_trained_window(found: &mut [Found], answer: &Value) {
    for model in found.iter_mut().filter(|model| model.context_window.is_none()) {
        let entry = entries(answer).and_then(|entries| {
            entries.iter().find(|entry| entry["id"].as_str() == Some(&model.id))
        });
        model.context_window = entry.and_then(|entry| tokens(entry.pointer("/meta/n_ctx_train")));
        model.max_output_tokens = model.max_output_tokens.or(model.context_window);
    }
}

/// LM Studio's own list: the window as loaded, else the longest that the model allows.
pub(crate) fn lm_studio(answer: &Value) -> Vec<Found> {
    let model = |entry: &Value| {
        let kind = entry.get("type").and_then(Value::as_str).unwrap_or("llm");
        let loaded =
            tokens(entry.get("loaded_context_length")).filter(|_| entry["state"] == "loaded");
        let window = loaded.or_else(|| tokens(entry.get("max_context_length")));
        (kind != "embeddings").then_some(())?;
        Some(Found {
            id: entry.get("id")?.as_str()?.to_owned(),
            context_window: window,
            max_output_tokens: window.map(|window| window.min(USUAL_MAX_OUTPUT_TOKENS)),
            input: Some(kinds(kind == "vlm")),
            ..Found::default()
        })
    };
    entries(answer).map(|entries| entries.iter().filter_map(model).collect()).unwrap_or_default()
}

/// Names in Ollama's list of installed models.
pub(crate) fn ollama_names(tags: &Value) -> Vec<String> {
    let models = tags.get("models").and_then(Value::as_array);
    let name = |model: &Value| {
        Some(model.get("name").or_else(|| model.get("model"))?.as_str()?.to_owned())
    };
    models.map(|models| models.iter().filter_map(name).collect()).unwrap_or_default()
}

/// One model of Ollama: the window as loaded, as configured, or as trained.
pub(crate) fn ollama(name: &str, show: &Value, running: &Value) -> Found {
    let loaded = running.get("models").and_then(Value::as_array).and_then(|models| {
        let model = models.iter().find(|model| model["name"] == name || model["model"] == name)?;
        tokens(model.get("context_length"))
    });
    let configured = show.get("parameters").and_then(Value::as_str).and_then(|parameters| {
        parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
    });
    let trained = show.get("model_info").and_then(Value::as_object).and_then(|info| {
        info.iter()
            .find(|(key, _)| key.ends_with(".context_length"))
            .and_then(|(_, value)| tokens(Some(value)))
    });
    let capabilities = show.get("capabilities");
    Found {
        id: name.to_owned(),
        context_window: loaded.or(configured).or(trained),
        max_output_tokens: Some(OLLAMA_MAX_OUTPUT_TOKENS),
        input: capabilities.map(|words| kinds(has_word(Some(words), "vision"))),
        efforts: has_word(capabilities, "thinking")
            .then(|| vec![Effort::Low, Effort::Medium, Effort::High]),
        ..Found::default()
    }
}
