//! `longhand sessions convert`: sessions brought from files into the database, or back.

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::conversion::{ConvertError, Converted, Original, kind_of};
use longhand_coding_agent::sessions::Scope;
use longhand_coding_agent::settings::StoreKind;
use longhand_session::conversion::CopyError;
use longhand_session::digits::grouped;
use longhand_session::place::SessionPlace;
use longhand_session::store::StoreError;
use serde_json::{Value, json};

use super::listing;
use crate::arguments::sessions::{Convert, Store};
use crate::exit::Exit;
use crate::output;

/// What became of one session.
enum Outcome {
    Converted(Box<Converted>),
    /// There is one in the place of the copy already.
    Skipped(SessionPlace, String),
    Failed(SessionPlace, String),
}

pub(super) fn run(agent: &CodingAgent, arguments: &Convert) -> Result<Exit> {
    let to = match arguments.to {
        Store::Jsonl => StoreKind::Jsonl,
        Store::Sqlite => StoreKind::Sqlite,
    };
    let original = if arguments.remove { Original::GoesToTrash } else { Original::Stays };
    if let Some(name) = &arguments.session {
        let place = agent.sessions().find(name, agent.directory())?;
        let converted = agent.convert(&place, to, original).map_err(opened)?;
        return report(&[Outcome::Converted(Box::new(converted))], arguments.json);
    }
    let sessions = agent.sessions().list(Scope::Everywhere)?;
    let places = sessions.into_iter().filter(listing::is_readable).map(|session| session.place);
    let outcomes: Vec<Outcome> = places
        .filter(|place| kind_of(place) != to)
        .map(|place| outcome(agent.convert(&place, to, original), place))
        .collect();
    if outcomes.is_empty() && !arguments.json {
        eprintln!("there is no session to convert");
        return Ok(Exit::NothingToDo);
    }
    report(&outcomes, arguments.json)
}

/// A session that cannot be opened has an exit code of its own.
fn opened(error: ConvertError) -> anyhow::Error {
    match error {
        ConvertError::Copy(CopyError::Store(error)) => error.into(),
        error => error.into(),
    }
}

fn outcome(converted: Result<Converted, ConvertError>, place: SessionPlace) -> Outcome {
    match converted {
        Ok(converted) => Outcome::Converted(Box::new(converted)),
        Err(error) => {
            let is_there =
                matches!(&error, ConvertError::Copy(CopyError::Store(StoreError::Exists { .. })));
            let reason = format!("{:#}", anyhow::Error::from(error));
            if is_there { Outcome::Skipped(place, reason) } else { Outcome::Failed(place, reason) }
        }
    }
}

fn report(outcomes: &[Outcome], as_json: bool) -> Result<Exit> {
    let has_failed = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(..)));
    let text = if as_json {
        let document = json!({"sessions": outcomes.iter().map(document).collect::<Vec<_>>()});
        serde_json::to_string_pretty(&document)? + "\n"
    } else {
        outcomes.iter().map(lines).collect()
    };
    let written = output::write(&text)?;
    Ok(if has_failed { Exit::Failure } else { written })
}

fn document(outcome: &Outcome) -> Value {
    let told = |place: &SessionPlace, outcome: &str, reason: &str| json!({"outcome": outcome, "from": place.to_string(), "reason": reason});
    match outcome {
        Outcome::Skipped(place, reason) => told(place, "skipped", reason),
        Outcome::Failed(place, reason) => told(place, "failed", reason),
        Outcome::Converted(converted) => json!({
            "outcome": "converted", "id": converted.id, "from": converted.from.to_string(),
            "to": converted.to.to_string(), "objects": converted.copied.objects,
            "bytes": converted.copied.bytes,
            "unreadObjects": converted.copied.unread, "damagedLines": converted.copied.damage.lines,
            "trash": converted.trash.as_ref().map(|path| path.display().to_string()),
        }),
    }
}

fn lines(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Skipped(place, reason) => format!("skipped {place}\n  {reason}\n"),
        Outcome::Failed(place, reason) => format!("failed {place}\n  {reason}\n"),
        Outcome::Converted(converted) => converted_lines(converted),
    }
}

fn converted_lines(converted: &Converted) -> String {
    let Converted { id, to, copied, trash, .. } = converted;
    let mut text = format!("converted {id}\n  now in {to}\n");
    text.push_str(&format!(
        "  {} entries and other objects, {} bytes\n",
        grouped(copied.objects),
        grouped(copied.bytes)
    ));
    if !copied.unread.is_empty() {
        text.push_str(&format!(
            "  {} of them cannot be read; they came along as text\n",
            grouped(copied.unread.len() as u64)
        ));
    }
    if !copied.damage.lines.is_empty() {
        text.push_str(&format!(
            "  {} damaged lines of the original were left behind, in part or whole\n",
            grouped(copied.damage.lines.len() as u64)
        ));
    }
    if let Some(path) = trash {
        text.push_str(&format!("  the original is now {}\n", path.display()));
    }
    text
}
