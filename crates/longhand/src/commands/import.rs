//! `longhand import`: sessions of other programs become sessions of this one.

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::import::{
    ForeignError, ImportRequest, ImportedSession, PlannedImport, Repeat,
};
use longhand_session::digits::grouped;
use longhand_session::import::{ForeignSession, ImportError, Origin, Tally};
use serde_json::{Value, json};

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
    let wanted = if arguments.all {
        let sessions = agent.foreign_sessions(origin)?;
        sessions.into_iter().map(|session| session.path.display().to_string()).collect()
    } else {
        arguments.sessions.clone()
    };
    if wanted.is_empty() && !arguments.all {
        let program = origin.as_str();
        eprintln!(
            "Error: name a session, or `--all`; `longhand import {program} --list` shows them"
        );
        return Ok(Exit::Usage);
    }
    let mut report = Report::new(arguments);
    for wanted in wanted {
        report.import(agent, origin, wanted)?;
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
    output::write(&lines(sessions).iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn list_row(session: &ForeignSession) -> Value {
    json!({
        "source": session.origin, "id": session.id, "path": session.path, "cwd": session.cwd, "title": session.title,
        "firstPrompt": session.first_prompt, "prompts": session.prompts, "bytes": session.bytes,
        "modified": modified(session).map(|time| time.to_string()),
    })
}

fn modified(session: &ForeignSession) -> Option<jiff::Timestamp> {
    jiff::Timestamp::try_from(session.modified).ok()
}

/// The sessions as a table for people, newest first.
pub(crate) fn lines(sessions: &[ForeignSession]) -> Vec<String> {
    let mut table =
        Table::new(&[("id", Align::Left), ("last used", Align::Left), ("title", Align::Left)]);
    for session in sessions {
        let time =
            modified(session).map(|time| time.to_zoned_datetime(jiff::tz::TimeZone::system()));
        let time = time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string());
        let title = session.title.clone().or_else(|| session.first_prompt.clone());
        table.row([
            session.id.clone(),
            time.unwrap_or_default(),
            title.unwrap_or_else(|| "(no title)".to_owned()),
        ]);
    }
    table.lines()
}

/// What is told of several imports. Each line is told when it is known; JSON comes in one piece at the end.
struct Report<'a> {
    arguments: &'a Import,
    done: Vec<Value>,
    failed: Vec<Value>,
    /// Sessions in which nobody said anything.
    empty: u64,
}

impl<'a> Report<'a> {
    fn new(arguments: &'a Import) -> Self {
        Self { arguments, done: Vec::new(), failed: Vec::new(), empty: 0 }
    }

    fn import(&mut self, agent: &CodingAgent, origin: Origin, wanted: String) -> Result<()> {
        let repeat = if self.arguments.again { Repeat::Again } else { Repeat::Offer };
        let out = self.arguments.out.clone();
        let request = ImportRequest { origin, wanted, repeat, out };
        let told = if self.arguments.dry_run {
            agent.plan_import(&request).map(|plan| (of_plan(&plan), plan_line(&plan)))
        } else {
            agent.import(&request).map(|imported| (of_import(&imported), import_line(&imported)))
        };
        match told {
            Ok((value, line)) => {
                self.done.push(value);
                if !self.arguments.json {
                    output::write(&line)?;
                }
            }
            Err(ForeignError::Import(ImportError::NoMessages { .. })) if self.arguments.all => {
                self.empty += 1;
            }
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                eprintln!("Error: {error}");
                self.failed.push(json!({"session": request.wanted, "error": error}));
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

fn of_import(imported: &ImportedSession) -> Value {
    let new = imported.new.as_ref();
    json!({
        "source": imported.from.source, "sourceId": imported.from.source_id, "sourcePath": imported.source,
        "place": imported.place.to_string(), "importedBefore": new.is_none(),
        "id": new.map(|new| &new.id), "title": new.and_then(|new| new.title.as_ref()),
        "counts": new.map(|new| counts(&new.tally)),
    })
}

fn of_plan(plan: &PlannedImport) -> Value {
    json!({
        "source": plan.from.source, "sourceId": plan.from.source_id, "sourcePath": plan.source,
        "importedBefore": plan.existing.is_some(), "title": plan.title,
        "place": plan.existing.as_ref().map(ToString::to_string), "counts": counts(&plan.tally),
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
        return format!("{}\n", imported.place);
    };
    new.notices.iter().for_each(|notice| eprintln!("{notice}"));
    let messages = grouped(new.tally.messages());
    let title = new.title.as_deref().map(|title| format!(", {title}")).unwrap_or_default();
    format!("{}  {messages} messages of {}{title}\n", new.id, imported.from.source_id)
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
    if let Some(place) = &plan.existing {
        text.push_str(&format!("  imported before: {place}\n"));
    }
    text
}
