//! What a server of this protocol understands beyond the common core: told from the model's provider, host and id.
//!
//! Data, no behaviour. A server that is not known gets the core alone.

use longhand_session::Model;

use crate::endpoint::Endpoint;

/// One way in which a server differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// Takes `store`.
    Store,
    /// Takes the role `developer` for reasoning models.
    DeveloperRole,
    /// Takes several system messages.
    SeparateSystemMessages,
    /// Calls the output limit `max_tokens`.
    OldOutputLimit,
    /// Is not told an output limit that the caller did not choose.
    NoDefaultOutputLimit,
    /// Runs a model of the user's own, whose output limit is not capped further.
    OwnOutputLimit,
    /// Wants the tool's name with each result.
    NamedToolResults,
    /// Wants an assistant's message between results and the user's next message.
    BridgedToolResults,
    /// Takes call ids of at most 40 characters.
    ShortCallIds,
    /// Takes call ids of exactly 9 letters and digits.
    NineLetterCallIds,
    /// Takes no `tool_choice`.
    NoToolChoice,
    /// Takes `tool_choice` as a word only.
    WordToolChoice,
    /// Builds a grammar from schemas, and takes no bare `true` or `false` in them.
    GrammarSchemas,
    /// Takes no empty list of tools.
    NoEmptyTools,
    /// Takes no `stream_options`.
    NoUsageInStream,
    /// Takes no images, whatever the model can do.
    NoImages,
    /// Wants earlier reasoning back.
    ReplaysReasoning,
    /// Wants the reasoning of turns with calls back; a placeholder where there was none.
    ReasoningWithCalls,
    /// Wants the reasoning member in every turn, even empty.
    ReasoningAlways,
    /// Takes reasoning as text only, on the line of the answer.
    ReasoningAsText,
    /// Wants some content beside calls.
    ContentWithCalls,
    /// Ends with `length` and no output when the prompt filled the window.
    EmptyLengthIsOverflow,
    /// Routes by a `session_id` header, which keeps the prompt cache warm.
    RoutesBySession,
    /// Caches a prompt up to a mark on the newest message.
    CacheMarks,
}

/// Where a wish about reasoning goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasoningControl {
    /// `reasoning_effort`.
    Effort,
    /// `reasoning: {effort}`.
    Object,
    /// `thinking: {type: enabled}` and `reasoning_effort`.
    SwitchAndEffort,
    /// `enable_thinking`, and `preserve_thinking` so that earlier reasoning counts.
    Qwen,
    /// Nowhere.
    Absent,
}

/// What a server understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    quirks: Vec<Quirk>,
    pub(crate) reasoning: ReasoningControl,
}

impl Dialect {
    /// The dialect of a model's server.
    pub(crate) fn of(model: &Model) -> Self {
        use Quirk::{
            BridgedToolResults, CacheMarks, ContentWithCalls, DeveloperRole, EmptyLengthIsOverflow,
            GrammarSchemas, NamedToolResults, NineLetterCallIds, NoDefaultOutputLimit,
            NoEmptyTools, NoImages, NoToolChoice, NoUsageInStream, OldOutputLimit, OwnOutputLimit,
            ReasoningAlways, ReasoningAsText, ReasoningWithCalls, ReplaysReasoning,
            RoutesBySession, SeparateSystemMessages, ShortCallIds, Store, WordToolChoice,
        };
        let family = family(model);
        let is_qwen = model.id.to_ascii_lowercase().contains("qwen");
        let mut quirks = match family {
            Family::OpenAi => vec![Store, SeparateSystemMessages, ShortCallIds, RoutesBySession],
            Family::OpenRouter => vec![Store, SeparateSystemMessages, NoDefaultOutputLimit],
            Family::Groq => vec![Store, SeparateSystemMessages],
            Family::DeepSeek => vec![
                SeparateSystemMessages,
                OldOutputLimit,
                NoToolChoice,
                NoImages,
                ReasoningWithCalls,
                ReasoningAlways,
                ContentWithCalls,
            ],
            Family::Mistral => vec![
                SeparateSystemMessages,
                OldOutputLimit,
                NamedToolResults,
                BridgedToolResults,
                ReasoningAsText,
                NineLetterCallIds,
            ],
            Family::Moonshot => vec![OldOutputLimit, ReasoningWithCalls, ContentWithCalls],
            Family::Cerebras => vec![SeparateSystemMessages, NoUsageInStream],
            Family::LlamaCpp | Family::LmStudio => vec![WordToolChoice],
            Family::Ollama => vec![Store, EmptyLengthIsOverflow],
            Family::OtherLocal | Family::Other => vec![Store],
        };
        if family.is_local() {
            quirks.extend([GrammarSchemas, NoEmptyTools, ReplaysReasoning, OwnOutputLimit]);
        }
        if is_qwen && matches!(family, Family::Groq | Family::OpenRouter) {
            quirks.retain(|quirk| !matches!(quirk, Store | SeparateSystemMessages));
        }
        let reasons = !model.efforts.is_empty();
        match family {
            Family::OpenAi if reasons => quirks.push(DeveloperRole),
            Family::OpenRouter if model.id.starts_with("anthropic/") => quirks.push(CacheMarks),
            Family::OpenRouter if reasons => quirks.push(ReasoningWithCalls),
            _ => {}
        }
        let reasoning = match family {
            _ if !reasons => ReasoningControl::Absent,
            Family::OpenRouter => ReasoningControl::Object,
            Family::DeepSeek | Family::Moonshot => ReasoningControl::SwitchAndEffort,
            _ if is_qwen && family.is_local() => ReasoningControl::Qwen,
            Family::LlamaCpp => ReasoningControl::Absent,
            _ => ReasoningControl::Effort,
        };
        Self { quirks, reasoning }
    }

    /// Whether the server differs in that way.
    pub(crate) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

/// Servers that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    OpenAi,
    OpenRouter,
    Groq,
    DeepSeek,
    Mistral,
    Moonshot,
    Cerebras,
    LlamaCpp,
    LmStudio,
    Ollama,
    OtherLocal,
    Other,
}

impl Family {
    fn is_local(self) -> bool {
        matches!(self, Self::LlamaCpp | Self::LmStudio | Self::Ollama | Self::OtherLocal)
    }
}

fn family(model: &Model) -> Family {
    let endpoint = Endpoint::parse(&model.base_url).ok();
    let host = endpoint.as_ref().map_or("", Endpoint::host);
    match (model.provider.as_str(), host) {
        ("llama.cpp", _) => Family::LlamaCpp,
        ("lm-studio", _) => Family::LmStudio,
        ("ollama", _) => Family::Ollama,
        ("vllm", _) => Family::OtherLocal,
        _ if model.is_local || endpoint.as_ref().is_some_and(Endpoint::is_local) => {
            Family::OtherLocal
        }
        (_, "api.openai.com") => Family::OpenAi,
        (_, "openrouter.ai") => Family::OpenRouter,
        (_, "api.groq.com") => Family::Groq,
        (_, "api.deepseek.com") => Family::DeepSeek,
        (_, "api.mistral.ai") => Family::Mistral,
        (_, "api.moonshot.ai" | "api.moonshot.cn") => Family::Moonshot,
        (_, "api.cerebras.ai") => Family::Cerebras,
        _ => Family::Other,
    }
}
