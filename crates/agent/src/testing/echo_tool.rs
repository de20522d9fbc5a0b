use async_trait::async_trait;
use serde_json::{Value, json};

use crate::request::ToolSpec;
use crate::tool::{Invocation, Tier, Tool, ToolOutput};

/// A tool that answers with its argument `text`.
pub struct EchoTool {
    spec: ToolSpec,
    tier: Tier,
}

impl EchoTool {
    /// A tool of the mildest tier.
    pub fn new(name: &str) -> Self {
        Self::of_tier(name, Tier::Read)
    }

    /// A tool of any tier.
    pub fn of_tier(name: &str, tier: Tier) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            description: "Answers with its text.".into(),
            parameters: json!({
                "type": "object",
                "properties": { "text": { "type": "string" } },
                "required": ["text"],
            }),
        };
        Self { spec, tier }
    }
}

#[async_trait]
impl Tool for EchoTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, _: &Value) -> Tier {
        self.tier
    }

    async fn run(&self, call: Invocation<'_>) -> ToolOutput {
        match call.arguments.get("text").and_then(Value::as_str) {
            Some(text) => ToolOutput::text(text),
            None => ToolOutput::error("`text` is missing"),
        }
    }
}
