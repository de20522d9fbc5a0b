//! Which dialect a model reads best, by the family that its id names.

use longhand_session::Model;

use crate::serialize::Dialect;

/// The dialect in which a model is shown a conversation.
pub fn of(model: &Model) -> Dialect {
    // Routers put the maker before the name: `anthropic/claude-…`.
    let id = model.id.rsplit('/').next().unwrap_or(&model.id).to_ascii_lowercase();
    if id.contains("claude") {
        Dialect::Anthropic
    } else if is_openai(&id) {
        Dialect::Harmony
    } else {
        Dialect::Xml
    }
}

fn is_openai(id: &str) -> bool {
    let is_reasoning_series = || {
        let mut chars = id.strip_prefix('o').unwrap_or("").chars();
        let has_number = chars.next().is_some_and(|char| char.is_ascii_digit());
        has_number && chars.next().is_none_or(|char| char == '-')
    };
    ["gpt", "chatgpt", "codex"].iter().any(|name| id.starts_with(name)) || is_reasoning_series()
}

#[cfg(test)]
mod tests {
    use longhand_session::{Api, ModelRef};

    use super::*;

    #[test]
    fn the_family_in_the_id_decides() {
        for (id, expected) in [
            ("claude-opus-4-5", Dialect::Anthropic),
            ("anthropic/claude-sonnet-4", Dialect::Anthropic),
            ("us.anthropic.claude-haiku-4-5", Dialect::Anthropic),
            ("gpt-5.4", Dialect::Harmony),
            ("openai/gpt-oss-120b", Dialect::Harmony),
            ("o3", Dialect::Harmony),
            ("o4-mini", Dialect::Harmony),
            ("olmo-2", Dialect::Xml),
            ("o300x", Dialect::Xml),
            ("test-model", Dialect::Xml),
        ] {
            let model = Model::new(ModelRef::new("any", id), Api::default(), "");
            assert_eq!(of(&model), expected, "{id}");
        }
    }
}
