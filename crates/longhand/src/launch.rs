//! Starts the agent as the flags say: interactive, or for one answer.

use std::io::IsTerminal;

use anyhow::{Result, bail};
use longhand_agent::start::Asking;
use longhand_coding_agent::agent::{
    CodingAgent, ContextFilesUse, OpenRequest, SessionChoice, ToolSelection,
};
use longhand_coding_agent::import::Repeat;
use longhand_coding_agent::sessions::Scope;
use longhand_session::digits::grouped;
use longhand_session::import::Origin;

use crate::arguments::{Launch, Mode};
use crate::exit::Exit;
use crate::prompt_input::{self, Stdin};
use crate::single_shot::{self, Output};
use crate::{commands, interactive, setup};

pub(crate) async fn run(launch: Launch) -> Result<Exit> {
    let output = output_of(&launch);
    let make = if output.is_some() { setup::agent } else { setup::watched_agent };
    let agent = make(&launch.common, overrides(&launch))?;
    let _log =
        crate::log::start(&agent.places().logs(), std::env::var("LONGHAND_LOG").ok().as_deref());
    if launch.resume == Some(None) && output.is_some() {
        return list_sessions(&agent);
    }
    let launch = match import(&agent, launch)? {
        Import::Done(launch) => launch,
        Import::Unnamed(origin) => return list_foreign(&agent, origin),
    };
    let Some(output) = output else {
        // Its state is large, and would be carried by every other way to run.
        return Box::pin(interactive::run(&agent, &launch)).await;
    };
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
    let session = match (&launch.resume, &launch.fork) {
        (Some(Some(name)), _) => SessionChoice::Resume(name.clone()),
        (_, Some(name)) => SessionChoice::Fork(name.clone()),
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

/// What became of a foreign session that the flags name.
enum Import {
    /// It is one of ours, which the flags name now; or there was none.
    Done(Box<Launch>),
    /// The flags name only the program.
    Unnamed(Origin),
}

/// Imports the foreign session that the flags name.
fn import(agent: &CodingAgent, mut launch: Launch) -> Result<Import> {
    let (origin, named) = match (launch.from_claude.take(), launch.from_codex.take()) {
        (Some(named), _) => (Origin::Claude, named),
        (None, Some(named)) => (Origin::Codex, named),
        (None, None) => return Ok(Import::Done(Box::new(launch))),
    };
    let Some(wanted) = named else { return Ok(Import::Unnamed(origin)) };
    let source = agent.foreign_session(origin, &wanted)?;
    let imported = agent.importer(None).import(&source, Repeat::Offer)?;
    match &imported.new {
        Some(new) => new.notices.iter().for_each(|notice| eprintln!("{notice}")),
        None => eprintln!(
            "this session was imported before and goes on; `longhand import {} {} --again` makes another",
            origin.as_str(),
            imported.from.source_id
        ),
    }
    launch.resume = Some(Some(imported.place.to_string()));
    Ok(Import::Done(Box::new(launch)))
}

/// `--from-claude` and `--from-codex` without a value: the sessions to choose from.
fn list_foreign(agent: &CodingAgent, origin: Origin) -> Result<Exit> {
    let sessions = agent.foreign_sessions(origin)?;
    if sessions.is_empty() {
        bail!("there is no session of {}", origin.program());
    }
    eprintln!("name one of these with `--from-{} ID`:", origin.as_str());
    for line in commands::import::lines(&sessions) {
        eprintln!("{line}");
    }
    Ok(Exit::Usage)
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
