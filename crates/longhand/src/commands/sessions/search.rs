//! `longhand sessions search`: what a list shows is searched first, then everything that was said.

use std::collections::HashMap;
use std::ops::ControlFlow;

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_session::listing::{self as rows, Match, Passage, SessionRow};
use longhand_session::place::SessionPlace;
use longhand_session::sqlite;
use longhand_session::time::{Clock, SystemClock};
use serde_json::{Value, json};

use super::listing::{is_readable, json_of, plain};
use crate::arguments::sessions::Search;
use crate::exit::Exit;
use crate::output;

/// Passages shown of one session.
const MAX_PASSAGES: usize = 3;

/// A session that was found.
struct Hit<'r> {
    row: &'r SessionRow,
    passages: Vec<Passage>,
}

pub(super) fn run(agent: &CodingAgent, arguments: &Search) -> Result<Exit> {
    let query = arguments.words.join(" ");
    let sessions = super::rows(agent, &arguments.listing)?;
    let mut hits = hits(agent, &sessions, &query);
    hits.truncate(arguments.listing.limit.unwrap_or(usize::MAX));
    if arguments.listing.json {
        let pins = agent.sessions().pins().read().unwrap_or_default();
        let found: Vec<Value> = hits
            .iter()
            .map(|hit| {
                let mut found = json_of(hit.row, pins.contains(&hit.row.id));
                found["passages"] = hit
                    .passages
                    .iter()
                    .map(|passage| json!({ "entry": passage.entry, "text": passage.text }))
                    .collect();
                found
            })
            .collect();
        return output::write(&format!("{:#}\n", json!({ "sessions": found })));
    }
    if hits.is_empty() {
        return output::write(&format!("no session has `{}`\n", plain(&query, 100)));
    }
    let mut text = String::new();
    for Hit { row, passages } in hits {
        text.push_str(&format!("{}  {}\n", row.id, plain(row.name(), 80)));
        for passage in passages {
            text.push_str(&format!("    {}: {}\n", passage.entry, plain(&passage.text, 160)));
        }
    }
    output::write(&text)
}

/// Sessions whose title has the words, then those in which they were said, then those that resemble them.
fn hits<'r>(agent: &CodingAgent, sessions: &'r [SessionRow], query: &str) -> Vec<Hit<'r>> {
    let listed = rows::search(sessions, query);
    let in_database = in_database(agent, query);
    let titled = |kind: Match| matches!(kind, Match::Title | Match::InTitle);
    let mut order: Vec<usize> =
        listed.iter().filter(|found| titled(found.kind)).map(|found| found.at).collect();
    order.extend((0..sessions.len()).filter(|at| !order.contains(at)).collect::<Vec<_>>());
    let mut hits = Vec::new();
    for at in order {
        let row = &sessions[at];
        let passages = match in_database.get(&row.place) {
            Some(passage) => passage.iter().cloned().collect(),
            None => passages(row, query),
        };
        let found = listed.iter().find(|found| found.at == at).map(|found| found.kind);
        if !passages.is_empty() || found.is_some_and(|kind| kind != Match::Fuzzy) {
            hits.push(Hit { row, passages });
        }
    }
    let resembling = listed.iter().filter(|found| found.kind == Match::Fuzzy);
    for found in resembling {
        if hits.iter().all(|hit| hit.row.place != sessions[found.at].place) {
            hits.push(Hit { row: &sessions[found.at], passages: Vec::new() });
        }
    }
    hits
}

/// What the index of the database finds: of each session the best passage, or none where only its title has the words.
fn in_database(agent: &CodingAgent, query: &str) -> HashMap<SessionPlace, Option<Passage>> {
    let now = SystemClock.now_millis();
    let found = agent.sessions().database().search(query, now, usize::MAX);
    let found = found.unwrap_or_else(|error| {
        eprintln!("{:#}", anyhow::Error::from(error));
        Vec::new()
    });
    let passage = |hit: sqlite::Hit| {
        let passage = hit.entry.map(|entry| Passage { entry, text: hit.snippet.text });
        (hit.session.place, passage)
    };
    found.into_iter().map(passage).collect()
}

fn passages(row: &SessionRow, query: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let Some(file) = row.place.file().filter(|_| is_readable(row)) else { return passages };
    let searched = rows::search_text(file, query, |passage| {
        passages.push(passage);
        if passages.len() < MAX_PASSAGES {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    if let Err(error) = searched {
        eprintln!("cannot search `{}`: {error}", file.display());
    }
    passages
}
