//! Decides which calls of a model may run without asking the user.
//!
//! A call is judged by its tier, by the mode, by the user's word on the tool, and for commands by their words. Where nothing says yes the
//! user is asked. Commands that can cost the machine are asked about whatever else allows them, save in [`Mode::Yolo`], which logs a
//! warning. What the user allows for the session is kept here and nowhere else.

mod danger;
mod question;
mod session_rules;
mod shell_line;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longhand_agent::tool::{ApprovalAnswer, Gate, GateVerdict, Tier, Tool};
use serde_json::Value;

use self::session_rules::SessionRules;

/// Which tiers run without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What only looks.
    #[default]
    AlwaysAsk,
    /// What looks, and what writes inside the workspace.
    Write,
    /// Everything.
    Yolo,
}

/// The user's word on a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPolicy {
    /// It runs without a question.
    Allow,
    /// Each call is asked about.
    Prompt,
    /// It never runs.
    Deny,
}

/// A word that is no mode or no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is none of {known}")]
pub struct UnknownWord {
    /// What was given.
    pub given: String,
    /// What there is.
    pub known: &'static str,
}

impl FromStr for Mode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "always-ask" => Ok(Self::AlwaysAsk),
            "write" => Ok(Self::Write),
            "yolo" => Ok(Self::Yolo),
            _ => Err(UnknownWord { given: word.into(), known: "always-ask, write, yolo" }),
        }
    }
}

impl FromStr for ToolPolicy {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "allow" => Ok(Self::Allow),
            "prompt" => Ok(Self::Prompt),
            "deny" => Ok(Self::Deny),
            _ => Err(UnknownWord { given: word.into(), known: "allow, prompt, deny" }),
        }
    }
}

/// The gate of a session.
#[derive(Debug, Default)]
pub struct Policy(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    tools: BTreeMap<String, ToolPolicy>,
    rules: SessionRules,
}

/// What is known of a call before it is judged.
struct Call<'a> {
    name: &'a str,
    tier: Tier,
    /// The command line of a call of `bash`.
    line: Option<&'a str>,
    /// Whether the command line says all of what runs: a call with variables or a folder of its own says more.
    is_plain: bool,
    danger: Option<&'static str>,
}

impl<'a> Call<'a> {
    fn of(tool: &'a dyn Tool, arguments: &'a Value) -> Self {
        let name = tool.spec().name.as_str();
        let line = (name == "bash").then(|| arguments["command"].as_str()).flatten();
        let is_plain = arguments["env"].is_null() && arguments["cwd"].is_null();
        Self {
            name,
            tier: tool.tier(arguments),
            line,
            is_plain,
            danger: line.and_then(danger::reason),
        }
    }

    /// What "do not ask again" would cover.
    fn coverage(&self) -> Option<String> {
        match (self.danger, self.line, self.tier) {
            (None, Some(line), _) if self.is_plain => session_rules::coverage(line),
            (None, None, Tier::Read | Tier::Write) => {
                Some(format!("`{}` in the workspace", self.name))
            }
            (_, _, _) => None,
        }
    }

    fn is_remembered(&self, rules: &SessionRules) -> bool {
        self.coverage().is_some()
            && self.line.map_or_else(|| rules.allow_tool(self.name), |line| rules.allow_line(line))
    }
}

impl Policy {
    /// The gate for a mode and the user's word on single tools.
    pub fn new(mode: Mode, tools: BTreeMap<String, ToolPolicy>) -> Self {
        Self(Mutex::new(State { mode, tools, rules: SessionRules::default() }))
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.state().mode
    }

    /// Changes the mode. What was allowed for the session stays allowed.
    pub fn set_mode(&self, mode: Mode) {
        self.state().mode = mode;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether a call must be asked about; the first that applies decides.
    fn must_ask(&self, call: &Call<'_>) -> bool {
        let policy = self.tools.get(call.name);
        if self.mode == Mode::Yolo {
            return policy == Some(&ToolPolicy::Prompt);
        }
        if call.danger.is_some() {
            return true;
        }
        if call.is_remembered(&self.rules) {
            return false;
        }
        match (policy, self.mode) {
            (Some(ToolPolicy::Allow), _) => false,
            (Some(ToolPolicy::Prompt | ToolPolicy::Deny), _) => true,
            (None, Mode::AlwaysAsk) => call.tier > Tier::Read,
            (None, Mode::Write | Mode::Yolo) => call.tier > Tier::Write,
        }
    }
}

impl Gate for Policy {
    fn check(&self, tool: &dyn Tool, arguments: &Value) -> GateVerdict {
        let call = Call::of(tool, arguments);
        let state = self.state();
        if state.tools.get(call.name) == Some(&ToolPolicy::Deny) {
            return GateVerdict::Deny(format!("The user's settings deny `{}`.", call.name));
        }
        if state.must_ask(&call) {
            return GateVerdict::Ask(question::about(&call, arguments));
        }
        if let Some(reason) = call.danger {
            tracing::warn!(reason, "a dangerous command runs without a question");
        }
        GateVerdict::Allow
    }

    fn answered(&self, tool: &dyn Tool, arguments: &Value, answer: ApprovalAnswer) {
        let call = Call::of(tool, arguments);
        match answer {
            ApprovalAnswer::Always if call.coverage().is_some() => {
                let mut state = self.state();
                match call.line {
                    Some(line) => state.rules.remember_line(line),
                    None => state.rules.remember_tool(call.name),
                }
            }
            ApprovalAnswer::Always
            | ApprovalAnswer::Yes
            | ApprovalAnswer::No { .. }
            | ApprovalAnswer::Stop => {}
        }
    }
}
