//! Starts the agent as the flags say: interactive, or for one answer.

use std::io::IsTerminal;

use anyhow::{Result, bail};
use longhand_agent::start::Asking;
use longhand_coding_agent::agent::{
    CodingAgent, ContextFilesUse, OpenRequest, SessionChoice, ToolSelection,
};
use longhand_coding_agent::sessions::Scope;
use longhand_session::digits::grouped;

use crate::arguments::{Launch, Mode};
use crate::exit::Exit;
use crate::prompt_input::{self, Stdin};
use crate::single_shot::{self, Output};
use crate::{interactive, setup};

pub(crate) async fn run(launch: Launch) -> Result<Exit> {
    let output = output_of(&launch);
    let make = if output.is_some() { setup::agent } else { setup::watched_agent };
    let agent = make(&launch.common, overrides(&launch))?;
    let _log =
        crate::log::start(&agent.places().logs(), std::env::var("LONGHAND_LOG").ok().as_deref());
    if launch.resume == Some(None) {
        return list_sessions(&agent);
    }
    let Some(output) = output else { return interactive::run(&agent, &launch).await };
    agent.notices().iter().for_each(|notice| eprintln!("{notice}"));
    let stdin = if std::io::stdin().is_terminal() { Stdin::Terminal } else { Stdin::Piped };
    let prompts = prompt_input::gather(&launch.prompt, stdin, agent.directory())?;
    if prompts.is_empty() {
        eprintln!(
            "Error: there is no prompt; give one as an argument, as `@FILE`, or on standard input (see --help)"
        );
        return Ok(Exit::Usage);
    }
    let opened = agent.open(request(&launch, Asking::Nobody)).await?;
    opened.notices.iter().for_each(|notice| eprintln!("{notice}"));
    single_shot::run(&opened.session, &opened.header, prompts, output, launch.max_time).await
}

/// How a single answer is written; `None` is interactive.
fn output_of(launch: &Launch) -> Option<Output> {
    let has_terminal = std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
    match launch.mode {
        Some(Mode::Json) => Some(Output::Json),
        _ if launch.mode.is_none() && !launch.print && has_terminal => None,
        _ if launch.print_thoughts => Some(Output::TextWithThoughts),
        _ => Some(Output::Text),
    }
}

/// Settings that flags stand for.
pub(crate) fn overrides(launch: &Launch) -> Vec<String> {
    let mode = if launch.auto_approve {
        Some("yolo")
    } else {
        launch.approval_mode.map(super::arguments::Approval::as_setting)
    };
    mode.map(|mode| format!("tools.approvalMode={mode}")).into_iter().collect()
}

/// What the flags ask to be opened.
pub(crate) fn request(launch: &Launch, asking: Asking) -> OpenRequest {
    let session = match &launch.resume {
        Some(Some(name)) => SessionChoice::Resume(name.clone()),
        _ if launch.continue_newest => SessionChoice::Continue,
        _ if launch.no_session => SessionChoice::InMemory,
        _ => SessionChoice::New,
    };
    let tools = match &launch.tools {
        Some(names) => ToolSelection::Only(names.clone()),
        None if launch.no_tools => ToolSelection::None,
        None => ToolSelection::All,
    };
    OpenRequest {
        session,
        model: if launch.demo { Some("demo/offline".into()) } else { launch.common.model.clone() },
        asking,
        tools,
        context_files: if launch.no_context_files {
            ContextFilesUse::Skip
        } else {
            ContextFilesUse::Read
        },
        system_prompt: launch.system_prompt.clone(),
        system_prompt_addition: launch.append_system_prompt.clone(),
        ..OpenRequest::default()
    }
}

/// `--resume` without a value: the sessions to choose from.
fn list_sessions(agent: &CodingAgent) -> Result<Exit> {
    let sessions = agent.sessions().list(Scope::Directory(agent.directory()))?;
    if sessions.is_empty() {
        bail!("there is no session of `{}`", agent.directory().display());
    }
    eprintln!("name one of these with `--resume ID`:");
    for session in sessions {
        let title: String =
            session.name().chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
        eprintln!("  {}  {title} ({} bytes)", session.id, grouped(session.bytes));
    }
    Ok(Exit::Usage)
}
