//! From flags and the machine to an agent: the one place that reads the environment.

use std::path::PathBuf;

use anyhow::{Context, Result};
use longhand_coding_agent::agent::{CodingAgent, Setup};
use longhand_coding_agent::demo::Pace;
use longhand_coding_agent::environment::Environment;
use longhand_session::breadcrumbs::TerminalId;

use crate::arguments::Common;

/// The environment, as far as it is text.
pub(crate) fn environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The terminal that the user sits at.
pub(crate) fn terminal() -> Option<TerminalId> {
    let device = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok();
    let device = device.and_then(|name| name.into_string().ok()).map(PathBuf::from);
    let environment = environment();
    TerminalId::find(device.as_deref(), |name| environment.var(name))
}

/// The working directory that the flags name, or the current one.
///
/// # Errors
/// It does not exist.
pub(crate) fn directory(common: &Common) -> Result<PathBuf> {
    let current = std::env::current_dir().context("the current directory cannot be read")?;
    let Some(named) = &common.cwd else { return Ok(current) };
    let directory = current.join(named);
    std::fs::canonicalize(&directory)
        .with_context(|| format!("cannot work in `{}`", directory.display()))
}

/// The agent that the flags describe, for work that nobody watches: the demo answers at once. `overrides` are further settings, above
/// those of `--set`.
///
/// # Errors
/// The working directory or the user's folders cannot be found.
pub(crate) fn agent(common: &Common, overrides: Vec<String>) -> Result<CodingAgent> {
    paced(common, overrides, Pace::AtOnce)
}

/// The agent that the flags describe, for a person who watches: the demo answers as fast as a model would.
///
/// # Errors
/// The working directory or the user's folders cannot be found.
pub(crate) fn watched_agent(common: &Common, overrides: Vec<String>) -> Result<CodingAgent> {
    paced(common, overrides, Pace::default())
}

fn paced(common: &Common, overrides: Vec<String>, demo_pace: Pace) -> Result<CodingAgent> {
    let mut setup = Setup::new(environment(), directory(common)?);
    setup.demo_pace = demo_pace;
    setup.overlays.clone_from(&common.configs);
    setup.assignments.clone_from(&common.settings);
    setup.session_dir.clone_from(&common.session_dir);
    if let Some(methods) = &common.compact_methods {
        setup.assignments.push(format!("compaction.methodOrder={methods}"));
    }
    if common.no_auto_compact {
        setup.assignments.push("compaction.enabled=false".into());
    }
    if let Some(summarizer) = &common.summarizer {
        setup.assignments.push(format!("summarizer={summarizer}"));
    }
    setup.assignments.extend(overrides);
    Ok(CodingAgent::new(setup)?)
}
