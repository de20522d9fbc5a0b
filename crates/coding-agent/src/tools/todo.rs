//! The tool `todo`: the task list of a session.
//!
//! The list is data of the session: every result carries it whole, and [`TodoList::restore`] takes it from there when the branch or the
//! process has changed. After each change exactly one task is in progress, as long as one is left to do.

mod list;

use std::sync::{Arc, Mutex, PoisonError};

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::Json;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::list::{List, Status, Target};
use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;

/// The task list of a session, shared by the tool and whoever moves through the session.
#[derive(Debug, Default)]
pub struct TodoList(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    list: List,
    /// Whether the model was shown the list as it is.
    is_shown: bool,
}

impl TodoList {
    /// Takes the list from the details of the newest `todo` result of a branch; none, or foreign ones, empty it.
    pub fn restore(&self, details: Option<&Json>) {
        let phases = details.and_then(|details| details.get("phases"));
        let phases = phases.and_then(|phases| serde_json::from_value(phases.clone()).ok());
        let list = List { phases: phases.unwrap_or_default() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State { list, is_shown: false };
    }
}

pub(crate) struct Todo {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Init,
    Start,
    Done,
    Rm,
    Drop,
    Block,
    Unblock,
    Append,
    View,
}

#[derive(Deserialize)]
struct PhaseItems {
    phase: String,
    items: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    op: Op,
    list: Option<Vec<PhaseItems>>,
    task: Option<String>,
    phase: Option<String>,
    items: Option<Vec<String>>,
    reason: Option<String>,
}

impl Arguments {
    fn task(&self) -> Result<&str, Failure> {
        self.task.as_deref().ok_or_else(|| needs("task"))
    }

    /// The task or the phase that is named.
    fn target(&self) -> Result<Target<'_>, Failure> {
        match (&self.task, &self.phase) {
            (Some(task), _) => Ok(Target::Task(task)),
            (None, Some(phase)) => Ok(Target::Phase(phase)),
            (None, None) => Err(needs("task")),
        }
    }
}

fn needs(argument: &str) -> Failure {
    Failure(format!("`todo`: argument `{argument}` is missing for this `op`"))
}

impl Todo {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let strings = json!({"type": "array", "items": {"type": "string"}});
        let spec = arguments::tool_spec(
            "todo",
            context.prompts.text(Prompt::ToolTodo),
            &["op"],
            json!({
                "op": {"enum": ["init", "start", "done", "rm", "drop", "block", "unblock", "append", "view"]},
                "list": {
                    "type": "array",
                    "items": {
                        "type": "object", "required": ["phase", "items"], "additionalProperties": false,
                        "properties": {
                            "phase": {"type": "string"},
                            "items": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                        },
                    },
                },
                "task": {"type": "string"},
                "phase": {"type": "string"},
                "items": strings,
                "reason": {"type": "string"},
            }),
        );
        Self { context, spec }
    }
}

impl FileTool for Todo {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Read;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, _arguments: &Arguments) -> Tier {
        Self::TIER
    }

    fn run(
        &self,
        arguments: Arguments,
        _cancel: &CancellationToken,
    ) -> Result<ToolOutput, Failure> {
        let mut state = self.context.todo.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Changed on a copy, so that a failure leaves the list alone.
        let mut list = state.list.clone();
        change(&mut list, &arguments)?;

        let is_useless = arguments.op == Op::View && state.is_shown;
        *state = State { list, is_shown: true };
        let details = json!({"op": op_name(arguments.op), "phases": state.list.phases});
        let text = state.list.to_string();
        Ok(ToolOutput { details: Some(Json::from(details)), is_useless, ..ToolOutput::text(text) })
    }
}

fn change(list: &mut List, arguments: &Arguments) -> Result<(), Failure> {
    let started = match arguments.op {
        Op::View => return Ok(()),
        Op::Init => {
            let phases = arguments.list.as_deref().ok_or_else(|| needs("list"))?;
            *list = List::default();
            for phase in phases {
                list.append(&phase.phase, &phase.items)?;
            }
            None
        }
        Op::Append => {
            let items = arguments.items.as_deref().filter(|items| !items.is_empty());
            let phase = arguments.phase.as_deref().ok_or_else(|| needs("phase"))?;
            list.append(phase, items.ok_or_else(|| needs("items"))?)?;
            None
        }
        Op::Start => {
            let task = arguments.task()?;
            list.set(Target::Task(task), Status::InProgress, None)?;
            Some(task)
        }
        Op::Block => {
            let reason = arguments.reason.as_deref().ok_or_else(|| needs("reason"))?;
            list.set(Target::Task(arguments.task()?), Status::Blocked, Some(reason))?;
            None
        }
        Op::Unblock => {
            list.unblock(arguments.task()?)?;
            None
        }
        Op::Done => {
            list.set(arguments.target()?, Status::Completed, None)?;
            None
        }
        Op::Drop => {
            list.set(arguments.target()?, Status::Abandoned, None)?;
            None
        }
        Op::Rm => {
            list.remove(arguments.target()?)?;
            None
        }
    };
    list.settle(started);
    Ok(())
}

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Init => "init",
        Op::Start => "start",
        Op::Done => "done",
        Op::Rm => "rm",
        Op::Drop => "drop",
        Op::Block => "block",
        Op::Unblock => "unblock",
        Op::Append => "append",
        Op::View => "view",
    }
}
