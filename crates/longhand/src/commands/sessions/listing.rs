//! The list of sessions: a table for people, lines for scripts, JSON for programs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_session::digits::grouped;
use longhand_session::listing::{SessionRow, Status};
use longhand_session::place::SessionPlace;
use longhand_session::time::Timestamp;
use serde_json::{Value, json};

use crate::arguments::sessions::Listing;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, Table};

pub(super) fn run(agent: &CodingAgent, arguments: &Listing) -> Result<Exit> {
    let mut rows = super::rows(agent, arguments)?;
    let pins = agent.sessions().pins().read().unwrap_or_default();
    rows.retain(|row| !row.is_empty() || pins.contains(&row.id));
    rows.truncate(arguments.limit.unwrap_or(usize::MAX));
    if arguments.json {
        let sessions: Vec<Value> =
            rows.iter().map(|row| json_of(row, pins.contains(&row.id))).collect();
        return output::write(&format!("{:#}\n", json!({ "sessions": sessions })));
    }
    if arguments.plain {
        return output::write(&rows.iter().map(line).collect::<String>());
    }
    if rows.is_empty() {
        let place = agent.directory().display();
        let hint = if arguments.all { "" } else { "; `--all` shows those of other directories" };
        return output::write(&format!("there is no session of `{place}`{hint}\n"));
    }
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("CHANGED", Align::Right),
        ("SIZE", Align::Right),
        ("STATUS", Align::Left),
        ("", Align::Left),
        ("TITLE", Align::Left),
    ]);
    let now = SystemTime::now();
    for row in &rows {
        table.row([
            short_id(row, &rows),
            age(row.modified, now),
            size(row.bytes),
            row.status.as_str().to_owned(),
            if pins.contains(&row.id) { "*".to_owned() } else { String::new() },
            plain(row.name(), 200),
        ]);
    }
    output::write(&(table.lines().join("\n") + "\n"))
}

/// A session for programs.
pub(super) fn json_of(row: &SessionRow, is_pinned: bool) -> Value {
    let place = match &row.place {
        SessionPlace::File(path) => json!(path),
        SessionPlace::Database { path, .. } => json!({ "database": path }),
    };
    json!({
        "id": row.id,
        "place": place,
        "cwd": row.cwd,
        "title": row.title,
        "firstMessage": row.first_message,
        "parent": row.parent,
        "created": row.created,
        "modified": Timestamp::from_millis(millis(row.modified)),
        "bytes": row.bytes,
        "messages": row.messages,
        "status": row.status.as_str(),
        "pinned": is_pinned,
    })
}

/// A session for scripts.
fn line(row: &SessionRow) -> String {
    let modified = Timestamp::from_millis(millis(row.modified));
    let status = row.status.as_str();
    format!("{}\t{modified}\t{}\t{status}\t{}\n", row.id, row.bytes, plain(row.name(), 200))
}

/// The end of an id, which differs where its beginning, a time, does not; longer where that is not enough.
fn short_id(row: &SessionRow, rows: &[SessionRow]) -> String {
    let id = row.id.as_str();
    let is_unique =
        |start: &str| rows.iter().filter(|other| other.id.as_str().starts_with(start)).count() == 1;
    let ends = id.char_indices().map(|(at, _)| at).chain([id.len()]).filter(|end| *end >= 8);
    let start = ends.map(|end| &id[..end]).find(|start| is_unique(start));
    plain(start.unwrap_or(id), 40)
}

/// How long ago something was.
pub(crate) fn age(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or_default().as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", grouped(bytes / 1_024)),
        _ => format!("{} MiB", grouped(bytes / 1_048_576)),
    }
}

/// Text of a session on one line, without control characters.
pub(super) fn plain(text: &str, max_chars: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    match joined.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &joined[..end]),
        None => joined,
    }
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Whether a session can be searched.
pub(super) fn is_readable(row: &SessionRow) -> bool {
    row.status != Status::Damaged
}
