//! `longhand sessions`: lists, searches, deletes, pins and cleans up. Starts no agent and needs no model.

mod convert;
pub(crate) mod listing;
mod search;

use std::time::SystemTime;

use anyhow::{Context, Result};
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::sessions::Scope;
use longhand_session::digits::grouped;
use longhand_session::listing::SessionRow;
use longhand_session::lookup::LookupError;
use serde_json::json;

use crate::arguments::sessions::{Action, Gc, Listing, Named, Sessions};
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(agent: &CodingAgent, arguments: &Sessions) -> Result<Exit> {
    match &arguments.action {
        None => listing::run(agent, &arguments.listing),
        Some(Action::List(listing)) => listing::run(agent, listing),
        Some(Action::Search(search)) => search::run(agent, search),
        Some(Action::Delete(named)) => delete(agent, named),
        Some(Action::Pin(named)) => pin(agent, named),
        Some(Action::Unpin(named)) => unpin(agent, named),
        Some(Action::Gc(gc)) => clean_up(agent, gc),
        Some(Action::Convert(convert)) => convert::run(agent, convert),
    }
}

/// The sessions that a list is about.
fn rows(agent: &CodingAgent, listing: &Listing) -> Result<Vec<SessionRow>> {
    let scope = if listing.all { Scope::Everywhere } else { Scope::Directory(agent.directory()) };
    Ok(agent.sessions().list(scope)?)
}

/// The session of a name, as lists show it.
fn named(agent: &CodingAgent, name: &str) -> Result<SessionRow> {
    let place = agent.sessions().find(name, agent.directory())?;
    if let Some(file) = place.file() {
        return longhand_session::listing::glance(file)
            .with_context(|| format!("cannot read `{}`", file.display()));
    }
    let rows = agent.sessions().list(Scope::Everywhere)?;
    let row = rows.into_iter().find(|row| row.place == place);
    row.ok_or_else(|| LookupError::NotFound { wanted: name.to_owned() }.into())
}

fn delete(agent: &CodingAgent, arguments: &Named) -> Result<Exit> {
    let row = named(agent, &arguments.session)?;
    agent.sessions().delete(&row.place).with_context(|| format!("cannot delete `{}`", row.id))?;
    agent.sessions().pins().unpin(&row.id).context("cannot take its pin away")?;
    told(arguments, &row, "deleted", "moved to the trash, where it stays for 30 days")
}

fn pin(agent: &CodingAgent, arguments: &Named) -> Result<Exit> {
    let row = named(agent, &arguments.session)?;
    agent.sessions().pins().pin(&row.id).context("cannot pin the session")?;
    told(arguments, &row, "pinned", "pinned")
}

fn unpin(agent: &CodingAgent, arguments: &Named) -> Result<Exit> {
    let row = named(agent, &arguments.session)?;
    agent.sessions().pins().unpin(&row.id).context("cannot take the pin away")?;
    told(arguments, &row, "unpinned", "not pinned any more")
}

fn told(arguments: &Named, row: &SessionRow, done: &str, words: &str) -> Result<Exit> {
    if arguments.json {
        return output::write(&format!("{}\n", json!({ "id": row.id, "done": done })));
    }
    let name = listing::plain(row.name(), 60);
    output::write(&format!("{} ({name}): {words}\n", row.id))
}

fn clean_up(agent: &CodingAgent, arguments: &Gc) -> Result<Exit> {
    let cleanup = agent.sessions().leftovers(SystemTime::now())?;
    if arguments.yes {
        cleanup.remove().context("cannot remove everything")?;
    }
    if arguments.json {
        let leftovers: Vec<_> = cleanup
            .leftovers
            .iter()
            .map(|leftover| {
                json!({ "path": leftover.path, "reason": leftover.reason, "bytes": leftover.bytes })
            })
            .collect();
        let document =
            json!({ "leftovers": leftovers, "bytes": cleanup.bytes(), "removed": arguments.yes });
        return output::write(&format!("{document:#}\n"));
    }
    let mut text = String::new();
    for leftover in &cleanup.leftovers {
        let (path, reason) = (leftover.path.display(), leftover.reason);
        text.push_str(&format!("{path}  {} bytes, {reason}\n", grouped(leftover.bytes)));
    }
    let bytes = grouped(cleanup.bytes());
    text.push_str(&match (cleanup.leftovers.len(), arguments.yes) {
        (0, _) => "there is nothing to remove\n".to_owned(),
        (count, true) => format!("removed {count}, {bytes} bytes\n"),
        (count, false) => format!("{count} can go, {bytes} bytes; `--yes` removes them\n"),
    });
    output::write(&text)
}
