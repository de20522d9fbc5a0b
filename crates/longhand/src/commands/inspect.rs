//! `longhand inspect`: what a session holds, as tables or as one JSON document.

use std::cmp::Reverse;
use std::sync::Arc;

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::inspect::{self, EntryRow, Inspection, Window};
use longhand_session::digits::grouped;
use longhand_session::{ByteEstimate, TokenCounter};

use super::named_session;
use crate::arguments::Inspect;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, Table};

pub(crate) async fn run(agent: &CodingAgent, arguments: &Inspect) -> Result<Exit> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let client =
        named_session::model(agent, &session.file, arguments.common.model.as_deref()).await?;
    let counter: Arc<dyn TokenCounter> = match &client {
        Some(client) => client.counter(),
        None => Arc::new(ByteEstimate),
    };
    let window = match &client {
        Some(client) => Window::of(client.model(), &agent.compaction().borrow()),
        None => Window::default(),
    };
    let mut inspection = inspect::inspect(&session.file, None, window, &*counter)?;
    inspection.methods = agent.plan_methods(&session.file, None, client).await?;
    if arguments.json {
        return output::write(&(serde_json::to_string_pretty(&inspection)? + "\n"));
    }
    let listed = if arguments.all { Listed::All } else { Listed::Largest(arguments.top) };
    output::write(&report(&inspection, listed))
}

/// How many of the largest entries are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    All,
    Largest(usize),
}

/// The report for people.
fn report(inspection: &Inspection, listed: Listed) -> String {
    let mut lines = heading(inspection);
    section(&mut lines, "By role", &roles(inspection));
    section(&mut lines, "By tool", &tools(inspection));
    section(&mut lines, "By file", &files(inspection, listed));
    section(&mut lines, "Largest entries", &entries(inspection, listed));
    section(&mut lines, "Compactions", &compactions(inspection));
    section(&mut lines, "What each method would free", &methods(inspection));
    lines.push(String::new());
    lines.join("\n")
}

fn heading(inspection: &Inspection) -> Vec<String> {
    let session = &inspection.session;
    let types: Vec<String> = session
        .types
        .iter()
        .map(|(name, count)| format!("{name} {}", grouped(*count as u64)))
        .collect();
    let usage = &inspection.usage;
    let mut lines = vec![
        format!("session   {}", session.id),
        format!(
            "file      {} ({} bytes, version {})",
            session.file,
            grouped(session.bytes),
            session.version
        ),
        format!("directory {}", session.cwd),
        format!("title     {}", session.title),
        format!("created   {}   changed {}", session.created, session.modified),
        format!("entries   {} ({})", grouped(session.entries as u64), types.join(", ")),
        format!("branches  {}   leaf {}", session.branches, session.leaf),
    ];
    if session.damaged_lines > 0 {
        lines.push(format!(
            "damaged   {} lines were skipped or only partly read",
            session.damaged_lines
        ));
    }
    let window = inspection.window.context_window.map_or_else(|| "?".to_owned(), grouped);
    let model = inspection.window.model.as_deref().unwrap_or("no model");
    lines.push(format!(
        "context   {} of {window} tokens ({}; {model})",
        grouped(usage.tokens),
        usage.source
    ));
    if let Some(threshold) = inspection.window.threshold {
        lines.push(format!("threshold {} tokens", grouped(threshold)));
    }
    if let Some(measured) = usage.measured {
        lines.push(format!(
            "measured  {} tokens with system prompt and tools; the messages alone are about {}",
            grouped(measured),
            grouped(usage.estimated)
        ));
    }
    lines
}

fn section(lines: &mut Vec<String>, title: &str, table: &Table) {
    let rows = table.lines();
    if rows.len() > 1 {
        lines.push(String::new());
        lines.push(title.to_owned());
        lines.extend(rows.into_iter().map(|row| format!("  {row}")));
    }
}

fn roles(inspection: &Inspection) -> Table {
    let mut table =
        Table::new(&[("role", Align::Left), ("entries", Align::Right), ("tokens", Align::Right)]);
    for row in &inspection.by_role {
        table.row([row.role.clone(), grouped(row.entries as u64), grouped(row.tokens)]);
    }
    table
}

fn tools(inspection: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("tool", Align::Left),
        ("calls", Align::Right),
        ("in calls", Align::Right),
        ("in results", Align::Right),
        ("largest", Align::Right),
        ("useless", Align::Right),
        ("errors", Align::Right),
    ]);
    for row in &inspection.by_tool {
        table.row([
            row.tool.clone(),
            grouped(row.calls as u64),
            grouped(row.call_tokens),
            grouped(row.result_tokens),
            grouped(row.largest),
            grouped(row.useless as u64),
            grouped(row.errors as u64),
        ]);
    }
    table
}

fn files(inspection: &Inspection, listed: Listed) -> Table {
    let mut table = Table::new(&[
        ("reads", Align::Right),
        ("writes", Align::Right),
        ("tokens", Align::Right),
        ("path", Align::Left),
    ]);
    let count = listed.of(inspection.by_file.len());
    for row in &inspection.by_file[..count] {
        table.row([
            grouped(row.reads as u64),
            grouped(row.writes as u64),
            grouped(row.tokens),
            row.path.clone(),
        ]);
    }
    table
}

fn entries(inspection: &Inspection, listed: Listed) -> Table {
    let mut table = Table::new(&[
        ("entry", Align::Left),
        ("what", Align::Left),
        ("tokens", Align::Right),
        ("in context", Align::Left),
    ]);
    let mut rows: Vec<&EntryRow> = inspection.entries.iter().filter(|row| row.tokens > 0).collect();
    rows.sort_by_key(|row| Reverse(row.tokens));
    let count = listed.of(rows.len());
    for row in &rows[..count] {
        let what = [row.role.as_str(), row.tool.as_str()].join(" ");
        let what =
            if what.trim().is_empty() { row.type_name.clone() } else { what.trim().to_owned() };
        let place = match (row.in_context, row.kept) {
            (true, true) => "kept",
            (true, false) => "yes",
            (false, _) => "no",
        };
        table.row([row.id.clone(), what, grouped(row.tokens), place.to_owned()]);
    }
    table
}

fn compactions(inspection: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("entry", Align::Left),
        ("method", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("summary", Align::Right),
        ("kept from", Align::Left),
        ("at", Align::Left),
    ]);
    for row in &inspection.compactions {
        table.row([
            row.id.clone(),
            row.method.clone().unwrap_or_default(),
            grouped(row.tokens_before),
            row.tokens_after.map_or_else(|| "?".to_owned(), grouped),
            grouped(row.summary_tokens),
            row.first_kept.clone(),
            row.at.clone(),
        ]);
    }
    table
}

fn methods(inspection: &Inspection) -> Table {
    let mut table = Table::new(&[
        ("method", Align::Left),
        ("needs", Align::Left),
        ("after", Align::Right),
        ("freed", Align::Right),
        ("", Align::Left),
    ]);
    for row in &inspection.methods {
        let bound = if row.exact { "" } else { "≤ " };
        let note = row.reason.clone().unwrap_or_default();
        table.row([
            row.method.clone(),
            row.needs.to_owned(),
            row.tokens_after
                .map_or_else(|| "?".to_owned(), |tokens| format!("{bound}{}", grouped(tokens))),
            row.freed.map_or_else(|| "?".to_owned(), grouped),
            note,
        ]);
    }
    table
}

impl Listed {
    fn of(self, count: usize) -> usize {
        match self {
            Self::All => count,
            Self::Largest(most) => most.min(count),
        }
    }
}
