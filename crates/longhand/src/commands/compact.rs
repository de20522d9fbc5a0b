//! `longhand compact`: one compaction of a session file, by the same code as in the agent.

use anyhow::{Result, bail};
use longhand_agent::maintenance::ManualRequest;
use longhand_coding_agent::agent::{CodingAgent, CompactFileError, FileCompaction};
use longhand_coding_agent::inspect::MethodRow;
use longhand_session::digits::grouped;
use serde_json::json;

use super::named_session;
use crate::arguments::Compact;
use crate::exit::Exit;
use crate::output;

pub(crate) async fn run(agent: &CodingAgent, arguments: &Compact) -> Result<Exit> {
    if arguments.session.as_deref() == Some("-") {
        bail!("standard input cannot be compacted; name a file, and `--out` for the result");
    }
    agent.notices().iter().for_each(|notice| eprintln!("{notice}"));
    let exit = if arguments.dry_run {
        dry_run(agent, arguments).await?
    } else {
        compact(agent, arguments).await?
    };
    Ok(if arguments.allow_noop && exit == Exit::NothingToDo { Exit::Success } else { exit })
}

fn model(arguments: &Compact) -> Option<String> {
    if arguments.demo { Some("demo/offline".into()) } else { arguments.common.model.clone() }
}

async fn compact(agent: &CodingAgent, arguments: &Compact) -> Result<Exit> {
    let session = named_session::place(agent, arguments.session.as_deref())?;
    let request = ManualRequest {
        method: arguments.method.as_deref().map(Into::into),
        focus: arguments.focus.clone(),
    };
    let compaction =
        FileCompaction { session, out: arguments.out.clone(), request, model: model(arguments) };
    let compacted = match agent.compact_file(compaction).await {
        Ok(compacted) => compacted,
        Err(CompactFileError::Maintenance(error)) if error.is_noop() => {
            eprintln!("{error}");
            return Ok(Exit::NothingToDo);
        }
        Err(error) => return Err(error.into()),
    };
    compacted.notices.iter().for_each(|notice| eprintln!("{notice}"));
    let Some(entry) = compacted.entry.compaction() else {
        bail!("the pass made no compaction entry")
    };
    let after = entry.tokens_after;
    if arguments.json {
        let document = json!({
            "file": compacted.session.to_string(), "entry": compacted.entry.id, "method": entry.method,
            "tokensBefore": entry.tokens_before, "tokensAfter": after, "firstKeptEntryId": entry.first_kept_entry_id,
            "summary": entry.summary, "shortSummary": entry.short_summary,
            "spent": compacted.result.spent.iter()
                .map(|spent| json!({"model": spent.model, "usage": spent.usage})).collect::<Vec<_>>(),
        });
        return output::write(&(serde_json::to_string_pretty(&document)? + "\n"));
    }
    let mut text = format!(
        "{} -> {} tokens, kept from entry {}\n",
        grouped(entry.tokens_before),
        after.map_or_else(|| "?".to_owned(), grouped),
        entry.first_kept_entry_id,
    );
    for spent in &compacted.result.spent {
        let (sent, received) = (spent.usage.prompt(), spent.usage.output);
        text.push_str(&format!(
            "asked {}: {} tokens sent, {} received\n",
            spent.model,
            grouped(sent),
            grouped(received)
        ));
    }
    text.push_str(&format!("written to {}\n", compacted.session));
    output::write(&text)
}

async fn dry_run(agent: &CodingAgent, arguments: &Compact) -> Result<Exit> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let client = named_session::model(agent, &session.file, model(arguments).as_deref()).await?;
    let mut rows = agent.plan_methods(&session.file, None, client).await?;
    if let Some(method) = &arguments.method {
        rows.retain(|row| row.method == *method);
        if rows.is_empty() {
            bail!("there is no compaction method `{method}`");
        }
    }
    if arguments.json {
        output::write(&(serde_json::to_string_pretty(&json!({"methods": rows}))? + "\n"))?;
    } else {
        output::write(&rows.iter().map(line).collect::<String>())?;
    }
    Ok(if rows.iter().any(|row| row.freed.is_some_and(|tokens| tokens > 0)) {
        Exit::Success
    } else {
        Exit::NothingToDo
    })
}

fn line(row: &MethodRow) -> String {
    let bound = if row.exact { "" } else { "at most " };
    let frames = match row.frames {
        0 => String::new(),
        1 => ", 1 frame".to_owned(),
        frames => format!(", {frames} frames"),
    };
    match (&row.reason, row.tokens_after) {
        (None, Some(tokens)) => {
            format!("{}: {bound}{} tokens after{frames}\n", row.method, grouped(tokens))
        }
        (Some(reason), Some(tokens)) => {
            format!("{}: {bound}{} tokens after; now: {reason}\n", row.method, grouped(tokens))
        }
        (Some(reason), None) => format!("{}: {reason}\n", row.method),
        (None, None) => format!("{}: only running it would tell\n", row.method),
    }
}
