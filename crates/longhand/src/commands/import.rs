//! `longhand import`: sessions of other programs become sessions of this one.

use std::time::SystemTime;

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::import::{
    ForeignError, ForeignSource, ImportedSession, Importer, PlannedImport, Repeat,
};
use longhand_session::digits::grouped;
use longhand_session::import::{ForeignSession, ImportError, Origin, Tally};
use serde_json::{Value, json};

use super::sessions::listing::age;
use crate::arguments::{ForeignProgram, Import};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, Table};

impl From<ForeignProgram> for Origin {
    fn from(program: ForeignProgram) -> Self {
        match program {
            ForeignProgram::Claude => Self::Claude,
            ForeignProgram::Codex => Self::Codex,
        }
    }
}

pub(crate) fn run(agent: &CodingAgent, arguments: &Import) -> Result<Exit> {
    let origin = arguments.program.into();
    if arguments.list {
        return list(&agent.foreign_sessions(origin)?, arguments);
    }
    if arguments.sessions.is_empty() && !arguments.all {
        let program = origin.as_str();
        eprintln!(
            "Error: name a session, or `--all`; `longhand import {program} --list` shows them"
        );
        return Ok(Exit::Usage);
    }
    let mut report = Report::new(agent, arguments);
    if arguments.all {
        for session in agent.foreign_sessions(origin)? {
            let name = session.id.clone();
            report.import(&name, Ok(session.into()))?;
        }
    }
    for name in &arguments.sessions {
        report.import(name, agent.foreign_session(origin, name))?;
    }
    report.finish()
}

fn list(sessions: &[ForeignSession], arguments: &Import) -> Result<Exit> {
    if arguments.json {
        let sessions: Vec<Value> = sessions.iter().map(list_row).collect();
        return output::write(
            &(serde_json::to_string_pretty(&json!({"sessions": sessions}))? + "\n"),
        );
    }
    if sessions.is_empty() {
        let program = Origin::from(arguments.program).program();
        return output::write(&format!("there is no session of {program}\n"));
    }
    output::write(&lines(sessions).iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn list_row(session: &ForeignSession) -> Value {
    json!({
        "source": session.origin, "id": session.id, "path": session.path, "cwd": session.cwd, "title": session.title,
        "firstPrompt": session.first_prompt, "prompts": session.prompts, "bytes": session.bytes,
        "modified": jiff::Timestamp::try_from(session.modified).ok().map(|time| time.to_string()),
    })
}

/// The sessions as a table for people, newest first.
pub(crate) fn lines(sessions: &[ForeignSession]) -> Vec<String> {
    let mut table =
        Table::new(&[("ID", Align::Left), ("CHANGED", Align::Right), ("TITLE", Align::Left)]);
    let now = SystemTime::now();
    for (session, id) in sessions.iter().zip(short_ids(sessions)) {
        let name = session.title.as_deref().or(session.first_prompt.as_deref());
        let name = name.unwrap_or("(no title)").to_owned();
        table.row([id.to_owned(), age(session.modified, now), name]);
    }
    table.lines()
}

/// Shortest start of an id that is shown, in bytes.
const MIN_ID_BYTES: usize = 8;

/// The start of each id that no other has, of eight characters or more.
fn short_ids(sessions: &[ForeignSession]) -> Vec<&str> {
    let mut sorted: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    sorted.sort_unstable();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let short = |id: &'_ str| {
        let at = sorted.partition_point(|other| *other < id);
        let before = at.checked_sub(1).map_or(0, |before| shared(sorted[before], id));
        let after = sorted.get(at + 1).map_or(0, |after| shared(id, after));
        let bytes = (before.max(after) + 1).max(MIN_ID_BYTES);
        (bytes..id.len()).find(|end| id.is_char_boundary(*end)).unwrap_or(id.len())
    };
    sessions.iter().map(|session| &session.id[..short(&session.id)]).collect()
}

/// What is told of several imports. Each line is told when it is known; JSON comes in one piece at the end.
struct Report<'a> {
    arguments: &'a Import,
    importer: Importer<'a>,
    done: Vec<Value>,
    failed: Vec<Value>,
    /// Sessions in which nobody said anything.
    empty: u64,
}

