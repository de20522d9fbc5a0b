//! The system prompt: what the agent is and how it works, then where it works and by which rules.
//!
//! It is composed once a session and says nothing that changes within a day: no clock, no random id, no state of the
//! repository, no model that may be switched. A provider can so keep its cache of it.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use longhand_agent::ToolSpec;
use longhand_prompts::{Prompt, Prompts};
use longhand_session::time::Timestamp;
use longhand_session::{Fragment, TokenCounter};

use crate::context_files::ContextFiles;
use crate::environment::Environment;

/// What a system prompt is made of.
#[derive(Debug, Clone)]
pub struct Ingredients<'a> {
    /// The words.
    pub prompts: &'a Prompts,
    /// Tools that the model may call.
    pub tools: &'a [ToolSpec],
    /// The machine and the day.
    pub workstation: &'a Workstation,
    /// Standing instructions; `None` leaves out everything about the project.
    pub context: Option<&'a ContextFiles>,
    /// Takes the place of everything about the agent itself.
    pub replacement: Option<&'a str>,
    /// Comes at the end.
    pub addition: Option<&'a str>,
}

/// Where the agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workstation {
    /// Operating system, such as `linux`.
    pub os: String,
    /// Processor, such as `x86_64`.
    pub architecture: String,
    /// The user's shell.
    pub shell: Option<String>,
    /// The terminal's type.
    pub terminal: Option<String>,
    /// The day, as `2026-01-31`, in UTC.
    pub date: String,
    /// The working directory.
    pub directory: PathBuf,
    /// Further folders of the workspace.
    pub further_roots: Vec<PathBuf>,
}

impl Workstation {
    /// This machine, as the environment tells of it.
    pub fn new(environment: &Environment, directory: PathBuf, now_millis: i64) -> Self {
        let time = Timestamp::from_millis(now_millis);
        let date = time.as_str().split('T').next().unwrap_or_default().to_owned();
        Self {
            os: std::env::consts::OS.into(),
            architecture: std::env::consts::ARCH.into(),
            shell: environment.var("SHELL").map(str::to_owned),
            terminal: environment.var("TERM").map(str::to_owned),
            date,
            directory,
            further_roots: Vec::new(),
        }
    }
}

/// A composed system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// Its sections, in order. None is empty.
    pub sections: Vec<Section>,
}

/// One section of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is about, for people.
    pub name: &'static str,
    /// What it says.
    pub text: Arc<str>,
}

impl SystemPrompt {
    /// Composes a system prompt.
    pub fn compose(ingredients: &Ingredients<'_>) -> Self {
        let agent = match ingredients.replacement {
            Some(text) => text.to_owned(),
            None => ingredients
                .prompts
                .render(Prompt::SystemPrompt, &[("tools", &inventory(ingredients.tools))]),
        };
        let mut sections = vec![("agent", agent)];
        if let Some(context) = ingredients.context {
            sections.push(("workstation", workstation(ingredients.workstation)));
            sections.push(("rules", rules(ingredients.prompts, context)));
            sections.push(("nested rules", nested_rules(ingredients.prompts, context)));
        }
        sections.push(("addition", ingredients.addition.unwrap_or_default().trim().to_owned()));
        let sections = sections.into_iter().filter(|(_, text)| !text.is_empty());
        Self {
            sections: sections.map(|(name, text)| Section { name, text: text.into() }).collect(),
        }
    }

    /// The texts, as a request takes them.
    pub fn segments(&self) -> Arc<[Arc<str>]> {
        self.sections.iter().map(|section| section.text.clone()).collect()
    }

    /// Tokens of each section.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> Vec<(&'static str, u64)> {
        let count =
            |section: &Section| (section.name, counter.count(Fragment::Text(&section.text)));
        self.sections.iter().map(count).collect()
    }
}

/// A line a tool. The whole description goes with its schema; here the model sees at a glance what there is.
fn inventory(tools: &[ToolSpec]) -> String {
    if tools.is_empty() {
        return "There are no tools in this session.".into();
    }
    let lines = tools.iter().map(|tool| {
        let first = tool.description.lines().next().unwrap_or_default();
        let end = first.find(". ").map_or(first.len(), |at| at + 1);
        format!("- `{}`: {}", tool.name, &first[..end])
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn workstation(workstation: &Workstation) -> String {
    let mut out = String::from("<workstation>\n");
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name}: {value}");
    };
    line("Operating system", &format!("{} ({})", workstation.os, workstation.architecture));
    if let Some(shell) = &workstation.shell {
        line("Shell", shell);
    }
    if let Some(terminal) = &workstation.terminal {
        line("Terminal", terminal);
    }
    line("Date", &workstation.date);
    line("Working directory", &workstation.directory.display().to_string());
    for root in &workstation.further_roots {
        line("Further workspace root", &root.display().to_string());
    }
    out.push_str("</workstation>");
    out
}

fn rules(prompts: &Prompts, context: &ContextFiles) -> String {
    if context.files.is_empty() {
        return String::new();
    }
    let mut out = format!("<repo-rules>\n{}\n", prompts.text(Prompt::SystemPromptRules));
    for file in &context.files {
        let _ = write!(out, "<file path=\"{}\">\n{}\n</file>\n", file.path.display(), file.text);
    }
    out.push_str("</repo-rules>");
    out
}

fn nested_rules(prompts: &Prompts, context: &ContextFiles) -> String {
    if context.nested.is_empty() {
        return String::new();
    }
    let mut out = format!("<dir-context>\n{}\n", prompts.text(Prompt::SystemPromptNestedRules));
    for path in &context.nested {
        let _ = writeln!(out, "- {}", path.display());
    }
    out.push_str("</dir-context>");
    out
}
