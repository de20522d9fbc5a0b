//! The seam to tools.

use async_trait::async_trait;
use longhand_session::{Block, Json, ToolCallId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::request::ToolSpec;

/// What a call may do, in rising order. Decides about approval, and which calls run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Looks only. Calls of this tier run side by side.
    Read,
    /// Changes files of the workspace.
    Write,
    /// Anything else.
    Exec,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// Text and images for the model.
    pub content: Vec<Block>,
    /// Facts for the view.
    pub details: Option<Json>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Whether the result carries nothing worth keeping. Ignored on errors.
    pub is_useless: bool,
}

impl ToolOutput {
    /// A success of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], ..Self::default() }
    }

    /// A failure, said to the model in one line.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// One call of a tool.
pub struct Invocation<'a> {
    /// Id of the call.
    pub id: &'a ToolCallId,
    /// Arguments, as the model sent them.
    pub arguments: &'a Value,
    /// Takes partial output while the tool runs.
    pub updates: &'a dyn ToolUpdates,
    /// Ends the call. A tool returns soon after; what it started is ended with it.
    pub cancel: CancellationToken,
}

/// Takes partial output of a running tool.
pub trait ToolUpdates: Send + Sync {
    /// The output so far, or its end. Later calls replace earlier ones.
    fn update(&self, partial: ToolOutput);
}

/// Something that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> &ToolSpec;

    /// What this call may do. Wrong arguments give the tier of the tool at its mildest: they fail before they do anything.
    fn tier(&self, arguments: &Value) -> Tier;

    /// Runs a call. A failure is an output, never a panic: wrong arguments are answered with an error that names them.
    async fn run(&self, call: Invocation<'_>) -> ToolOutput;
}

/// Decides whether a call may run.
#[async_trait]
pub trait Gate: Send + Sync {
    /// What to do with a call.
    fn check(&self, tool: &dyn Tool, arguments: &Value) -> GateVerdict;

    /// The user's answer to [`GateVerdict::Ask`], so that the gate can remember it.
    fn answered(&self, tool: &dyn Tool, arguments: &Value, answer: ApprovalAnswer);
}

/// A gate that lets every call pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    fn check(&self, _: &dyn Tool, _: &Value) -> GateVerdict {
        GateVerdict::Allow
    }

    fn answered(&self, _: &dyn Tool, _: &Value, _: ApprovalAnswer) {}
}

/// What to do with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateVerdict {
    /// It may run.
    Allow,
    /// The user must say.
    Ask(ApprovalQuestion),
    /// It may not run; the text is the model's answer.
    Deny(String),
}

/// A question to the user about one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalQuestion {
    /// What is asked, in a few words.
    pub title: String,
    /// What would run, in full.
    pub body: String,
    /// Name of the tool.
    pub tool_name: String,
    /// Tier of the call.
    pub tier: Tier,
    /// What "do not ask again" would cover; `None` where that is not offered.
    pub remember: Option<String>,
}

/// The user's answer to an [`ApprovalQuestion`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// This once.
    Yes,
    /// This, and the like of it in this session.
    Always,
    /// No; the text, if any, is told to the model.
    No {
        /// Why not.
        reason: Option<String>,
    },
    /// No, and the turn ends.
    Stop,
}
