//! What a transcript is made of. Items share their messages with the session; nothing is copied to be shown.

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::ToolOutput;
use longhand_session::message::BashExecution;
use longhand_session::{AssistantMessage, Block, Json, Message};

use super::divider::Divider;
use crate::tui::moment::Moment;

/// One thing in the transcript.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Rises with every change of the body, so that a layout knows whether it is stale.
    pub(crate) revision: u64,
    /// What it is.
    pub(crate) body: Body,
}

/// What an item is.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// What the user said.
    User(Arc<Message>),
    /// One text block of the model.
    Text(BlockOf),
    /// One reasoning block of the model.
    Thinking(Thinking),
    /// Calls of tools, each with its result: one, or reads in a row.
    Calls(Vec<Call>),
    /// A shell command that the user ran.
    Shell(ShellRun),
    /// Where maintenance changed what the model sees.
    Divider(Box<Divider>),
    /// A line about the session, such as an interruption.
    Remark(String),
    /// A failed turn.
    Error(String),
    /// A message of an extension, or of another role that is shown.
    Custom {
        /// Who says it.
        kind: String,
        /// What.
        text: String,
    },
}

/// A block of a message of the model, growing or whole.
#[derive(Debug, Clone)]
pub(crate) struct BlockOf {
    message: Source,
    block: usize,
}

#[derive(Debug, Clone)]
enum Source {
    Growing(Arc<AssistantMessage>),
    Whole(Arc<Message>),
}

impl BlockOf {
    /// A block of a message that still grows.
    pub(crate) fn growing(message: Arc<AssistantMessage>, block: usize) -> Self {
        Self { message: Source::Growing(message), block }
    }

    /// A block of a stored message.
    pub(crate) fn whole(message: Arc<Message>, block: usize) -> Self {
        Self { message: Source::Whole(message), block }
    }

    /// The block's text.
    pub(crate) fn text(&self) -> &str {
        let message = match &self.message {
            Source::Growing(message) => Some(&**message),
            Source::Whole(message) => message.as_assistant(),
        };
        match message.and_then(|message| message.content.get(self.block)) {
            Some(Block::Text(block)) => &block.text,
            Some(Block::Thinking(block)) => &block.thinking,
            _ => "",
        }
    }

    /// Whether more of it may come.
    pub(crate) fn is_growing(&self) -> bool {
        matches!(self.message, Source::Growing(_))
    }
}

/// A reasoning block, and how long it took.
#[derive(Debug, Clone)]
pub(crate) struct Thinking {
    /// The reasoning.
    pub(crate) block: BlockOf,
    /// When its first piece came; `None` for one of an earlier run.
    pub(crate) since: Option<Moment>,
    /// How long it took; `None` while it grows, and where that is not known.
    pub(crate) took: Option<Duration>,
}

impl Thinking {
    /// Whether more of it may come.
    pub(crate) fn is_growing(&self) -> bool {
        self.took.is_none() && self.block.is_growing()
    }
}

/// A shell command of the user, kept with its message.
#[derive(Debug, Clone)]
pub(crate) struct ShellRun(Arc<Message>);

impl ShellRun {
    /// The run of a message, if it is one.
    pub(crate) fn of(message: &Arc<Message>) -> Option<Self> {
        matches!(**message, Message::BashExecution(_)).then(|| Self(message.clone()))
    }

    /// The command and what came of it.
    pub(crate) fn execution(&self) -> Option<&BashExecution> {
        if let Message::BashExecution(execution) = &*self.0 { Some(execution) } else { None }
    }
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its arguments still arrive.
    Arriving,
    /// It waits for its turn or for the user.
    Waiting,
    /// It runs.
    Running,
    /// It has ended.
    Done,
    /// Its turn ended before it ran.
    Abandoned,
}

/// A call of a tool, with its result as far as there is one.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Name of the tool.
    pub(crate) tool: String,
    /// Its arguments; `null` while they arrive.
    pub(crate) arguments: Json,
    /// How far it has come.
    pub(crate) phase: Phase,
    /// What it answered.
    pub(crate) output: Option<Output>,
}

/// What a call answered.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Not stored yet: the output so far, or the result just before it is stored.
    Unstored(ToolOutput),
    /// The stored result.
    Stored(Arc<Message>),
}

impl Call {
    /// A call that begins.
    pub(crate) fn new(tool: impl Into<String>) -> Self {
        Self { tool: tool.into(), arguments: Json::default(), phase: Phase::Arriving, output: None }
    }

    /// A text argument.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// A fact of the result for the view.
    pub(crate) fn detail(&self, name: &str) -> Option<&serde_json::Value> {
        let details = match self.output.as_ref()? {
            Output::Unstored(output) => output.details.as_ref(),
            Output::Stored(message) => message.as_tool_result()?.details.as_ref(),
        };
        details?.get(name)
    }

    /// A number among the facts of the result.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.detail(name)?.as_u64()
    }

    /// The text of the result.
    pub(crate) fn text(&self) -> String {
        let blocks: &[Block] = match &self.output {
            Some(Output::Unstored(output)) => &output.content,
            Some(Output::Stored(message)) => {
                message.as_tool_result().map_or(&[], |result| &result.content)
            }
            None => &[],
        };
        blocks.iter().filter_map(Block::as_text).collect::<Vec<_>>().join("\n")
    }

    /// Whether it failed.
    pub(crate) fn is_error(&self) -> bool {
        match &self.output {
            Some(Output::Unstored(output)) => output.is_error,
            Some(Output::Stored(message)) => message.as_tool_result().is_some_and(|r| r.is_error),
            None => false,
        }
    }

    /// Whether the model no longer sees the result, or never had use of it.
    pub(crate) fn is_faded(&self) -> bool {
        match &self.output {
            Some(Output::Unstored(output)) => output.is_useless,
            Some(Output::Stored(message)) => message
                .as_tool_result()
                .is_some_and(|result| result.useless == Some(true) || result.pruned_at.is_some()),
            None => self.phase == Phase::Abandoned,
        }
    }
}