impl<'a> Report<'a> {
    fn new(agent: &'a CodingAgent, arguments: &'a Import) -> Self {
        let importer = agent.importer(arguments.out.as_deref());
        Self { arguments, importer, done: Vec::new(), failed: Vec::new(), empty: 0 }
    }

    fn import(&mut self, name: &str, found: Result<ForeignSource, ForeignError>) -> Result<()> {
        let told = found.map_err(anyhow::Error::from).and_then(|source| {
            let told = if self.arguments.dry_run {
                self.importer.plan(&source).map(|plan| (of_plan(&plan), plan_line(&plan)))
            } else {
                let repeat = if self.arguments.again { Repeat::Again } else { Repeat::Offer };
                let imported = self.importer.import(&source, repeat);
                imported.map(|imported| (of_import(&imported), import_line(&imported)))
            };
            Ok(told?)
        });
        match told {
            Ok((value, line)) => {
                self.done.push(value);
                if !self.arguments.json {
                    output::write(&line)?;
                }
            }
            Err(error) if self.arguments.all && is_empty(&error) => self.empty += 1,
            Err(error) => {
                eprintln!("Error: {error:#}");
                self.failed.push(json!({"session": name, "error": format!("{error:#}")}));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Exit> {
        if self.empty > 0 {
            eprintln!("{} sessions without messages were left out", grouped(self.empty));
        }
        let exit = if self.failed.is_empty() { Exit::Success } else { Exit::NoSession };
        if self.arguments.json {
            let document = json!({
                "dryRun": self.arguments.dry_run, "sessions": self.done, "failed": self.failed, "empty": self.empty,
            });
            output::write(&(serde_json::to_string_pretty(&document)? + "\n"))?;
        }
        Ok(exit)
    }
}

fn is_empty(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ImportError::NoMessages { .. }))
}

fn of_import(imported: &ImportedSession) -> Value {
    let new = imported.new.as_ref();
    json!({
        "source": imported.from.source, "sourceId": imported.from.source_id, "sourcePath": imported.source,
        "place": imported.place.to_string(), "importedBefore": new.is_none(),
        "id": imported.id, "title": new.and_then(|new| new.title.as_ref()),
        "counts": new.map(|new| counts(&new.tally)),
    })
}

fn of_plan(plan: &PlannedImport) -> Value {
    json!({
        "source": plan.from.source, "sourceId": plan.from.source_id, "sourcePath": plan.source,
        "importedBefore": plan.existing.is_some(), "title": plan.title, "id": plan.existing, "counts": counts(&plan.tally),
    })
}

fn counts(tally: &Tally) -> Value {
    json!({"entries": tally.entries, "skipped": tally.skipped, "damagedLines": tally.damaged_lines})
}

fn import_line(imported: &ImportedSession) -> String {
    let Some(new) = &imported.new else {
        eprintln!(
            "`{}` was imported before; `--again` makes another session of it",
            imported.from.source_id
        );
        return format!("{}\n", imported.id);
    };
    new.notices.iter().for_each(|notice| eprintln!("{notice}"));
    let messages = grouped(new.tally.messages());
    let title = new.title.as_deref().map(|title| format!(", {title}")).unwrap_or_default();
    format!("{}  {messages} messages of {}{title}\n", imported.id, imported.from.source_id)
}

/// What would come over, and what would be left out.
fn plan_line(plan: &PlannedImport) -> String {
    let named = |counts: &std::collections::BTreeMap<String, u64>| {
        let named: Vec<String> =
            counts.iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
        if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
    };
    let mut text = format!("{}\n", plan.from.source_id);
    if let Some(title) = &plan.title {
        text.push_str(&format!("  title: {title}\n"));
    }
    text.push_str(&format!("  comes over: {}\n", named(&plan.tally.entries)));
    text.push_str(&format!("  left out: {}\n", named(&plan.tally.skipped)));
    if plan.tally.damaged_lines > 0 {
        text.push_str(&format!("  damaged lines: {}\n", grouped(plan.tally.damaged_lines)));
    }
    if let Some(id) = &plan.existing {
        text.push_str(&format!("  imported before: {id}\n"));
    }
    text
}
